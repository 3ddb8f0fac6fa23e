import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser } from '../users/user-tables.ts';

/** Counts an attempt at the code of a change. */
export async function countChangeTry(em: EntityManager, change: TenantKey): Promise<void> {
  await execute(
    em,
    sql`update factor_changes set attempts = attempts + 1 where project_id = ${change.project.id} and id = ${change.id}`,
  );
}

/** Deletes the user's unfinished factor changes, except `keepId`. Returns their ids, for deleting their codes. */
export async function endFactorChanges(em: EntityManager, user: TenantKey, keepId: string | null): Promise<string[]> {
  const ended = await query(
    em,
    sql<{ id: string }>`
      delete from factor_changes where ${ofUser(user)} and finished_at is null
          and id is distinct from ${keepId}::uuid
        returning id`,
  );
  return ended.map(({ id }) => id);
}
