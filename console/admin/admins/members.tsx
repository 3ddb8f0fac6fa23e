import { Badge, Checkbox, NativeSelect, Text, TextInput } from '@mantine/core';
import { roleNames, useMe } from '../access.tsx';
import {
  GrantRole,
  type MembershipRowFragment,
  Memberships,
  RevokeRole,
  type Role,
  Session,
} from '../generated/operations.ts';
import { lower, t } from '../language/language.ts';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { actionColumn, type Column, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Member = MembershipRowFragment;

interface MembersProps {
  /** Absent: the owners of the instance. */
  projectId?: string;
  members: readonly Member[] | undefined;
  mayChange: boolean;
}

const roleHints: Record<Role, string> = {
  OWNER: t('Full access to every project.'),
  PROJECT_ADMIN: t('Full access to this project, including roles.'),
  PROJECT_VIEWER: t('Read-only access to this project.'),
  ORGANIZATION_ADMIN: t('People, domains, connections and directory of these organizations.'),
};

/** The API shows `active` to owners only. */
const stateColumns: Column<Member>[] = [
  {
    header: t('Status'),
    cell: ({ admin }) =>
      admin.active === false ? (
        <Badge color="bad">{t('Deactivated')}</Badge>
      ) : admin.lastSignInAt ? (
        <Badge color="good">{t('Active')}</Badge>
      ) : (
        <Badge color="note">{t('Not signed in yet')}</Badge>
      ),
  },
  { header: t('Last sign-in'), cell: ({ admin }) => <Time at={admin.lastSignInAt} /> },
];

/** Memberships of a project or of the instance. */
export function Members({ projectId, members, mayChange }: MembersProps) {
  const me = useMe();
  const [dialog, { open, confirm }] = useDialog();
  const labelOf = ({ admin: { email } }: Member) => t('Remove {email}', { email });
  const columns: Columns<Member> = [
    {
      header: t('Person'),
      isName: true,
      width: '36%',
      cell: ({ admin }) => (
        <>
          {admin.email}{' '}
          {admin.id === me.id && (
            <Text span c="dimmed" fw={400}>
              {t('(you)')}
            </Text>
          )}
        </>
      ),
    },
    {
      header: t('Role'),
      cell: ({ role, impersonates }) => (
        <>
          {roleNames[role]} {impersonates && <Badge color="note">{t('Impersonates')}</Badge>}
        </>
      ),
    },
    ...(members?.some(({ admin }) => admin.active !== null) ? stateColumns : []),
    mayChange && actionColumn(t('Remove'), labelOf, (one) => confirm(removal(one, one.admin.id === me.id))),
  ];
  const grantTitle = projectId ? t('Assign role') : t('Add owner');
  const grant = () => open(grantTitle, (close) => <GrantForm projectId={projectId} onClose={close} />);
  return (
    <TableSection
      title={projectId ? t('People') : t('Owners')}
      lead={projectId ? t('Owners of the instance have access too and are not listed.') : roleHints.OWNER}
      actions={mayChange && <AddButton onClick={grant}>{grantTitle}</AddButton>}
      label={projectId ? t('People with a role') : t('Owners')}
      columns={columns}
      rows={members}
      skeletonRows={2}
      empty={
        <Empty icon="team" title={t('No project roles yet')}>
          {t('Assign colleagues a role in this project: admin or viewer.')}
        </Empty>
      }
    >
      {dialog}
    </TableSection>
  );
}

function removal({ id, admin, role: held }: Member, isMe: boolean): Confirmation {
  const { email } = admin;
  const role = lower(roleNames[held]);
  return {
    title: t('Remove {email}?', { email }),
    effect: (
      <>
        <p>
          {held === 'OWNER'
            ? t(
                'They lose the role {role} of this instance immediately. API tokens that they created have no more rights than they have.',
                { role },
              )
            : t(
                'They lose the role {role} in this project immediately. API tokens that they created have no more rights than they have.',
                { role },
              )}
        </p>
        {isMe && <p>{t('This is you: you will lose access to this page.')}</p>}
      </>
    ),
    verb: t('Remove'),
    request: request(RevokeRole, { id }),
    invalidates: [Memberships, Session],
    done: t('{email} lost the role', { email }),
  };
}

/** Selects a project role. */
export function RoleSelect({ role, onChange }: { role: Role; onChange(role: Role): void }) {
  return (
    <NativeSelect
      label={t('Role')}
      description={roleHints[role]}
      value={role}
      data={(['PROJECT_ADMIN', 'PROJECT_VIEWER'] as const).map((value) => ({ value, label: roleNames[value] }))}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
    />
  );
}

function GrantForm({ projectId, onClose }: { projectId: string | undefined; onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { email: '', role: (projectId ? 'PROJECT_ADMIN' : 'OWNER') as Role, impersonates: false, invite: true },
    request: ({ email, ...rest }) =>
      request(GrantRole, { input: { email: email.trim(), ...rest, projectId: projectId ?? null } }),
    invalidates: [Memberships, Session],
    onDone() {
      toast(t('{email} is now {role}', { email, role: lower(roleNames[role]) }));
      onClose();
    },
    onClose,
  });
  const { role } = form.values;
  const email = form.values.email.trim();
  return (
    <DialogForm
      {...form.props}
      verb={projectId ? t('Assign role') : t('Add owner')}
      disabled={email === ''}
      graphql={undefined}
    >
      <TextInput
        label={t('Email address')}
        description={t('Used to sign in to the console.')}
        type="email"
        autoComplete="off"
        {...form.field('email')}
        {...firstFocus}
      />
      {projectId && <RoleSelect role={role} onChange={(chosen) => form.set({ role: chosen })} />}
      <Checkbox
        label={t('May impersonate users')}
        description={t('Uses applications as a user, where the project allows it.')}
        {...form.toggle('impersonates')}
      />
      <Checkbox
        label={t('Send an invitation')}
        description={t('A mail with the role and a link to the console.')}
        {...form.toggle('invite')}
      />
    </DialogForm>
  );
}
