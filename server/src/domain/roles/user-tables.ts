import { sql } from '../kernel/sql.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** Assignments stay while a user is deactivated, and are deleted with the user. */
export const roleTables: UserTables = {
  tables: ['role_assignments'],
  handOver: null,
  exportRows: {
    roles: (user) => sql`
      select a.id, k.client_id as "clientId", k.key, k.name, a.created_at as "since"
      from role_assignments a join client_roles k on k.project_id = a.project_id and k.id = a.role_id
      where ${ofUser(user, 'a')}`,
  },
};
