import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRemembered } from '../credentials/user-tables.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser } from '../users/user-tables.ts';

/** Clears a user's remembered devices and recovery codes. Joins the caller's transaction. */
export async function endStandIns(em: EntityManager, user: TenantKey): Promise<void> {
  await forgetRemembered(em, user);
  await execute(em, sql`delete from recovery_codes where ${ofUser(user)}`);
}
