import { type Executing, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { rolesHeldAs } from './groups/group-roles.ts';
import { activeMemberships } from './membership.ts';

/** An organization as its member sees it. */
export interface OwnOrganization {
  /** Of the membership. */
  id: string;
  name: string;
  /** The names of the member's roles. */
  roles: string[];
  since: Date;
  /** Whether it is the user's home, which the user cannot leave. */
  isHome: boolean;
  /** Whether its members sign in by its identity provider only. */
  needsConnection: boolean;
}

/** Organizations on the account page of a user; of more, the first by name. */
const maxOwn = 200;

/** The organizations that a user is a member of, by name. */
export async function organizationsOfUser(on: Executing, { project, id }: TenantKey): Promise<OwnOrganization[]> {
  const rows = await query(
    on,
    sql<
      Omit<OwnOrganization, 'since'> & { since: string }
    >`select m.id, o.name, m.created_at as since, u.organization_id is not distinct from o.id as "isHome",
        o.sign_in = 'connection' as "needsConnection",
        array(select r.name from (${rolesHeldAs}) h
          join organization_roles r on r.project_id = m.project_id and r.id = h.role_id order by lower(r.name), r.key) as roles
      from (${activeMemberships}) held join organization_memberships m on m.project_id = held.project_id and m.id = held.id
        join organizations o on o.project_id = m.project_id and o.id = m.organization_id
        join users u on u.project_id = m.project_id and u.id = m.user_id
      where held.project_id = ${project.id}::uuid and held.user_id = ${id}::uuid
      order by lower(o.name), o.id limit ${maxOwn}::int`,
    { prepare: 'organizations.of-user' },
  );
  return rows.map((row) => ({ ...row, since: new Date(row.since) }));
}
