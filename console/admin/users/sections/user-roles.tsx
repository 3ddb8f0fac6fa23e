import { Button, Modal } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import {
  AuditEvents,
  UnassignRole,
  UserRoles as UserRolesOf,
  type UserRolesQuery,
} from '../../generated/operations.ts';
import { useProjectPath } from '../../projects/project.tsx';
import { ConfirmMutation } from '../../ui/feedback/confirm.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../../ui/lists/data-table.tsx';

const AssignRoleForm = lazy(async () => ({ default: (await import('../assign-role.tsx')).AssignRoleForm }));

type Held = UserRolesQuery['userRoles'][number];

/** The user's roles in applications: direct, by the directory and by groups. */
export function UserRoles({ userId, mayChange }: { userId: string; mayChange: boolean }) {
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(UserRolesOf, { userId });
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Held>();
  const held = data?.userRoles;
  if (failure && !held) return <LoadError failure={failure} subject="the list of roles" retry={reload} />;
  const columns: Column<Held>[] = [
    {
      header: 'Application',
      isName: true,
      width: '30%',
      cell: ({ role }) => <Link to={path(`applications/${role.client.id}/roles`)}>{role.client.name}</Link>,
    },
    { header: 'Role', cell: ({ role }) => role.name },
    {
      header: 'Assigned',
      cell: ({ direct, directory, groups }) =>
        [
          ...(direct ? ['Directly'] : []),
          ...(directory ? ['By the directory'] : []),
          ...groups.map(({ displayName }) => `By the group ${displayName}`),
        ].join(', '),
    },
    ...(mayChange
      ? [
          actionColumn<Held>(
            'Remove',
            ({ role }) => `Remove ${role.name}`,
            setLeaving,
            ({ direct }) => direct,
          ),
        ]
      : []),
  ];
  return (
    <Section
      flush
      title="Roles"
      lead="What this user may do in applications."
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            Assign role
          </Button>
        )
      }
    >
      <DataTable
        label="Roles"
        columns={columns}
        rows={held}
        keyOf={({ role }) => role.id}
        skeletonRows={1}
        empty={<Empty icon="shield" title="No roles" />}
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title="Assign a role">
        {isNew && (
          <Suspense>
            <AssignRoleForm userId={userId} onClose={() => setNew(false)} />
          </Suspense>
        )}
      </Modal>
      <ConfirmMutation
        title={`Take the role ${leaving?.role.name} from this user?`}
        verb="Take away"
        operation={UnassignRole}
        variables={leaving && { input: { roleId: leaving.role.id, userId } }}
        invalidates={[UserRolesOf, AuditEvents]}
        done="Role taken away"
        onClose={() => setLeaving(undefined)}
      >
        <p>Tokens issued to {leaving?.role.client.name} from now on do not have it.</p>
        {leaving && leaving.groups.length > 0 && <p>The user still holds it by a group.</p>}
        {leaving?.directory && <p>The user still holds it by the directory.</p>}
      </ConfirmMutation>
    </Section>
  );
}
