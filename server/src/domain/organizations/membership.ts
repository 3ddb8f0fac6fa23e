import { type Fragment, sql } from '../kernel/sql.ts';

/** A user in an organization, in SQL: columns or values. */
interface Member {
  projectId: Fragment;
  organizationId: Fragment;
  userId: Fragment;
}

/** SQL: active memberships of active organizations, in projects that have organizations switched on (decisions/0382). */
export const activeMemberships = sql`select m.project_id, m.id, m.organization_id, m.user_id from organization_memberships m
  join organizations o on o.project_id = m.project_id and o.id = m.organization_id and o.state = 'active'
  join projects p on p.id = m.project_id and p.organizations_enabled
  where m.state = 'active'`;

/** SQL condition: an active membership of the user in the organization: the only check. False if `organizationId` is null. */
export function isMember({ projectId, organizationId, userId }: Member): Fragment {
  // Named once: the aliases here could hide those of the caller.
  const member = sql`select ${projectId} as project_id, ${organizationId} as organization_id, ${userId} as user_id`;
  return sql`exists (select 1 from (${member}) member join (${activeMemberships}) held on held.project_id = member.project_id
    and held.organization_id = member.organization_id and held.user_id = member.user_id)`;
}
