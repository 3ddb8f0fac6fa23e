import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Revokes the user's codes and their access tokens. */
export async function revokeCodes(em: EntityManager, user: TenantKey, now: Date): Promise<void> {
  await execute(
    em,
    sql`update authorization_codes set revoked_at = ${now} where ${ofUser(user)} and revoked_at is null`,
  );
}

export const tokenTables: UserTables = {
  tables: ['authorization_codes'],
  exportRows: {
    authorizationCodes: (user) => sql`
      select c.id, c.client_id as "clientId", c.session_id as "sessionId", c.scope, c.created_at as "createdAt",
        c.used_at as "usedAt", c.revoked_at as "revokedAt"
      from authorization_codes c where ${ofUser(user, 'c')}`,
  },
};
