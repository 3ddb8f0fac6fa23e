import { type Executing, type Fragment, query, sql } from '../../kernel/sql.ts';
import { leadingWithin } from './nested-lists.ts';

/** A group in the response for a user. */
export interface ShownGroup {
  id: string;
  displayName: string;
}

/** Maximum number of groups of a user that are read: a response has at most one fewer. */
export const mostGroups = 5001;

/**
 * SQL: the groups of a user. Each group is read by its key: with the statistics of a table that has just grown, a join
 * could compare every membership with every group.
 */
function groupsOf(projectId: Fragment | string, userId: Fragment): Fragment {
  return sql`select g.id, g.display_name from group_members m cross join lateral (
      select g.id, g.display_name from groups g where g.project_id = m.project_id and g.id = m.group_id limit 1) g
    where m.project_id = ${projectId} and m.user_id = ${userId}`;
}

/** SQL: the groups of the user in the row `r`, as JSON, by their ids. */
export const groupsOfRow: Fragment = sql`coalesce((
  select json_agg(json_build_object('id', g.id, 'displayName', g.display_name) order by g.id)
  from (${groupsOf(sql`r.project_id`, sql`r.id`)} limit ${sql.raw(String(mostGroups))}) g), '[]')`;

/**
 * The groups of the leading users that have at most `budget` groups together, at least of the first one; by user, in the
 * order of the ids.
 */
export async function groupsOfLeading(
  em: Executing,
  projectId: string,
  userIds: readonly string[],
  budget: number,
): Promise<Map<string, ShownGroup[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await read(em, projectId, userIds, budget + 1);
  if (rows.length <= budget) return byUser(userIds, rows);
  const elements = (id: Fragment) =>
    sql`select 1 from group_members m where m.project_id = ${projectId}::uuid and m.user_id = ${id}`;
  const leading = Math.max(1, await leadingWithin(em, userIds, elements, budget));
  const shown = userIds.slice(0, leading);
  return byUser(shown, await read(em, projectId, shown, Math.max(budget, mostGroups)));
}

interface GroupRow extends ShownGroup {
  user: string;
}

function read(em: Executing, projectId: string, userIds: readonly string[], most: number): Promise<GroupRow[]> {
  // `offset 0`: each user's groups are looked up, and reading ends at the limit.
  return query(
    em,
    sql<GroupRow>`select u.id as user, g.id, g.display_name as "displayName"
      from unnest(${userIds}::uuid[]) u(id)
        cross join lateral (${groupsOf(sql`${projectId}::uuid`, sql`u.id`)} offset 0) g
      limit ${most}::int`,
    { prepare: 'users.shown-groups' },
  );
}

function byUser(userIds: readonly string[], rows: readonly GroupRow[]): Map<string, ShownGroup[]> {
  const groups = new Map<string, ShownGroup[]>(userIds.map((id) => [id, []]));
  for (const { user, id, displayName } of rows) groups.get(user)?.push({ id, displayName });
  for (const each of groups.values()) each.sort((a, b) => (a.id < b.id ? -1 : 1));
  return groups;
}
