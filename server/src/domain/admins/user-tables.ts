import { sql } from '../kernel/sql.ts';
import type { UserTables } from '../users/user-tables.ts';

export const adminTables: UserTables = {
  tables: ['memberships', 'admin_tokens'],
  // `Accounts` ends the roles and tokens, with their events.
  handOver: null,
  exportRows: {
    adminRoles: ({ id, project }) => sql`
      select m.id, m.role, m.project_id as "projectId", m.organization_ids as "organizationIds", m.created_at as "createdAt"
      from memberships m where m.user_project_id = ${project.id} and m.user_id = ${id}`,
    adminTokens: ({ id }) => sql`
      select t.id, t.name, t.role, t.project_id as "projectId", t.organization_ids as "organizationIds",
        t.created_at as "createdAt",
        t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt", t.revoked_at as "revokedAt"
      from admin_tokens t where t.created_by_id = ${id}`,
  },
};
