import { sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

export const delegationTables: UserTables = {
  tables: ['factor_changes'],
  exportRows: {
    factorChanges: ({ id }) => sql`
      select c.id, c.client_id as "clientId", c.attempts, c.created_at as "createdAt", c.expires_at as "expiresAt",
        c.finished_at as "finishedAt"
      from factor_changes c where c.user_id = ${id}`,
  },
};
