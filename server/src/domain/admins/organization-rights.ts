import type { EntityManager } from '@mikro-orm/postgresql';
import { invalid, refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { Role } from './membership.entity.ts';

/** Maximum number of organizations of one role or token. */
const maxOrganizations = 50;

/**
 * The organizations of a role in a project; null: the role has none. Refuses `invalid`, and `not-found` for one that is not of the
 * project.
 */
export async function organizationsOfRole(
  em: EntityManager,
  role: Role,
  projectId: string | undefined,
  given: readonly string[] | undefined,
): Promise<string[] | null> {
  if (role !== 'organization_admin') {
    if (given) invalid('organizationIds', 'must be absent for this role');
    return null;
  }
  const ids = [...new Set(given)].sort();
  if (ids.length === 0) invalid('organizationIds', 'is required for this role');
  if (ids.length > maxOrganizations) invalid('organizationIds', `must have at most ${maxOrganizations} entries`);
  const known = ids.every(isUuid)
    ? await query(
        em,
        sql`select 1 from organizations where project_id = ${projectId ?? null}::uuid and id = any(${ids}::uuid[])`,
      )
    : [];
  if (known.length !== ids.length) refuse({ code: 'not-found', what: 'organization' });
  return ids;
}

/** Joins the deletion of an organization: no role or token names it afterwards. Those of no other organization have no rights. */
export async function endOrganizationRights(em: EntityManager, { id, project }: TenantKey): Promise<void> {
  for (const table of ['memberships', 'admin_tokens']) {
    await execute(
      em,
      sql`update ${sql.table(table)} set organization_ids = array_remove(organization_ids, ${id}::uuid)
        where project_id = ${project.id}::uuid and ${id}::uuid = any(organization_ids)`,
    );
  }
}
