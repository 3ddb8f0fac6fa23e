import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { ofUser, type UserTables } from '../../users/user-tables.ts';

/** Ends the keys of a user for good. */
function endKeys(em: EntityManager, user: TenantKey, now: Date): Promise<number> {
  return execute(em, sql`update user_keys set revoked_at = ${now} where ${ofUser(user)} and revoked_at is null`);
}

export const keyTables: UserTables = {
  tables: ['user_keys'],
  deactivate: endKeys,
  handOver: endKeys,
  exportRows: {
    apiKeys: (user) => sql`
      select k.id, k.api_id as "apiId", k.organization_id as "organizationId", k.name, k.scopes, k.networks,
        k.created_at as "createdAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
        k.last_used_address as "lastUsedAddress", k.revoked_at as "revokedAt"
      from user_keys k where ${ofUser(user, 'k')}`,
  },
};
