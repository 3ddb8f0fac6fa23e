import { sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

export const tokenTables: UserTables = {
  tables: ['authorization_codes'],
  exportRows: {
    authorizationCodes: ({ id }) => sql`
      select c.id, c.client_id as "clientId", c.session_id as "sessionId", c.scope, c.created_at as "createdAt",
        c.used_at as "usedAt", c.revoked_at as "revokedAt"
      from authorization_codes c where c.user_id = ${id}`,
  },
};
