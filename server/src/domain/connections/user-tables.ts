import { execute, sql } from '../kernel/sql.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Identities stay while a user is deactivated, belong to the person who proved them, and are deleted with the user. */
export const identityTables: UserTables = {
  tables: ['identities'],
  handOver: (em, user) => execute(em, sql`delete from identities where ${ofUser(user)}`),
  exportRows: {
    identities: (user) => sql`
      select i.id, i.connection_id as "connectionId", i.issuer, i.subject, i.label, i.created_at as "createdAt",
        i.last_used_at as "lastUsedAt"
      from identities i where ${ofUser(user, 'i')}`,
  },
};
