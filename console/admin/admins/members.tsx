import { Badge, Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { roleNames, useMe } from '../access.tsx';
import { useMutation } from '../api.ts';
import {
  GrantRole,
  type MembershipRowFragment,
  Memberships,
  RevokeRole,
  type Role,
  Session,
} from '../generated/operations.ts';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';
import styles from './members.module.css';

type Member = MembershipRowFragment;

interface MembersProps {
  /** Absent: the owners of the instance. */
  projectId?: string;
  members: readonly Member[] | undefined;
  mayChange: boolean;
}

export const roleHints: Record<Role, string> = {
  OWNER: 'Full access to every project.',
  PROJECT_ADMIN: 'Full access to this project, including roles.',
  PROJECT_VIEWER: 'Read-only access to this project.',
};

/** Memberships of a project or of the instance. */
export function Members({ projectId, members, mayChange }: MembersProps) {
  const me = useMe();
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const [revoke, busy, failure, reset] = useMutation(RevokeRole, [Memberships, Session]);
  const nameOf = ({ admin }: Member) => admin.email;
  // The API shows `active` to owners only.
  const hasStates = members?.some(({ admin }) => admin.active !== null) ?? false;
  const columns: Column<Member>[] = [
    {
      header: 'Person',
      isName: true,
      width: '36%',
      cell: (member) => (
        <>
          {nameOf(member)} {member.admin.id === me.id && <span className={styles.you}>(you)</span>}
        </>
      ),
    },
    { header: 'Role', cell: ({ role }) => roleNames[role] },
  ];
  const states: Column<Member>[] = [
    {
      header: 'Status',
      cell: ({ admin }) =>
        admin.active === false ? (
          <Badge color="bad">Switched off</Badge>
        ) : admin.lastSignInAt ? (
          <Badge color="good">Active</Badge>
        ) : (
          <Badge color="note">Not signed in yet</Badge>
        ),
    },
    { header: 'Last sign-in', cell: ({ admin }) => <Time at={admin.lastSignInAt} /> },
  ];
  if (hasStates) columns.push(...states);
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      cell: (member) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => setLeaving(member)}
          aria-label={`Remove ${nameOf(member)}`}
        >
          Remove
        </Button>
      ),
    });
  }
  const close = () => {
    setLeaving(undefined);
    reset();
  };
  return (
    <Section
      flush
      title={projectId ? 'People' : 'Owners'}
      lead={projectId ? 'Owners of the instance have access too and are not listed.' : roleHints.OWNER}
      actions={
        mayChange && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            {projectId ? 'Assign a role' : 'Add an owner'}
          </Button>
        )
      }
    >
      <DataTable
        label={projectId ? 'People with a role' : 'Owners'}
        columns={columns}
        rows={members}
        keyOf={({ id }) => id}
        skeletonRows={2}
        empty={
          <Empty icon="team" title="No project roles yet">
            Assign colleagues a role in this project: admin or viewer.
          </Empty>
        }
      />
      <Modal
        opened={isNew}
        onClose={() => setNew(false)}
        title={projectId ? 'Assign a role' : 'Add an owner'}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {isNew && <GrantForm projectId={projectId} onClose={() => setNew(false)} />}
      </Modal>
      <Confirm
        opened={leaving !== undefined}
        title={`Remove ${leaving ? nameOf(leaving) : ''}?`}
        verb="Remove"
        busy={busy}
        failure={failure}
        onClose={close}
        onConfirm={async () => {
          if (!leaving) return;
          const outcome = await revoke({ id: leaving.id });
          if (!outcome.data) return;
          toast(`${nameOf(leaving)} lost the role`);
          close();
        }}
      >
        <p>
          They lose the role {leaving && roleNames[leaving.role].toLowerCase()}{' '}
          {projectId ? 'in this project' : 'of this instance'} at once. API tokens that they made can do no more than
          they can.
        </p>
        {leaving?.admin.id === me.id && <p>This is you: you will lose access to this page.</p>}
      </Confirm>
    </Section>
  );
}

function GrantForm({ projectId, onClose }: { projectId: string | undefined; onClose(): void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>(projectId ? 'PROJECT_ADMIN' : 'OWNER');
  const [grant, busy, failure] = useMutation(GrantRole, [Memberships, Session]);
  const field = useFirstFocus<HTMLInputElement>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await grant({ input: { email: email.trim(), role, projectId: projectId ?? null } });
    if (!outcome.data) return;
    toast(`${email.trim()} is ${roleNames[role].toLowerCase()} now`);
    onClose();
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <TextInput
        label="E-mail address"
        description="Used to sign in to the console. No invitation is sent."
        type="email"
        autoComplete="off"
        value={email}
        error={failure?.field === 'email' && failure.message}
        onChange={(event) => setEmail(event.currentTarget.value)}
        ref={field}
        data-autofocus
      />
      {projectId && (
        <NativeSelect
          label="Role"
          description={roleHints[role]}
          value={role}
          data={(['PROJECT_ADMIN', 'PROJECT_VIEWER'] as const).map((value) => ({ value, label: roleNames[value] }))}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        />
      )}
      {failure?.field !== 'email' && <FormError failure={failure} />}
      <div className={styles.actions}>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} disabled={email.trim() === ''}>
          {projectId ? 'Assign role' : 'Add owner'}
        </Button>
      </div>
    </form>
  );
}
