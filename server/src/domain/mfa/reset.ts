import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRemembered } from '../credentials/user-tables.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser } from '../users/user-tables.ts';
import { endSuspendedSms } from './user-tables.ts';

/** Clears a user's remembered devices, recovery codes and suspended SMS factor. Joins the caller's transaction. */
export async function endStandIns(em: EntityManager, user: TenantKey): Promise<void> {
  await forgetRemembered(em, user);
  await endSuspendedSms(em, user);
  await execute(em, sql`delete from recovery_codes where ${ofUser(user)}`);
}
