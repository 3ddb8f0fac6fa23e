import { sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

/** Deliveries outlive the user: clients must still be notified. */
export const logoutTables: UserTables = {
  tables: ['logout_deliveries'],
  handOver: null,
  exportRows: {
    logoutDeliveries: ({ id, project }) => sql`
      select l.id, l.client_id as "clientId", l.sid, l.uri, l.state, l.created_at as "createdAt",
        l.delivered_at as "deliveredAt"
      from logout_deliveries l where l.project_id = ${project.id} and l.subject = ${id}`,
  },
};
