import type { Client } from '../clients/client.entity.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import { activeMemberships, isMember } from '../organizations/membership.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { rolesHeld } from '../roles/role-lists.ts';
import { groupsOf } from '../users/memberships.ts';

/** A user at a client in the context of an organization, in SQL: columns or values. */
interface Entering extends EnteredBy {
  /** `access` of the client. */
  access: Fragment;
  /** `organization_required` of the client. */
  organizationRequired: Fragment;
  /** See {@link Organizational}. */
  context: Organizational;
}

interface EnteredBy {
  projectId: Fragment;
  clientId: Fragment;
  userId: Fragment;
}

/** The organization of a context, in SQL: a column or value that can be null, or null: always none. */
interface Organizational {
  organizationId: Fragment | null;
  /** Whether the project has organizations: without, a context of one gives no access, and is not looked up. May be stale. */
  areEnabled: boolean;
}

/** A context without an organization. */
const noOrganization: Organizational = { organizationId: null, areEnabled: false };

/**
 * SQL condition: the user may use the client in the organization, or in none. The only check of access (decisions/0371, 0384): when a
 * code is issued, and again when it is redeemed, refreshed, or its token used.
 */
export function hasAccess({ access, context, organizationRequired, ...by }: Entering): Fragment {
  const entering = { ...by, organizationId: organizationOf(context) };
  return sql`${isInContext({ ...by, context, organizationRequired })}
    and case when ${access} = 'everyone' then true else ${isAssigned(entering)} end`;
}

/** SQL condition: of the organization, an active membership; without one, the client must not require it. */
function isInContext({
  context,
  organizationRequired,
  projectId,
  userId,
}: Omit<Entering, 'access' | 'clientId'>): Fragment {
  const { areEnabled, organizationId } = context;
  if (organizationId === null) return sql`not ${organizationRequired}`;
  if (!areEnabled) return sql`${organizationId} is null and not ${organizationRequired}`;
  return sql`case when ${organizationId} is null then not ${organizationRequired}
    else ${isMember({ projectId, organizationId, userId })} end`;
}

const organizationOf = ({ areEnabled, organizationId }: Organizational) => (areEnabled ? organizationId : null);

/** SQL condition: a rule of the client names the user, one of their groups, one of their roles, or the organization. */
function isAssigned({
  projectId,
  clientId,
  userId,
  organizationId,
}: EnteredBy & Pick<Organizational, 'organizationId'>): Fragment {
  // Named once: the fragments below have aliases of their own, which could hide those of the caller.
  const [project, user] = [sql`entering.project_id`, sql`entering.user_id`];
  const rule = sql`access_rules r on r.project_id = entering.project_id and r.client_id = entering.client_id`;
  const column = organizationId === null ? sql`` : sql`, ${organizationId} as organization_id`;
  const byOrganization = sql`
      or exists (select 1 from (values (1)) one join ${rule} and r.organization_id = entering.organization_id)`;
  return sql`exists (select 1 from (select ${projectId} as project_id, ${clientId} as client_id, ${userId} as user_id${column}) entering
    where exists (select 1 from (values (1)) one join ${rule} and r.user_id = entering.user_id)
      or exists (select 1 from (${groupsOf(project, user)}) held join ${rule} and r.group_id = held.group_id)
      or exists (select 1 from (${rolesHeld(project, user)}) held join ${rule} and r.role_id = held.role_id)${organizationId === null ? sql`` : byOrganization})`;
}

/**
 * SQL condition: the user may use the client in some context, without an organization or in one of theirs. For lists, and where
 * no organization is chosen.
 */
export function hasSomeAccess(entering: Omit<Entering, 'context'>): Fragment {
  const { access, projectId, userId } = entering;
  const without = hasAccess({ ...entering, context: noOrganization });
  const within = isAssigned({ ...entering, organizationId: sql`held.organization_id` });
  return sql`(${without} or exists (select 1 from (${activeMemberships}) held
    where held.project_id = ${projectId} and held.user_id = ${userId} and case when ${access} = 'everyone' then true else ${within} end))`;
}

/** SQL condition: the user may not use the client in the organization of a column, as all are now. */
export function lacksAccess({ project, id }: TenantKey, userId: Fragment, organizationId: Fragment): Fragment {
  const client = { ...clientColumns, context: { organizationId, areEnabled: true } };
  return sql`exists (select 1 from clients k where k.project_id = ${project.id}::uuid and k.id = ${id}::uuid
    and not (${hasAccess({ ...client, userId })}))`;
}

/** SQL condition: the user may use the client in no context, as both are now. */
export function lacksAllAccess({ project, id }: TenantKey, userId: Fragment): Fragment {
  return sql`exists (select 1 from clients k where k.project_id = ${project.id}::uuid and k.id = ${id}::uuid
    and not (${hasSomeAccess({ ...clientColumns, userId })}))`;
}

/** SQL: the columns of client `k` that decide. */
export const clientColumns = {
  ...{ access: sql`k.access`, organizationRequired: sql`k.organization_required` },
  ...{ projectId: sql`k.project_id`, clientId: sql`k.id` },
};

/** The client of a request. */
export type EnteredClient = Pick<Client, 'id' | 'access' | 'organizationRequired' | 'project'>;

/**
 * {@link hasAccess} for a client whose version the statement checks: without a subquery if everyone has access.
 *
 * @param organizationId null: always none
 */
export function hasAccessTo(client: EnteredClient, userId: Fragment, organizationId: Fragment | null): Fragment {
  const { access, id, organizationRequired } = client;
  const { organizationsEnabled: areEnabled, id: project } = client.project.getEntity();
  const context = { organizationId, areEnabled };
  const by = { projectId: sql`${project}::uuid`, clientId: sql`${id}::uuid`, userId };
  const isAssignedTo = () => isAssigned({ ...by, organizationId: organizationOf(context) });
  if (organizationId === null) {
    if (organizationRequired) return sql`false`;
    return access === 'everyone' ? sql`true` : isAssignedTo();
  }
  const isIn = isInContext({ ...by, context, organizationRequired: organizationRequired ? sql`true` : sql`false` });
  return access === 'everyone' ? isIn : sql`(${isIn} and ${isAssignedTo()})`;
}

/** Whether a user may use a client, which has just been read, in an organization or in none. */
export async function mayEnter(
  on: Executing,
  client: EnteredClient,
  userId: string,
  organizationId: string | null,
): Promise<boolean> {
  const { access, organizationRequired } = client;
  if (organizationId === null && access === 'everyone') return !organizationRequired;
  const organization = organizationId === null ? null : sql`${organizationId}::uuid`;
  const may = hasAccessTo(client, sql`${userId}::uuid`, organization);
  const [row] = await query(on, sql<{ may: boolean }>`select ${may} as may`);
  return row?.may === true;
}

/** {@link hasSomeAccess} for a client that has just been read. */
export async function maySometimesEnter(on: Executing, client: EnteredClient, userId: string): Promise<boolean> {
  if (await mayEnter(on, client, userId, null)) return true;
  const { id, project } = client;
  if (!project.getEntity().organizationsEnabled) return false;
  const may = sql`exists (select 1 from clients k where k.project_id = ${project.id}::uuid and k.id = ${id}::uuid
    and ${hasSomeAccess({ ...clientColumns, userId: sql`${userId}::uuid` })})`;
  const [row] = await query(on, sql<{ may: boolean }>`select ${may} as may`);
  return row?.may === true;
}
