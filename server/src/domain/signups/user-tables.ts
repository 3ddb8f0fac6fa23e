import { sql } from '../kernel/sql.ts';
import { loginAddresses, type UserTables } from '../users/user-tables.ts';

/** A request of the address of a user whom a directory or an admin has created meanwhile. */
export const signUpTables: UserTables = {
  tables: ['sign_up_requests'],
  handOver: null,
  erase: ({ projectId, users }) => [
    sql`delete from sign_up_requests
      where project_id = ${projectId} and address_key = any(${users.flatMap(loginAddresses)}::text[])`,
  ],
  exportRows: {
    signUpRequests: (user) => sql`
      select id, address, state, created_at as "createdAt", expires_at as "expiresAt" from sign_up_requests
      where project_id = ${user.project.id} and address_key = any(${loginAddresses(user)}::text[])`,
  },
};
