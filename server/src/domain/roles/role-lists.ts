import type { EntityManager } from '@mikro-orm/postgresql';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { type Executing, type Fragment, query, sql } from '../kernel/sql.ts';
import { keyIn, keyText, type TenantKey } from '../projects/tenant.ts';
import { Group } from '../users/group.entity.ts';
import { type Listed, listRows, type Selection } from '../users/listing.ts';
import { groupsOf } from '../users/memberships.ts';
import { ClientRole } from './client-role.entity.ts';
import { RoleAssignment } from './role-assignment.entity.ts';

/** The roles of a client, by name. */
export function rolesOf(em: EntityManager, { project, id }: TenantKey): Promise<ClientRole[]> {
  const where = { client: [project.id, id] as [string, string] };
  return em.find(ClientRole, where, { orderBy: { name: 'asc', id: 'asc' } }) as Promise<ClientRole[]>;
}

/** The users and groups that hold a role, newest first. */
export function assignmentsOf(
  em: EntityManager,
  { project, id }: TenantKey,
  page: PageRequest,
): Promise<Page<RoleAssignment>> {
  return pageOf(em, RoleAssignment, { role: [project.id, id] as [string, string] }, page);
}

export interface RoleHolders {
  users: number;
  groups: number;
}

/** The numbers of users and groups to which roles are assigned directly, by role (`keyText`). */
export async function countHolders(em: EntityManager, roles: readonly TenantKey[]): Promise<Map<string, RoleHolders>> {
  const rows = await query(
    em,
    sql<{ project: string; id: string; users: string; groups: string }>`
      select a.project_id as project, a.role_id as id, count(a.user_id) as users, count(a.group_id) as groups
      from unnest(${roles.map(({ project }) => project.id)}::uuid[], ${roles.map(({ id }) => id)}::uuid[]) r(project_id, id)
        join role_assignments a on a.project_id = r.project_id and a.role_id = r.id
      group by 1, 2`,
  );
  return new Map(
    rows.map(({ project, id, users, groups }) => [
      keyText(keyIn(project, id)),
      { users: Number(users), groups: Number(groups) },
    ]),
  );
}

/**
 * SQL: `role_id` and `group_id` of a user's roles; `group_id` is null for those of the user, and `by_directory` true for
 * those that a directory gave (decisions/0129).
 */
export function rolesHeld(projectId: string | Fragment, userId: string | Fragment): Fragment {
  return sql`select role_id, group_id, false as by_directory from role_assignments
      where project_id = ${projectId}::uuid and user_id = ${userId}::uuid
    union all select a.role_id, a.group_id, false from (${groupsOf(projectId, userId)}) m
      join role_assignments a on a.project_id = ${projectId}::uuid and a.group_id = m.group_id
    union all select role_id, null::uuid, true from (${rolesNamed(projectId, userId)}) named`;
}

const uuidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/**
 * SQL: `role_id` of the roles that the SCIM attributes `roles` and `entitlements` of a user name: by id, or by key. Only the directory of the
 * project gives roles of applications, not that of an organization.
 */
function rolesNamed(projectId: string | Fragment, userId: string | Fragment): Fragment {
  return sql`with named as materialized (
      select distinct v.value #>> '{}' as value from users u, lateral (
        select jsonb_path_query(u.attributes, '$.roles[*].value')
        union all select jsonb_path_query(u.attributes, '$.entitlements[*].value')) v(value)
      where u.project_id = ${projectId}::uuid and u.id = ${userId}::uuid and u.organization_id is null
    )
    select k.id as role_id from named n join client_roles k
      on k.project_id = ${projectId}::uuid and k.id = case when n.value ~* ${uuidPattern} then n.value::uuid end
    union all select k.id from named n join client_roles k on k.project_id = ${projectId}::uuid and k.key = n.value
      where not ${sql.raw(isUnnamed('k'))}`;
}

/** SQL: whether the key of a role is ambiguous, so that only the id names the role. */
function isUnnamed(role: string): string {
  return `(${role}.key ~* '${uuidPattern}' or exists (select 1 from client_roles o where o.project_id = ${role}.project_id
    and o.key = ${role}.key and o.client_id <> ${role}.client_id))`;
}

/** A role as directories see it. */
export interface OfferedRole {
  id: string;
  /** The name of the role in `roles` and `entitlements`: its key, or its id if several applications have the key. */
  value: string;
  name: string;
  description: string | null;
  application: string;
  createdAt: Date;
  updatedAt: Date;
}

/** SQL over the row `r` of a role: see {@link OfferedRole}. */
export const offered = {
  value: `case when ${isUnnamed('r')} then r.id::text else r.key end`,
  application: '(select c.name from clients c where c.project_id = r.project_id and c.id = r.client_id)',
} as const;

const offeredSelection = `r.id, ${offered.value} as value, r.name, r.description, ${offered.application} as application,
  r.created_at as "createdAt", r.updated_at as "updatedAt"`;

/** A page of the roles of all applications of a project. */
export async function offeredRoles(
  em: Executing,
  projectId: string,
  selection: Selection,
): Promise<Listed<OfferedRole>[]> {
  const rows = await listRows<OfferedRole>(em, 'client_roles', offeredSelection, projectId, selection);
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt), updatedAt: new Date(row.updatedAt) }));
}

/** Groups that are shown for each role of a user. */
const maxGroups = 50;

/** A role that a user holds: directly, by the directory, by groups, or several of them. */
export interface HeldRole {
  role: ClientRole;
  direct: boolean;
  directory: boolean;
  /** At most {@link maxGroups}. */
  groups: Group[];
}

/** The roles of a user in all applications, by the application's name. */
export async function rolesOfUser(em: EntityManager, { project, id }: TenantKey): Promise<HeldRole[]> {
  const rows = await query(
    em,
    sql<{ id: string; direct: boolean; directory: boolean; groups: string[] }>`
      select k.id, bool_or(a.group_id is null and not a.by_directory) as direct, bool_or(a.by_directory) as directory,
        to_json(coalesce((array_agg(a.group_id order by a.group_id) filter (where a.group_id is not null))[1:${sql.lit(maxGroups)}],
          '{}')) as groups
      from (${rolesHeld(project.id, id)}) a join client_roles k on k.project_id = ${project.id} and k.id = a.role_id
        join clients c on c.project_id = k.project_id and c.id = k.client_id
      group by k.id, k.name, c.name order by lower(c.name), lower(k.name), k.id`,
  );
  const roles = await em.find(ClientRole, { project: project.id, id: { $in: rows.map((row) => row.id) } });
  const groupIds = [...new Set(rows.flatMap((row) => row.groups))];
  const groups = await em.find(
    Group,
    { project: project.id, id: { $in: groupIds } },
    { orderBy: { displayName: 'asc' } },
  );
  const byId = new Map(roles.map((role) => [role.id, role as ClientRole]));
  return rows.flatMap(({ id: roleId, direct, directory, groups: ids }) => {
    const role = byId.get(roleId);
    return role ? [{ role, direct, directory, groups: groups.filter((group) => ids.includes(group.id)) }] : [];
  });
}

/** The roles assigned to a group. */
export async function rolesOfGroup(em: EntityManager, { project, id }: TenantKey): Promise<ClientRole[]> {
  const where = { group: [project.id, id] as [string, string] };
  const assignments = await em.find(RoleAssignment, where, { populate: ['role'] });
  return assignments
    .map(({ role }) => role.getEntity() as ClientRole)
    .sort((one, two) => one.name.localeCompare(two.name, 'en') || one.id.localeCompare(two.id));
}
