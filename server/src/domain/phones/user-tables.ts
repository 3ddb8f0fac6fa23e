import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/**
 * Deletes the user's pending changes, except those of the sign-in `keepId`. Returns their `boundTo`, to delete their
 * codes.
 */
export async function endPhoneChanges(em: EntityManager, user: TenantKey, keepId: string | null): Promise<string[]> {
  const ended = await query(
    em,
    sql<{ place: string }>`
      delete from phone_changes where ${ofUser(user)} and bound_to is distinct from ${keepId}::uuid
        returning bound_to as place`,
  );
  return ended.map(({ place }) => place);
}

export const phoneTables: UserTables = {
  tables: ['phone_changes'],
  exportRows: {
    phoneChanges: (user) => sql`
      select c.id, c.phone, c.created_at as "createdAt", c.expires_at as "expiresAt"
      from phone_changes c where ${ofUser(user, 'c')}`,
  },
};
