import { type Fragment, type Statement, sql } from '../kernel/sql.ts';

/** Maximum depth to which groups in groups are followed. */
const maxNesting = 10;
/** Maximum number of a user's groups that are followed; each counts once per level. */
const maxFollowed = 5000;

/**
 * SQL: `group_id` of the groups of a user, and of those that contain them, in one recursive statement. Ends on cycles, by the
 * number of levels and of groups.
 */
export function groupsOf(projectId: string | Fragment, userId: string | Fragment): Fragment {
  return sql`select distinct group_id from (
      with recursive held(group_id, level) as (
        select group_id, 1 from group_members where project_id = ${projectId}::uuid and user_id = ${userId}::uuid
        union select n.group_id, h.level + 1 from held h
          join group_nestings n on n.project_id = ${projectId}::uuid and n.member_id = h.group_id
          where h.level < ${sql.raw(String(maxNesting))}
      )
      select group_id from held limit ${sql.raw(String(maxFollowed))}) followed`;
}

/** SQL: `id` of groups and of those in them, to the same depth as {@link groupsOf}. @param groups SQL: `id` of the first ones */
export function insideGroups(projectId: string, groups: Fragment): Fragment {
  return sql`with recursive inside(id, level) as (
      select id, 1 from (${groups}) outermost
      union select n.member_id, i.level + 1 from inside i
        join group_nestings n on n.project_id = ${projectId}::uuid and n.group_id = i.id
        where i.level < ${sql.raw(String(maxNesting))}
    )
    select distinct id from inside`;
}

/** SQL: whether a group contains itself, directly or through groups. */
export function containsItself(projectId: string, groupId: string): Fragment {
  return sql`exists (
      with recursive inside(id, level) as (
        select member_id, 1 from group_nestings where project_id = ${projectId}::uuid and group_id = ${groupId}::uuid
        union select n.member_id, i.level + 1 from inside i
          join group_nestings n on n.project_id = ${projectId}::uuid and n.group_id = i.id
          where i.level < ${sql.raw(String(maxNesting))}
      )
      select 1 from (select id from inside limit ${sql.raw(String(maxFollowed))}) followed where id = ${groupId}::uuid)`;
}

/** SQL over the row `r` of a group: its members with `member_id` and `kind`. */
export const membersOfRow = `(select m.project_id, m.user_id as member_id, 'User'::text as kind from group_members m
    where m.project_id = r.project_id and m.group_id = r.id
  union all select n.project_id, n.member_id, 'Group'::text from group_nestings n
    where n.project_id = r.project_id and n.group_id = r.id)`;

/** SQL: members of groups of the projects who are at another home than the group; there must be none. */
export function membersElsewhere(projectIds: readonly string[]): Statement<{ groupId: string; memberId: string }> {
  const isOf = sql`g.project_id = any(${projectIds}::uuid[])
    and exists (select 1 from organizations x where x.project_id = g.project_id)
    and o.organization_id is distinct from g.organization_id`;
  return sql<{ groupId: string; memberId: string }>`
    select g.id as "groupId", o.id as "memberId" from groups g
      join group_members m on m.project_id = g.project_id and m.group_id = g.id
      join users o on o.project_id = m.project_id and o.id = m.user_id
    where ${isOf}
    union all select g.id, o.id from groups g
      join group_nestings n on n.project_id = g.project_id and n.group_id = g.id
      join groups o on o.project_id = n.project_id and o.id = n.member_id
    where ${isOf}
    limit 1`;
}
