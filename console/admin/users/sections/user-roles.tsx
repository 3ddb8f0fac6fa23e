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
import { t } from '../../language/language.ts';
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
  if (failure && !held) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const columns: Column<Held>[] = [
    {
      header: t('Application'),
      isName: true,
      width: '30%',
      cell: ({ role }) => <Link to={path(`applications/${role.client.id}/roles`)}>{role.client.name}</Link>,
    },
    { header: t('Role'), cell: ({ role }) => role.name },
    {
      header: t('Assigned'),
      cell: ({ direct, directory, groups }) =>
        [
          ...(direct ? [t('Directly')] : []),
          ...(directory ? [t('By the directory')] : []),
          ...groups.map(({ displayName }) => t('By the group {displayName}', { displayName })),
        ].join(', '),
    },
    ...(mayChange
      ? [
          actionColumn<Held>(
            t('Remove'),
            ({ role }) => t('Remove {name}', { name: role.name }),
            setLeaving,
            ({ direct }) => direct,
          ),
        ]
      : []),
  ];
  return (
    <Section
      flush
      title={t('Roles')}
      lead={t('Rights of this user in applications.')}
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            {t('Assign role')}
          </Button>
        )
      }
    >
      <DataTable
        label={t('Roles')}
        columns={columns}
        rows={held}
        keyOf={({ role }) => role.id}
        skeletonRows={1}
        empty={<Empty icon="shield" title={t('No roles')} />}
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title={t('Assign a role')}>
        {isNew && (
          <Suspense>
            <AssignRoleForm userId={userId} onClose={() => setNew(false)} />
          </Suspense>
        )}
      </Modal>
      <ConfirmMutation
        title={t('Remove the role {name} from this user?', { name: leaving?.role.name })}
        verb={t('Remove')}
        operation={UnassignRole}
        variables={leaving && { input: { roleId: leaving.role.id, userId } }}
        invalidates={[UserRolesOf, AuditEvents]}
        done={t('Role removed')}
        onClose={() => setLeaving(undefined)}
      >
        <p>{t('Tokens issued to {name} from now on do not have it.', { name: leaving?.role.client.name })}</p>
        {leaving && leaving.groups.length > 0 && <p>{t('The user still holds it by a group.')}</p>}
        {leaving?.directory && <p>{t('The user still holds it by the directory.')}</p>}
      </ConfirmMutation>
    </Section>
  );
}
