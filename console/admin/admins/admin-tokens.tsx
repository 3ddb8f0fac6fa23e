import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { roleNames } from '../access.tsx';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import {
  type AdminTokenRowFragment,
  AdminTokens as AdminTokensQuery,
  IssueAdminToken,
  RevokeAdminToken,
  type Role,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { lifetimes, moment } from '../ui/secrets/expiry.ts';
import { TokenList } from '../ui/secrets/token-list.tsx';
import { RoleSelect } from './members.tsx';

type Token = AdminTokenRowFragment;

/** Admin API tokens. A token's role never exceeds its creator's. */
export function AdminTokens({ projectId, tokens }: { projectId?: string; tokens: readonly Token[] | undefined }) {
  return (
    <TokenList
      title={t('API tokens')}
      lead={t("Bearer tokens for the admin API. Limited to their creator's current role.")}
      label={t('API tokens')}
      tokens={tokens}
      prefix="lk_admin_"
      columns={[{ header: t('Role'), cell: ({ role }) => roleNames[role] }]}
      empty={t('Scripts can do everything the console does.')}
      mayChange
      issueTitle={t('Issue an API token')}
      form={(issued, close) => <IssueForm projectId={projectId} onIssued={issued} onClose={close} />}
      secret={{ label: t('Admin API token'), fileName: 'admin-token.txt' }}
      revocation={{ operation: RevokeAdminToken, invalidates: [AdminTokensQuery] }}
      consequence={() => ({ before: t('Requests with this token fail at once. This cannot be undone.') })}
    />
  );
}

interface IssueFormProps {
  projectId: string | undefined;
  onIssued(token: string): void;
  onClose(): void;
}

function IssueForm({ projectId, onIssued, onClose }: IssueFormProps) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [role, setRole] = useState<Role>(projectId ? 'PROJECT_VIEWER' : 'OWNER');
  const [issue, busy, failure] = useMutation(IssueAdminToken, [AdminTokensQuery]);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const submit = async () => {
    const outcome = await issue({ input: { name, role, projectId: projectId ?? null, expiresAt: moment(days) } });
    if (outcome.data) onIssued(outcome.data.issueAdminToken.token);
  };
  return (
    <DialogForm
      verb={t('Issue token')}
      {...{ busy, failure, onClose }}
      fields={['name']}
      disabled={name.trim() === ''}
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('Name')}
        description={t('Describe its purpose.')}
        value={name}
        maxLength={200}
        error={faultAt(failure, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
        {...firstFocus}
      />
      {projectId ? (
        <RoleSelect role={role} onChange={setRole} />
      ) : (
        <p>{t("Instance tokens have the owner role. Issue project tokens on the project's page.")}</p>
      )}
      <NativeSelect
        label={t('Expires in')}
        value={days}
        data={[...lifetimes]}
        onChange={(event) => setDays(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
