import { sql } from '../kernel/sql.ts';
import { loginAddresses, type UserTables } from '../users/user-tables.ts';

/** A link belongs to an organization, not to a user: only its address can be that of a user. */
export const portalTables: UserTables = {
  tables: ['portal_links'],
  handOver: null,
  erase: ({ projectId, users }) => [
    sql`delete from portal_links where project_id = ${projectId} and email_key = any(${users.flatMap(loginAddresses)}::text[])`,
  ],
  exportRows: {
    portalLinks: (user) => sql`
      select id, email, created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt"
      from portal_links where project_id = ${user.project.id} and email_key = any(${loginAddresses(user)}::text[])`,
  },
};
