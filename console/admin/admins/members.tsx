import { Badge, Button, Checkbox, Modal, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { roleNames, useMe } from '../access.tsx';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import {
  GrantRole,
  type MembershipRowFragment,
  Memberships,
  RevokeRole,
  type Role,
  Session,
} from '../generated/operations.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Member = MembershipRowFragment;

interface MembersProps {
  /** Absent: the owners of the instance. */
  projectId?: string;
  members: readonly Member[] | undefined;
  mayChange: boolean;
}

const roleHints: Record<Role, string> = {
  OWNER: 'Full access to every project.',
  PROJECT_ADMIN: 'Full access to this project, including roles.',
  PROJECT_VIEWER: 'Read-only access to this project.',
};

/** The API shows `active` to owners only. */
const stateColumns: Column<Member>[] = [
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

/** Memberships of a project or of the instance. */
export function Members({ projectId, members, mayChange }: MembersProps) {
  const me = useMe();
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const columns: Column<Member>[] = [
    {
      header: 'Person',
      isName: true,
      width: '36%',
      cell: ({ admin }) => (
        <>
          {admin.email}{' '}
          {admin.id === me.id && (
            <Text span c="dimmed" fw={400}>
              (you)
            </Text>
          )}
        </>
      ),
    },
    { header: 'Role', cell: ({ role }) => roleNames[role] },
    ...(members?.some(({ admin }) => admin.active !== null) ? stateColumns : []),
    ...(mayChange ? [actionColumn<Member>('Remove', ({ admin }) => `Remove ${admin.email}`, setLeaving)] : []),
  ];
  const grantTitle = projectId ? 'Assign a role' : 'Add an owner';
  return (
    <Section
      flush
      title={projectId ? 'People' : 'Owners'}
      lead={projectId ? 'Owners of the instance have access too and are not listed.' : roleHints.OWNER}
      actions={
        mayChange && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            {grantTitle}
          </Button>
        )
      }
    >
      <DataTable
        label={projectId ? 'People with a role' : 'Owners'}
        columns={columns}
        rows={members}
        skeletonRows={2}
        empty={
          <Empty icon="team" title="No project roles yet">
            Assign colleagues a role in this project: admin or viewer.
          </Empty>
        }
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title={grantTitle}>
        {isNew && <GrantForm projectId={projectId} onClose={() => setNew(false)} />}
      </Modal>
      <ConfirmMutation
        title={`Remove ${leaving?.admin.email}?`}
        verb="Remove"
        operation={RevokeRole}
        variables={leaving && { id: leaving.id }}
        invalidates={[Memberships, Session]}
        done={`${leaving?.admin.email} lost the role`}
        onClose={() => setLeaving(undefined)}
      >
        <p>
          They lose the role {leaving && roleNames[leaving.role].toLowerCase()}{' '}
          {projectId ? 'in this project' : 'of this instance'} at once. API tokens that they made can do no more than
          they can.
        </p>
        {leaving?.admin.id === me.id && <p>This is you: you will lose access to this page.</p>}
      </ConfirmMutation>
    </Section>
  );
}

/** Selects a project role. */
export function RoleSelect({ role, onChange }: { role: Role; onChange(role: Role): void }) {
  return (
    <NativeSelect
      label="Role"
      description={roleHints[role]}
      value={role}
      data={(['PROJECT_ADMIN', 'PROJECT_VIEWER'] as const).map((value) => ({ value, label: roleNames[value] }))}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
    />
  );
}

function GrantForm({ projectId, onClose }: { projectId: string | undefined; onClose(): void }) {
  const [text, setText] = useState('');
  const email = text.trim();
  const [role, setRole] = useState<Role>(projectId ? 'PROJECT_ADMIN' : 'OWNER');
  const [invite, setInvite] = useState(true);
  const [grant, busy, failure] = useMutation(GrantRole, [Memberships, Session]);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const submit = async () => {
    const outcome = await grant({ input: { email, role, projectId: projectId ?? null, invite } });
    if (!outcome.data) return;
    toast(`${email} is ${roleNames[role].toLowerCase()} now`);
    onClose();
  };
  return (
    <DialogForm
      verb={projectId ? 'Assign role' : 'Add owner'}
      {...{ busy, failure, onClose }}
      fields={['email']}
      disabled={email === ''}
      onSubmit={() => void submit()}
    >
      <TextInput
        label="E-mail address"
        description="Used to sign in to the console."
        type="email"
        autoComplete="off"
        value={text}
        error={faultAt(failure, 'email')}
        onChange={(event) => setText(event.currentTarget.value)}
        {...firstFocus}
      />
      {projectId && <RoleSelect role={role} onChange={setRole} />}
      <Checkbox
        label="Send an invitation"
        description="A mail with the role and a link to the console."
        checked={invite}
        onChange={(event) => setInvite(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
