import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { roleNames } from '../access.tsx';
import { useWrite } from '../api.ts';
import type { Failure } from '../failure.ts';
import { type AdminTokenRowFragment, IssueAdminToken, RevokeAdminToken, type Role } from '../generated/operations.ts';
import { Confirm } from '../ui/confirm.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Empty } from '../ui/empty.tsx';
import { lives, moment, stateOf } from '../ui/expiry.ts';
import { Refused } from '../ui/failed.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/page.tsx';
import { Secrets } from '../ui/secret.tsx';
import { Time } from '../ui/time.tsx';
import { toast } from '../ui/toast.tsx';
import { TokenMark } from '../ui/token-mark.tsx';
import styles from './members.module.css';
import { roleHints } from './members.tsx';

type Token = AdminTokenRowFragment;

/** Tokens for scripts: each has a role of its own, and never more than whoever made it. */
export function AdminTokens({ projectId, tokens }: { projectId?: string; tokens: readonly Token[] | undefined }) {
  const [isNew, setNew] = useState(false);
  const [issued, setIssued] = useState<string>();
  const [revoking, setRevoking] = useState<Token>();
  const [failure, setFailure] = useState<Failure>();
  const [revoke, busy] = useWrite(RevokeAdminToken);
  const close = () => {
    setNew(false);
    setIssued(undefined);
  };
  const columns: Column<Token>[] = [
    { header: 'Name', isName: true, width: '28%', cell: ({ name }) => name },
    { header: 'Token', cell: ({ hint }) => <code>lk_admin_…{hint}</code> },
    { header: 'Role', cell: ({ role }) => roleNames[role] },
    { header: 'State', cell: (token) => <TokenMark token={token} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} fallback="No end" /> },
    {
      header: '',
      align: 'end',
      cell: (token) =>
        ['live', 'ending'].includes(stateOf(token)) && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setRevoking(token)}
            aria-label={`Revoke ${token.name}`}
          >
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Section
      flush
      title="API tokens"
      lead="For scripts and Terraform: the admin API by a bearer token. It can never do more than the person who made it can today."
      actions={
        <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
          Issue token
        </Button>
      }
    >
      <DataTable
        label="API tokens"
        columns={columns}
        rows={tokens}
        keyOf={({ id }) => id}
        sketch={2}
        empty={
          <Empty icon="key" title="No API token">
            Whatever this console does, a script can do with a token.
          </Empty>
        }
      />
      <Modal
        opened={isNew}
        onClose={close}
        title={issued ? 'The new token' : 'Issue an API token'}
        size="lg"
        withCloseButton={!issued}
        closeOnClickOutside={!issued}
        closeOnEscape={!issued}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {issued ? (
          <Secrets fileName="admin-token.txt" secrets={[{ label: 'Admin API token', value: issued }]} onDone={close} />
        ) : (
          isNew && <IssueForm projectId={projectId} onIssued={setIssued} onClose={close} />
        )}
      </Modal>
      <Confirm
        opened={revoking !== undefined}
        title={`Revoke ${revoking?.name ?? ''}?`}
        verb="Revoke token"
        busy={busy}
        failure={failure}
        onClose={() => {
          setRevoking(undefined);
          setFailure(undefined);
        }}
        onConfirm={async () => {
          if (!revoking) return;
          const outcome = await revoke({ id: revoking.id });
          setFailure(outcome.failure);
          if (!outcome.data) return;
          toast(`${revoking.name} is revoked`);
          setRevoking(undefined);
        }}
      >
        <p>Whatever uses it is refused from this moment. This cannot be undone.</p>
        <p>
          {revoking?.lastUsedAt ? (
            <>
              It was last used <Time at={revoking.lastUsedAt} />.
            </>
          ) : (
            'It has never been used.'
          )}
        </p>
      </Confirm>
    </Section>
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
  const [failure, setFailure] = useState<Failure>();
  const [issue, busy] = useWrite(IssueAdminToken);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await issue({ input: { name, role, projectId: projectId ?? null, expiresAt: moment(days) } });
    setFailure(outcome.failure);
    if (outcome.data) onIssued(outcome.data.issueAdminToken.token);
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <TextInput
        label="Name"
        description="What it is for, so that somebody dares to revoke it later."
        value={name}
        maxLength={200}
        error={failure?.field === 'name' && failure.message}
        onChange={(event) => setName(event.currentTarget.value)}
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
        <p>Tokens of the instance have the role of an owner. For one project alone, issue it on that project's page.</p>
      )}
      <NativeSelect
        label="Good for"
        value={days}
        data={[...lives]}
        onChange={(event) => setDays(event.currentTarget.value)}
      />
      {failure?.field !== 'name' && <Refused failure={failure} />}
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
