import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../kernel/clock.ts';
import { type Executing, execute, type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { heldSeconds } from '../users/suspension/hands.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Clears `remember_me` on all devices of the user. Joins the caller's transaction. */
export async function forgetRemembered(em: EntityManager, user: TenantKey): Promise<void> {
  await em.flush();
  await execute(
    em,
    sql`update credentials set mfa_remembered_at = null, mfa_remembered_until = null
      where ${ofUser(user)} and (mfa_remembered_at is not null or mfa_remembered_until is not null)`,
  );
}

/** Ends the suspension of the user's devices, except of those suspended too long. Their trust has not been extended in the meantime. */
export async function restoreDevices(em: EntityManager, user: TenantKey, now: Date): Promise<void> {
  await execute(
    em,
    sql`update credentials set suspended_at = null
      where ${ofUser(user)} and suspended_at > ${secondsLater(now, -heldSeconds)} and revoked_at is null`,
  );
}

/** Revokes the device keys of a custom domain, and its passkeys if `withPasskeys`. @param at.isOver condition on their time */
export async function revokeCredentialsAt(
  on: Executing,
  at: { projectId: string; domain: string; withPasskeys: boolean; isOver(createdAt: Fragment): Fragment },
  now: Date,
): Promise<void> {
  const kinds = at.withPasskeys ? ['device-key', 'passkey'] : ['device-key'];
  await execute(
    on,
    sql`update credentials k set revoked_at = ${now}
      where project_id = ${at.projectId} and domain = ${at.domain} and domain is not null and kind = any(${kinds}::text[])
        and revoked_at is null and ${at.isOver(sql`k.created_at`)}`,
  );
}

export const deviceTables: UserTables = {
  tables: ['credentials'],
  // Passkeys stay, like second factors: without them, the mailbox would be enough after the user is activated again.
  deactivate: (em, user, now, isByDirectory) => {
    const devices = sql`${ofUser(user)} and kind = 'device-key' and revoked_at is null`;
    // One that is suspended already was not restored: it keeps its earlier time.
    const statement = isByDirectory
      ? sql`update credentials set suspended_at = coalesce(suspended_at, ${now}::timestamptz), mfa_remembered_at = null,
          mfa_remembered_until = null where ${devices}`
      : sql`update credentials set revoked_at = ${now} where ${devices}`;
    return execute(em, statement);
  },
  handOver: (em, user, now) =>
    execute(em, sql`update credentials set revoked_at = ${now} where ${ofUser(user)} and revoked_at is null`),
  exportRows: {
    devices: (user) => sql`
      select d.id, d.name, d.client_id as "clientId", d.jkt as "keyThumbprint", d.user_agent as "userAgent",
        d.domain, d.trusted_until as "trustedUntil", d.registered_at as "registeredAt",
        d.mfa_remembered_at as "mfaRememberedAt", d.mfa_remembered_until as "mfaRememberedUntil",
        d.created_at as "createdAt", d.last_used_at as "lastUsedAt",
        d.suspended_at as "suspendedAt", d.revoked_at as "revokedAt"
      from credentials d where ${ofUser(user, 'd')} and d.kind = 'device-key'`,
    passkeys: (user) => sql`
      select k.id, k.name, k.domain, k.credential_id as "credentialId", k.aaguid, k.attested_root as "attestedRoot", k.user_agent as "userAgent",
        k.backup_eligible as "backupEligible", k.backed_up as "backedUp", k.user_verified as "userVerified",
        k.created_by as "createdBy",
        k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt"
      from credentials k where ${ofUser(user, 'k')} and k.kind = 'passkey'`,
  },
};
