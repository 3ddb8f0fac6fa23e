import { lazy } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import {
  AuditEvents,
  UnassignRole,
  UserApplications,
  UserRoles as UserRolesOf,
  type UserRolesQuery,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProjectPath } from '../../projects/project.tsx';
import { AddButton } from '../../ui/buttons.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../../ui/lists/data-table.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';

const AssignRoleForm = lazy(async () => ({ default: (await import('../assign-role.tsx')).AssignRoleForm }));

type Held = UserRolesQuery['userRoles'][number];

const labelOf = ({ role: { name } }: Held) => t('Remove {name}', { name });

const sourcesOf = ({ direct, directory, groups }: Held) =>
  [
    ...(direct ? [t('Directly')] : []),
    ...(directory ? [t('By the directory')] : []),
    ...groups.map(({ displayName }) => t('By the group {displayName}', { displayName })),
  ].join(', ');

/** The user's roles in applications: direct, by the directory and by groups. */
export function UserRoles({ userId, mayChange }: { userId: string; mayChange: boolean }) {
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(UserRolesOf, { userId });
  const [dialog, { open, confirm }] = useDialog();
  const held = data?.userRoles;
  if (failure && !held) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const assign = () => open(t('Assign role'), (close) => <AssignRoleForm to={{ userId }} onClose={close} />);
  const remove = ({ role: { id, name, client }, directory, groups }: Held) =>
    confirm({
      title: t('Remove the role {name} from this user?', { name }),
      effect: (
        <>
          <p>{t('Tokens issued to {name} from now on do not have it.', { name: client.name })}</p>
          {groups.length > 0 && <p>{t('The user still holds it by a group.')}</p>}
          {directory && <p>{t('The user still holds it by the directory.')}</p>}
        </>
      ),
      verb: t('Remove'),
      request: request(UnassignRole, { input: { roleId: id, userId } }),
      invalidates: [UserRolesOf, UserApplications, AuditEvents],
      done: t('Role removed'),
    });
  const columns: Columns<Held> = [
    {
      header: t('Application'),
      isName: true,
      width: '30%',
      cell: ({ role }) => <Link to={path(`applications/${role.client.id}/roles`)}>{role.client.name}</Link>,
    },
    { header: t('Role'), cell: ({ role }) => role.name },
    {
      header: t('Assigned'),
      cell: sourcesOf,
    },
    mayChange && actionColumn(t('Remove'), labelOf, remove, ({ direct }) => direct),
  ];
  return (
    <TableSection
      title={t('Roles')}
      lead={t('Rights of this user in applications.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={assign}>
            {t('Assign role')}
          </AddButton>
        )
      }
      columns={columns}
      rows={held}
      keyOf={({ role }) => role.id}
      skeletonRows={1}
      empty={<Empty icon="shield" title={t('No roles')} />}
    >
      {dialog}
    </TableSection>
  );
}
