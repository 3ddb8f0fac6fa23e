import { execute, sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

export const deviceTables: UserTables = {
  tables: ['devices'],
  deactivate: (em, { id }, now) =>
    execute(em, sql`update devices set revoked_at = ${now} where user_id = ${id} and revoked_at is null`),
  exportRows: {
    devices: ({ id }) => sql`
      select d.id, d.name, d.client_id as "clientId", d.jkt as "keyThumbprint", d.user_agent as "userAgent",
        d.trusted_until as "trustedUntil", d.registered_at as "registeredAt",
        d.mfa_remembered_at as "mfaRememberedAt", d.mfa_remembered_until as "mfaRememberedUntil",
        d.created_at as "createdAt", d.last_used_at as "lastUsedAt", d.revoked_at as "revokedAt"
      from devices d where d.user_id = ${id}`,
  },
};
