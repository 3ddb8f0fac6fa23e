import { lazy } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  GroupRoles as GroupRolesOf,
  type GroupRolesQuery,
  UnassignRole,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';

const AssignRoleForm = lazy(async () => ({ default: (await import('../users/assign-role.tsx')).AssignRoleForm }));

type Role = GroupRolesQuery['groupRoles'][number];

/** The roles that members of a group hold in applications. */
export function GroupRoles({ groupId }: { groupId: string }) {
  const path = useProjectPath();
  const { mayChange } = useAccess(useProject().id);
  const { data, failure, reload } = useQuery(GroupRolesOf, { groupId });
  const [dialog, { open, confirm }] = useDialog();
  const roles = data?.groupRoles;
  if (failure && !roles) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const assign = () => open(t('Assign role'), (close) => <AssignRoleForm to={{ groupId }} onClose={close} />);
  const remove = ({ id: roleId, name, client }: Role) =>
    confirm({
      title: t('Remove the role {name} from this group?', { name }),
      effect: (
        <p>
          {t('Members lose it in {name} with the next tokens, unless they hold it otherwise.', { name: client.name })}
        </p>
      ),
      verb: t('Remove'),
      request: request(UnassignRole, { input: { roleId, groupId } }),
      invalidates: [GroupRolesOf, AuditEvents],
      done: t('Role removed'),
    });
  const columns: Columns<Role> = [
    {
      header: t('Application'),
      isName: true,
      width: '40%',
      cell: ({ client }) => <Link to={path(`applications/${client.id}/roles`)}>{client.name}</Link>,
    },
    { header: t('Role'), cell: ({ name }) => name },
    mayChange && actionColumn(t('Remove'), ({ name }) => t('Remove {name}', { name }), remove),
  ];
  return (
    <TableSection
      title={t('Roles')}
      lead={t('Members hold these roles.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={assign}>
            {t('Assign role')}
          </AddButton>
        )
      }
      columns={columns}
      rows={roles}
      skeletonRows={1}
      empty={<Empty icon="shield" title={t('No roles')} />}
    >
      {dialog}
    </TableSection>
  );
}
