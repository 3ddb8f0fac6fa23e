import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

const tables = ['phone_changes', 'email_changes'] as const;

/**
 * Deletes the user's pending changes, except those of the sign-in `keepId`. Returns their `boundTo`, to delete their
 * codes.
 */
export async function endPendingChanges(em: EntityManager, user: TenantKey, keepId: string | null): Promise<string[]> {
  const ended = [];
  for (const name of tables) {
    const deletion = sql<{ place: string }>`
      delete from ${sql.table(name)} where ${ofUser(user)} and bound_to is distinct from ${keepId}::uuid
        returning bound_to as place`;
    ended.push(...(await query(em, deletion)));
  }
  return ended.map(({ place }) => place);
}

export const contactTables: UserTables = {
  tables,
  handOver: null,
  exportRows: {
    phoneChanges: (user) => sql`
      select c.id, c.phone, c.created_at as "createdAt", c.expires_at as "expiresAt"
      from phone_changes c where ${ofUser(user, 'c')}`,
    emailChanges: (user) => sql`
      select c.id, c.email, c.created_at as "createdAt", c.expires_at as "expiresAt"
      from email_changes c where ${ofUser(user, 'c')}`,
  },
};
