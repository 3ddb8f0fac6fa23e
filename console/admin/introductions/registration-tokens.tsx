import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import {
  Introductions,
  IssueRegistrationToken,
  type RegistrationTokenRowFragment,
  RevokeRegistrationToken,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { TokenList } from '../ui/secrets/token-list.tsx';

interface Props {
  tokens: readonly RegistrationTokenRowFragment[] | undefined;
  mayChange: boolean;
}

/** Initial access tokens, with which applications register themselves. */
export function RegistrationTokens({ tokens, mayChange }: Props) {
  return (
    <TokenList
      title={t('Initial access tokens')}
      lead={t('Each lets applications register themselves until it expires.')}
      label={t('Initial access tokens')}
      tokens={tokens}
      prefix="lk_ia_"
      empty={t('Give one to those who may register applications.')}
      mayChange={mayChange}
      form={(issued) => <IssueToken onIssued={issued} />}
      secret={{ label: t('Initial access token'), fileName: 'registration-token.txt' }}
      revocation={{ operation: RevokeRegistrationToken, invalidates: [Introductions] }}
      consequence={() => ({ before: t('It registers no more applications. Those that it registered stay.') })}
    />
  );
}

function IssueToken({ onIssued }: { onIssued(token: string): void }) {
  const { id: projectId } = useProject();
  const [name, setName] = useState('');
  const [issue, busy, failure] = useMutation(IssueRegistrationToken, [Introductions]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { data } = await issue({ input: { projectId, name } });
    if (!data) return;
    toast(t('Token issued'));
    onIssued(data.issueRegistrationToken.token);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          flex="1 1 14rem"
          label={t('Token name')}
          description={t('Valid for 30 days.')}
          value={name}
          maxLength={200}
          error={faultAt(failure, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" loading={busy} disabled={name.trim() === ''}>
          {t('Issue token')}
        </Button>
      </Group>
      <FormError failure={failure} except={['name']} />
    </form>
  );
}
