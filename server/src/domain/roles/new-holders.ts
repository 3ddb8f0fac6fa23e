import { type Executing, execute, sql } from '../kernel/sql.ts';

/** Joins: gives new users roles of the project. */
export async function addRoleHolders(
  on: Executing,
  projectId: string,
  holders: readonly { id: string; roleId: string; userId: string }[],
  now: Date,
): Promise<void> {
  if (holders.length === 0) return;
  await execute(
    on,
    sql`insert into role_assignments (project_id, id, role_id, user_id, created_at)
      select ${projectId}::uuid, h.id, h.role_id, h.user_id, ${now}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(holders.map(({ id, roleId, userId }) => ({ id, role_id: roleId, user_id: userId })))}::jsonb)
        as h(id uuid, role_id uuid, user_id uuid)`,
    { prepare: 'roles.new-holders' },
  );
}
