import { sql } from '../kernel/sql.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Rules stay while a user is deactivated, and are deleted with the user. */
export const accessTables: UserTables = {
  tables: ['access_rules'],
  handOver: null,
  exportRows: {
    access: (user) => sql`
      select r.id, r.client_id as "clientId", r.created_at as "since" from access_rules r where ${ofUser(user, 'r')}`,
  },
};
