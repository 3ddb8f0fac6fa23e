import { type Executing, query, type Statement, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { rolesHeld } from '../roles/role-lists.ts';
import { subColumn } from '../users/identity/sub.ts';
import { groupsOf } from '../users/memberships.ts';
import { selectionOf } from '../users/user-record.ts';
import type { ClaimSource } from './application-claims.ts';
import { type ClaimUser, claimProperties } from './attributes.ts';
import { type ClaimSettings, defaultClaimSettings } from './claim-settings.ts';

type Row = ClaimUser & {
  sub: string;
  settings: ClaimSettings | null;
  groups: ClaimSource['groups'];
  roles: ClaimSource['roles'];
  custom: ClaimSource['custom'];
};

/**
 * Groups of an organization's directory are not in it: their names could be those of groups that an application trusts.
 *
 * One statement that reads the data for the claims of a user for a client. No row if the project has no such user
 * or client. Both ids must be UUIDs.
 */
export function claimSource(client: TenantKey, userId: string): Statement<Row> {
  return sql<Row>`with membership as materialized (
      select g.id, g.display_name as name, exists (select 1 from role_assignments a
          join client_roles k on k.project_id = a.project_id and k.id = a.role_id
          where a.project_id = g.project_id and a.group_id = g.id and k.client_id = ${client.id}::uuid) as assigned
      from (${groupsOf(client.project.id, userId)}) m
        join groups g on g.project_id = ${client.project.id}::uuid and g.id = m.group_id and g.organization_id is null
    ), held as materialized (${rolesHeld(client.project.id, userId)})
    select ${sql.raw(selectionOf(claimProperties))}, ${subColumn('r')} as sub,
      (select json_build_object('groups', s.groups, 'groupPrefix', s.group_prefix, 'listLimit', s.list_limit,
          'rolesClaim', s.roles_claim, 'directoryRoles', s.directory_roles, 'mappings', s.mappings, 'version', s.version)
        from claim_settings s where s.project_id = c.project_id and s.client_id = c.id) as settings,
      coalesce((select json_agg(json_build_object('name', name, 'assigned', assigned)) from membership), '[]') as groups,
      coalesce((select json_agg(k.key) from client_roles k
        where k.project_id = c.project_id and k.client_id = c.id and k.id in (select role_id from held)), '[]') as roles
    , array(select a->>'name' from custom_schemas x, jsonb_array_elements(x.attributes) a
        where x.project_id = c.project_id and a->'visibleTo' @> '["applications"]') as custom
    from users r join clients c on c.project_id = r.project_id
    where r.project_id = ${client.project.id}::uuid and r.id = ${userId}::uuid and c.id = ${client.id}::uuid`;
}

/** Like {@link claimSource}. Null if the project has no such user or client. */
export async function readClaimSource(
  em: Executing,
  client: TenantKey,
  userId: string,
): Promise<{ settings: ClaimSettings; source: ClaimSource; sub: string } | null> {
  const [row] = await query(em, claimSource(client, userId), { prepare: 'claims.source' });
  if (!row) return null;
  const { settings, groups, roles, custom, sub, ...user } = row;
  return {
    sub,
    settings: settings ?? defaultClaimSettings,
    source: { user: { ...user, updatedAt: new Date(user.updatedAt) }, groups, roles, custom },
  };
}
