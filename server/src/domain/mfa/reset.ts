import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRemembered } from '../devices/user-tables.ts';
import { execute, sql } from '../kernel/sql.ts';

/** Clears a user's remembered devices and recovery codes. Joins the caller's transaction. */
export async function endStandIns(em: EntityManager, userId: string): Promise<void> {
  await forgetRemembered(em, userId);
  await execute(em, sql`delete from recovery_codes where user_id = ${userId}`);
}
