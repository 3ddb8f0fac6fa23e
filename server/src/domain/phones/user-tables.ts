import { sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

export const phoneTables: UserTables = {
  tables: ['phone_changes'],
  exportRows: {
    phoneChanges: ({ id }) => sql`
      select c.id, c.phone, c.created_at as "createdAt", c.expires_at as "expiresAt"
      from phone_changes c where c.user_id = ${id}`,
  },
};
