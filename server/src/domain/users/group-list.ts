import type { EntityManager } from '@mikro-orm/postgresql';
import { orderedPage, type Place } from '../kernel/ordered-page.ts';
import { containing } from '../kernel/page.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { keyIn, keyText, type TenantKey } from '../projects/tenant.ts';
import { Group } from './group.entity.ts';
import { foldCase } from './login.ts';

/** Filter of a project's groups; an absent field does not filter. */
export interface GroupFilter {
  /** Part of the name, ignoring case. */
  search?: string | undefined;
  /** Groups of this user. */
  userId?: string | undefined;
  provenance?: Group['provenance'] | undefined;
}

/** A page of groups by name, each with its position. */
export async function listGroups(
  em: EntityManager,
  projectId: string,
  filter: GroupFilter,
  { first, after }: { first: number; after: Place | null },
): Promise<{ items: Group[]; places: Place[]; hasNextPage: boolean }> {
  const where = matching(projectId, filter);
  const key = { column: sql`lower(r.display_name) collate "C"`, type: 'text' } as const;
  const page = await orderedPage(em, { table: 'groups', where, key, descending: false, first, after });
  const ids = page.places.map(({ id }) => id);
  const groups = ids.length === 0 ? [] : await em.find(Group, { project: projectId, id: { $in: ids } });
  const byId = new Map(groups.map((group) => [group.id, group]));
  const places = page.places.filter(({ id }) => byId.has(id));
  return { ...page, places, items: places.map(({ id }) => byId.get(id) as Group) };
}

export async function countGroups(em: EntityManager, projectId: string, filter: GroupFilter): Promise<number> {
  const [row] = await query(
    em,
    sql<{ count: string }>`select count(*) as count from groups r where ${matching(projectId, filter)}`,
  );
  return Number(row?.count ?? 0);
}

/** The number of members by group (`keyText`). */
export async function countMembers(em: EntityManager, groups: readonly TenantKey[]): Promise<Map<string, number>> {
  const rows = await query(
    em,
    sql<{ project: string; id: string; count: string }>`
      select m.project_id as project, m.group_id as id, count(*) as count
      from unnest(${groups.map(({ project }) => project.id)}::uuid[], ${groups.map(({ id }) => id)}::uuid[]) g(project_id, id)
        join group_members m on m.project_id = g.project_id and m.group_id = g.id
      group by 1, 2`,
  );
  return new Map(rows.map(({ project, id, count }) => [keyText(keyIn(project, id)), Number(count)]));
}

function matching(projectId: string, { search = '', userId, provenance }: GroupFilter): Fragment {
  const part = foldCase(search.trim());
  const conditions = [sql`r.project_id = ${projectId}`];
  if (part !== '') conditions.push(sql`lower(r.display_name) like ${containing(part)}`);
  if (userId !== undefined) {
    conditions.push(sql`exists (select from group_members m
      where m.project_id = r.project_id and m.user_id = ${userId}::uuid and m.group_id = r.id)`);
  }
  if (provenance !== undefined) conditions.push(sql`r.provenance = ${provenance}`);
  return sql.join(conditions, sql` and `);
}
