import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { roleNames } from '../access.tsx';
import { useMutation } from '../api.ts';
import {
  type AdminTokenRowFragment,
  AdminTokens as AdminTokensQuery,
  IssueAdminToken,
  RevokeAdminToken,
  type Role,
} from '../generated/operations.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { lifetimes, moment } from '../ui/secrets/expiry.ts';
import { TokenList } from '../ui/secrets/token-list.tsx';
import styles from './members.module.css';
import { roleHints } from './members.tsx';

type Token = AdminTokenRowFragment;

/** Admin API tokens. A token's role never exceeds its creator's. */
export function AdminTokens({ projectId, tokens }: { projectId?: string; tokens: readonly Token[] | undefined }) {
  const [revoke, busy] = useMutation(RevokeAdminToken, [AdminTokensQuery]);
  return (
    <TokenList
      title="API tokens"
      lead="Bearer tokens for the admin API. Limited to their creator's current role."
      label="API tokens"
      tokens={tokens}
      prefix="lk_admin_"
      columns={[{ header: 'Role', cell: ({ role }) => roleNames[role] }]}
      empty="Scripts can do everything the console does."
      mayChange
      issueTitle="Issue an API token"
      form={(issued, close) => <IssueForm projectId={projectId} onIssued={issued} onClose={close} />}
      secret={{ label: 'Admin API token', fileName: 'admin-token.txt' }}
      revoking={busy}
      revoke={async (id) => {
        const { data, failure } = await revoke({ id });
        return { done: data !== undefined, failure };
      }}
      consequence={() => ({ before: 'Requests with this token fail at once. This cannot be undone.' })}
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
  const field = useFirstFocus<HTMLInputElement>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await issue({ input: { name, role, projectId: projectId ?? null, expiresAt: moment(days) } });
    if (outcome.data) onIssued(outcome.data.issueAdminToken.token);
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <TextInput
        label="Name"
        description="Describe its purpose."
        value={name}
        maxLength={200}
        error={failure?.field === 'name' && failure.message}
        onChange={(event) => setName(event.currentTarget.value)}
        ref={field}
        data-autofocus
      />
      {projectId ? (
        <NativeSelect
          label="Role"
          description={roleHints[role]}
          value={role}
          data={(['PROJECT_VIEWER', 'PROJECT_ADMIN'] as const).map((value) => ({ value, label: roleNames[value] }))}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        />
      ) : (
        <p>Instance tokens have the owner role. Issue project tokens on the project's page.</p>
      )}
      <NativeSelect
        label="Expires in"
        value={days}
        data={[...lifetimes]}
        onChange={(event) => setDays(event.currentTarget.value)}
      />
      {failure?.field !== 'name' && <FormError failure={failure} />}
      <div className={styles.actions}>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} disabled={name.trim() === ''}>
          Issue token
        </Button>
      </div>
    </form>
  );
}
