import { lazy } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  DeleteOrganizationRole,
  type OrganizationRolesQuery,
  OrganizationRoles as Roles,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { type Columns, editColumn } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import { OrganizationsFrame } from './organizations-frame.tsx';
import { stale } from './stale.ts';

const RoleForm = lazy(async () => ({ default: (await import('./role-form.tsx')).RoleForm }));

type Role = OrganizationRolesQuery['organizationRoles'][number];

/** The roles that members can have in every organization of the project. */
export function OrganizationRoles() {
  const { id: projectId } = useProject();
  const { mayChange } = useAccess(projectId);
  const [dialog, { open, confirm }] = useDialog();
  const { data, failure, reload } = useQuery(Roles, { projectId });
  const roles = data?.organizationRoles;
  const create = () => open(t('Create role'), (close) => <RoleForm onClose={close} />);
  const add = <AddButton onClick={create}>{t('Create role')}</AddButton>;
  const edit = (role: Role) => open(t('Edit role'), (close) => <RoleForm role={role} onClose={close} />);
  const remove = ({ id, key, name }: Role) =>
    confirm({
      title: t('Delete the role {name}?', { name }),
      effect: (
        <p>
          {t('Members of all organizations lose it with the next tokens. Applications no longer receive {key}.', {
            key,
          })}
        </p>
      ),
      verb: t('Delete role'),
      name,
      request: request(DeleteOrganizationRole, { id }),
      invalidates: [Roles, AuditEvents, ...stale],
      done: t('Role deleted'),
    });
  const columns: Columns<Role> = [
    { header: t('Name'), isName: true, width: '34%', cell: ({ name }) => name },
    { header: t('Key'), cell: ({ key }) => <code>{key}</code> },
    { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    mayChange && editColumn<Role>({ mayChange, edit, remove }),
  ];
  return (
    <OrganizationsFrame actions={add}>
      {failure && !roles ? (
        <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />
      ) : (
        <TableSection
          title={t('Organization roles')}
          lead={t('The same for all organizations. Applications receive the keys in the org_roles claim.')}
          columns={columns}
          rows={roles}
          skeletonRows={3}
          empty={
            <Empty icon="shield" title={t('No organization roles yet')} action={mayChange && add}>
              {t('For example admin and billing. Members get them in each organization.')}
            </Empty>
          }
        >
          {dialog}
        </TableSection>
      )}
    </OrganizationsFrame>
  );
}
