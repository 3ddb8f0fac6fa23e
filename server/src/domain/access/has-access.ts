import type { Client } from '../clients/client.entity.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { rolesHeld } from '../roles/role-lists.ts';
import { groupsOf } from '../users/memberships.ts';

/** A user at a client, in SQL: columns or values. */
interface Entering {
  /** `access` of the client. */
  access: Fragment;
  projectId: Fragment;
  clientId: Fragment;
  userId: Fragment;
}

/**
 * SQL condition: the user may use the client. The only check of access (decisions/0371): when a code is issued, and again when it
 * is redeemed, refreshed, or its token used.
 */
export function hasAccess({ access, ...entering }: Entering): Fragment {
  return sql`case when ${access} = 'everyone' then true else ${isAssigned(entering)} end`;
}

/** SQL condition: a rule of the client names the user, one of their groups or one of their roles. */
function isAssigned({ projectId, clientId, userId }: Omit<Entering, 'access'>): Fragment {
  // Named once: the fragments below have aliases of their own, which could hide those of the caller.
  const [project, user] = [sql`entering.project_id`, sql`entering.user_id`];
  const rule = sql`access_rules r on r.project_id = entering.project_id and r.client_id = entering.client_id`;
  return sql`exists (select from (select ${projectId} as project_id, ${clientId} as client_id, ${userId} as user_id) entering
    where exists (select from (values (1)) one join ${rule} and r.user_id = entering.user_id)
      or exists (select from (${groupsOf(project, user)}) held join ${rule} and r.group_id = held.group_id)
      or exists (select from (${rolesHeld(project, user)}) held join ${rule} and r.role_id = held.role_id))`;
}

/** SQL condition: the user may not use the client, as both are now. */
export function lacksAccess({ project, id }: TenantKey, userId: Fragment): Fragment {
  const client = { access: sql`k.access`, projectId: sql`k.project_id`, clientId: sql`k.id` };
  return sql`exists (select from clients k where k.project_id = ${project.id}::uuid and k.id = ${id}::uuid
    and not ${hasAccess({ ...client, userId })})`;
}

/** The client of a request. */
type EnteredClient = Pick<Client, 'id' | 'access'> & { project: { id: string } };

/** {@link hasAccess} for a client whose version the statement checks: without a subquery if everyone has access. */
export function hasAccessTo({ access, id, project }: EnteredClient, userId: Fragment): Fragment {
  if (access === 'everyone') return sql`true`;
  return isAssigned({ projectId: sql`${project.id}::uuid`, clientId: sql`${id}::uuid`, userId });
}

/** Whether a user may use a client, which has just been read. */
export async function mayEnter(on: Executing, client: EnteredClient, userId: string): Promise<boolean> {
  if (client.access === 'everyone') return true;
  const [row] = await query(on, sql<{ may: boolean }>`select ${hasAccessTo(client, sql`${userId}::uuid`)} as may`);
  return row?.may === true;
}
