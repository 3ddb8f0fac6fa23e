import { useState } from 'react';
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
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';

type Role = GroupRolesQuery['groupRoles'][number];

/** The roles that members of a group hold in applications. */
export function GroupRoles({ groupId }: { groupId: string }) {
  const path = useProjectPath();
  const { mayChange } = useAccess(useProject().id);
  const { data, failure, reload } = useQuery(GroupRolesOf, { groupId });
  const [leaving, setLeaving] = useState<Role>();
  const roles = data?.groupRoles;
  if (failure && !roles) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const columns: Columns<Role> = [
    {
      header: t('Application'),
      isName: true,
      width: '40%',
      cell: ({ client }) => <Link to={path(`applications/${client.id}/roles`)}>{client.name}</Link>,
    },
    { header: t('Role'), cell: ({ name }) => name },
    mayChange && actionColumn(t('Remove'), ({ name }) => t('Remove {name}', { name }), setLeaving),
  ];
  return (
    <Section flush title={t('Roles')} lead={t('Members hold these roles. Assign them on the page of the application.')}>
      <DataTable
        label={t('Roles')}
        columns={columns}
        rows={roles}
        skeletonRows={1}
        empty={<Empty icon="shield" title={t('No roles')} />}
      />
      <ConfirmMutation
        title={t('Remove the role {name} from this group?', { name: leaving?.name })}
        verb={t('Remove')}
        operation={UnassignRole}
        variables={leaving && { input: { roleId: leaving.id, groupId } }}
        invalidates={[GroupRolesOf, AuditEvents]}
        done={t('Role removed')}
        onClose={() => setLeaving(undefined)}
      >
        <p>
          {t('Members lose it in {name} with the next tokens, unless they hold it otherwise.', {
            name: leaving?.client.name,
          })}
        </p>
      </ConfirmMutation>
    </Section>
  );
}
