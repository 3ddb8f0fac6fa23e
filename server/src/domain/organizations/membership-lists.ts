import type { EntityManager } from '@mikro-orm/postgresql';
import { limitedTotal, maxTotal, type Page, type PageRequest, pageOf, type Total, totalOf } from '../kernel/page.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import { keyIn, keyText, type TenantKey } from '../projects/tenant.ts';
import { OrganizationMembership } from './organization-membership.entity.ts';
import { OrganizationRole } from './organization-role.entity.ts';

/** The memberships of an organization, newest first. */
export function membersOf(
  em: EntityManager,
  { project, id }: TenantKey,
  page: PageRequest,
): Promise<Page<OrganizationMembership>> {
  return pageOf(em, OrganizationMembership, { organization: [project.id, id] as [string, string] }, page);
}

export function countMembersOf(on: Executing, { project, id }: TenantKey): Promise<Total> {
  const of = sql`project_id = ${project.id}::uuid and organization_id = ${id}::uuid`;
  return totalOf(on, sql`from organization_memberships where ${of}`);
}

/** The memberships of a user, newest first. */
export function membershipsOf(
  em: EntityManager,
  { project, id }: TenantKey,
  page: PageRequest,
): Promise<Page<OrganizationMembership>> {
  return pageOf(em, OrganizationMembership, { user: [project.id, id] as [string, string] }, page);
}

export function countMembershipsOf(on: Executing, { project, id }: TenantKey): Promise<Total> {
  const of = sql`project_id = ${project.id}::uuid and user_id = ${id}::uuid`;
  return totalOf(on, sql`from organization_memberships where ${of}`);
}

/** The numbers of members by organization (`keyText`). */
export async function countMembersIn(on: Executing, organizations: readonly TenantKey[]): Promise<Map<string, Total>> {
  const rows = await query(
    on,
    sql<{ project: string; id: string; count: number }>`select o.project_id as project, o.id, members.count
      from unnest(${organizations.map(({ project }) => project.id)}::uuid[], ${organizations.map(({ id }) => id)}::uuid[])
          o(project_id, id)
        cross join lateral (select count(*)::int as count from (select 1 from organization_memberships m
          where m.project_id = o.project_id and m.organization_id = o.id limit ${maxTotal + 1}) counted) members`,
  );
  return new Map(rows.map(({ project, id, count }) => [keyText(keyIn(project, id)), limitedTotal(count)]));
}

/** The roles of members by membership (`keyText`), each by name. */
export async function rolesOfMembers(
  em: EntityManager,
  memberships: readonly TenantKey[],
): Promise<Map<string, OrganizationRole[]>> {
  const rows = await query(
    em,
    sql<{ project: string; membership: string; role: string }>`
      select h.project_id as project, h.membership_id as membership, h.role_id as role
      from unnest(${memberships.map(({ project }) => project.id)}::uuid[], ${memberships.map(({ id }) => id)}::uuid[])
          m(project_id, id)
        join organization_membership_roles h on h.project_id = m.project_id and h.membership_id = m.id`,
  );
  const projects = [...new Set(rows.map(({ project }) => project))];
  const ids = [...new Set(rows.map(({ role }) => role))];
  const roles = await em.find(
    OrganizationRole,
    { project: { $in: projects }, id: { $in: ids } },
    { orderBy: { name: 'asc', id: 'asc' } },
  );
  const held = Map.groupBy(rows, ({ project, membership }) => keyText(keyIn(project, membership)));
  return new Map(
    [...held].map(([key, those]) => {
      const mine = new Set(those.map(({ role }) => role));
      return [key, roles.filter(({ id }) => mine.has(id))];
    }),
  );
}
