import { searchFold } from '@latchkey/contracts/search-fold';
import type { EntityManager } from '@mikro-orm/postgresql';
import { orderedPage, type Place } from '../kernel/ordered-page.ts';
import { containing, exactTotal, limitedTotal, maxTotal, type Total, totalOf } from '../kernel/page.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { keyIn, keyText, type TenantKey } from '../projects/tenant.ts';
import { Group } from './group.entity.ts';

/** Filter of a project's groups; an absent field does not filter. */
export interface GroupFilter {
  /** Part of the name, ignoring case and accents. */
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

export function countGroups(em: EntityManager, projectId: string, filter: GroupFilter): Promise<Total> {
  return totalOf(em, sql`from groups r where ${matching(projectId, filter)}`);
}

/** The members by group (`keyText`). @param exact counts all, without a limit */
export async function countMembers(
  em: EntityManager,
  groups: readonly TenantKey[],
  exact: boolean,
): Promise<Map<string, Total>> {
  const most = exact ? null : maxTotal + 1;
  const total = exact ? exactTotal : limitedTotal;
  const rows = await query(
    em,
    sql<{ project: string; id: string; count: number }>`
      select g.project_id as project, g.id, members.count
      from unnest(${groups.map(({ project }) => project.id)}::uuid[], ${groups.map(({ id }) => id)}::uuid[]) g(project_id, id)
        cross join lateral (select count(*)::int as count from (
          select 1 from group_members m where m.project_id = g.project_id and m.group_id = g.id limit ${most}) counted) members`,
  );
  return new Map(rows.map(({ project, id, count }) => [keyText(keyIn(project, id)), total(count)]));
}

function matching(projectId: string, { search = '', userId, provenance }: GroupFilter): Fragment {
  const part = searchFold(search.trim());
  const conditions = [sql`r.project_id = ${projectId}`];
  if (part !== '') conditions.push(sql`search_fold(r.display_name) like ${containing(part)}`);
  if (userId !== undefined) {
    conditions.push(sql`exists (select 1 from group_members m
      where m.project_id = r.project_id and m.user_id = ${userId}::uuid and m.group_id = r.id)`);
  }
  if (provenance !== undefined) conditions.push(sql`r.provenance = ${provenance}`);
  return sql.join(conditions, sql` and `);
}
