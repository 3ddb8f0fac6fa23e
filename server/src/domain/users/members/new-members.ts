import { type Executing, execute, sql } from '../../kernel/sql.ts';

/** Joins: makes new users members of groups at home in the project. */
export async function addNewMembers(
  on: Executing,
  projectId: string,
  members: readonly { groupId: string; userId: string }[],
  now: Date,
): Promise<void> {
  if (members.length === 0) return;
  const [groups, users] = [members.map(({ groupId }) => groupId), members.map(({ userId }) => userId)];
  await execute(
    on,
    sql`with changed as (
        update groups set version = version + 1, updated_at = ${now}
        where project_id = ${projectId}::uuid and organization_id is null and id = any(${groups}::uuid[]) returning id)
      insert into group_members (project_id, group_id, user_id, created_at)
      select ${projectId}::uuid, m.group_id, m.user_id, ${now}::timestamptz
      from unnest(${groups}::uuid[], ${users}::uuid[]) as m(group_id, user_id) where m.group_id in (select id from changed)`,
    { prepare: 'groups.new-members' },
  );
}
