import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

/** The SMS factor follows the login phone: another person may have the old number by now. */
export async function followPhone(em: EntityManager, userId: string, before: string, after: string): Promise<void> {
  await execute(
    em,
    sql`update enrolments set phone = ${after} where user_id = ${userId} and method = 'sms' and phone = ${before}`,
  );
}

export const mfaTables: UserTables = {
  tables: ['enrolments', 'recovery_codes'],
  exportRows: {
    secondFactors: ({ id }) => sql`
      select f.id, f.method, f.phone, f.failures, f.locked_until as "lockedUntil", f.created_at as "createdAt",
        f.verified_at as "verifiedAt", f.last_used_at as "lastUsedAt"
      from enrolments f where f.user_id = ${id}`,
    recoveryCodes: ({ id }) => sql`
      select c.id, c.created_at as "createdAt", c.used_at as "usedAt" from recovery_codes c where c.user_id = ${id}`,
  },
};
