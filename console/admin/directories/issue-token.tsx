import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import { IssueScimToken, ScimTokens } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { lifetimes, moment } from '../ui/secrets/expiry.ts';
import type { DirectoryOwner } from './owner.ts';

interface IssueTokenProps {
  owner: DirectoryOwner;
  suggestedName?: string;
  onIssued(token: string): void;
}

/** Issues a SCIM token, shown once. */
export function IssueToken({ owner, suggestedName = '', onIssued }: IssueTokenProps) {
  const [name, setName] = useState<string>();
  const [days, setDays] = useState('365');
  const [networks, setNetworks] = useState('');
  const [issue, busy, failure] = useMutation(IssueScimToken, [ScimTokens]);
  const wanted = name ?? suggestedName;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await issue({
      input: { ...owner, name: wanted, expiresAt: moment(days), networks: listOf(networks) },
    });
    if (!outcome.data) return;
    toast(t('Token issued'));
    onIssued(outcome.data.issueScimToken.token);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          flex="1 1 14rem"
          label={t('Token name')}
          value={wanted}
          maxLength={200}
          error={faultAt(failure, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('Expires in')}
          value={days}
          data={[...lifetimes]}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        <TextInput
          flex="1 1 100%"
          label={t('Networks')}
          description={t('Addresses or ranges that may use the token, such as 192.0.2.0/24. Empty: all.')}
          value={networks}
          error={faultAt(failure, 'networks')}
          onChange={(event) => setNetworks(event.currentTarget.value)}
        />
        <Button type="submit" loading={busy} disabled={wanted.trim() === ''}>
          {t('Issue token')}
        </Button>
      </Group>
      <FormError failure={failure} except={['name', 'networks']} />
    </form>
  );
}

function listOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((part) => part !== '');
}
