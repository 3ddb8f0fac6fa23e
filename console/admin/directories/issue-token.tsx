import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import { IssueScimToken, ScimTokens } from '../generated/operations.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { lifetimes, moment } from '../ui/secrets/expiry.ts';

interface IssueTokenProps {
  projectId: string;
  suggestedName?: string;
  onIssued(token: string): void;
}

/** Issues a SCIM token, shown once. */
export function IssueToken({ projectId, suggestedName = '', onIssued }: IssueTokenProps) {
  const [name, setName] = useState<string>();
  const [days, setDays] = useState('365');
  const [networks, setNetworks] = useState('');
  const [issue, busy, failure] = useMutation(IssueScimToken, [ScimTokens]);
  const wanted = name ?? suggestedName;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await issue({
      input: { projectId, name: wanted, expiresAt: moment(days), networks: listOf(networks) },
    });
    if (!outcome.data) return;
    toast('Token issued');
    onIssued(outcome.data.issueScimToken.token);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          flex="1 1 14rem"
          label="Token name"
          value={wanted}
          maxLength={200}
          error={faultAt(failure, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Expires in"
          value={days}
          data={[...lifetimes]}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        <TextInput
          flex="1 1 100%"
          label="Networks"
          description="Addresses or ranges that may use the token, such as 192.0.2.0/24. Empty: all."
          value={networks}
          error={faultAt(failure, 'networks')}
          onChange={(event) => setNetworks(event.currentTarget.value)}
        />
        <Button type="submit" loading={busy} disabled={wanted.trim() === ''}>
          Issue token
        </Button>
      </Group>
      <FormError failure={failure} except={['name', 'networks']} />
    </form>
  );
}

function listOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((part) => part !== '');
}
