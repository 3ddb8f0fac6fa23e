import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRemembered } from '../credentials/user-tables.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/**
 * Moves the SMS factor to the new login phone, like `Mfa.moveSms`: the old number may belong to another person by now.
 * Without one, the factor has no number: it is suspended, neither required nor accepted, until the user has a phone again.
 */
export async function followPhone(
  em: EntityManager,
  user: TenantKey,
  before: string | null,
  after: string | null,
): Promise<void> {
  const moved = await execute(
    em,
    sql`update enrolments set phone = ${after}
      where ${ofUser(user)} and method = 'sms' and phone is not distinct from ${before}::text`,
  );
  if (moved > 0) await forgetRemembered(em, user);
}

/** Deletes suspended SMS factors: another factor replaces them, or all are removed. */
export async function endSuspendedSms(em: EntityManager, user: TenantKey): Promise<void> {
  await execute(
    em,
    sql`delete from enrolments where ${ofUser(user)} and method = 'sms' and phone is null and verified_at is not null`,
  );
}

/** Deletes unverified factors, except those of the sign-in `keepId`. */
export async function endUnverified(em: EntityManager, user: TenantKey, keepId: string | null): Promise<void> {
  await execute(
    em,
    sql`delete from enrolments where ${ofUser(user)} and verified_at is null
      and (ceremony_id is null or ceremony_id is distinct from ${keepId}::uuid)`,
  );
}

/** Ends the open recovery grant. */
export async function endGrants(em: EntityManager, user: TenantKey, now: Date): Promise<void> {
  await execute(
    em,
    sql`update recovery_grants set ended_at = ${now} where ${ofUser(user)} and used_at is null and ended_at is null`,
  );
}

export const mfaTables: UserTables = {
  tables: ['enrolments', 'recovery_codes', 'factor_changes', 'recovery_grants'],
  deactivate: endGrants,
  handOver: async (em, user, now) => {
    await endGrants(em, user, now);
    await execute(em, sql`delete from enrolments where ${ofUser(user)}`);
    await execute(em, sql`delete from recovery_codes where ${ofUser(user)}`);
  },
  exportRows: {
    secondFactors: (user) => sql`
      select f.id, f.method, f.phone, f.failures, f.locked_until as "lockedUntil", f.created_at as "createdAt",
        f.verified_at as "verifiedAt", f.last_used_at as "lastUsedAt"
      from enrolments f where ${ofUser(user, 'f')}`,
    recoveryGrants: (user) => sql`
      select g.id, g.reason, g.created_at as "createdAt", g.usable_at as "usableAt", g.expires_at as "expiresAt",
        g.used_at as "usedAt", g.ended_at as "endedAt"
      from recovery_grants g where ${ofUser(user, 'g')}`,
    recoveryCodes: (user) => sql`
      select c.id, c.created_at as "createdAt", c.used_at as "usedAt" from recovery_codes c where ${ofUser(user, 'c')}`,
    factorChanges: (user) => sql`
      select c.id, c.client_id as "clientId", c.attempts, c.created_at as "createdAt", c.expires_at as "expiresAt",
        c.finished_at as "finishedAt"
      from factor_changes c where ${ofUser(user, 'c')}`,
  },
};
