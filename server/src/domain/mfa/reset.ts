import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../kernel/sql.ts';

/** No device of the user skips the second factor any more (`remember_me`). Joins the caller's transaction. */
export async function forgetRemembered(em: EntityManager, userId: string): Promise<void> {
  await em.flush();
  await execute(
    em,
    sql`update devices set mfa_remembered_at = null, mfa_remembered_until = null
      where user_id = ${userId} and (mfa_remembered_at is not null or mfa_remembered_until is not null)`,
  );
}

/** Ends what stood in for a user's factors: remembered devices and recovery codes. Joins the caller's transaction. */
export async function endStandIns(em: EntityManager, userId: string): Promise<void> {
  await forgetRemembered(em, userId);
  await execute(em, sql`delete from recovery_codes where user_id = ${userId}`);
}
