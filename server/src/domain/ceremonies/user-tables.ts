import { execute, query, sql } from '../kernel/sql.ts';
import { eraseCodes } from '../otp/user-tables.ts';
import { loginAddresses, type UserTables } from '../users/user-tables.ts';

/** `Accounts` ends open sign-ins first (`endOpenWork`). */
export const ceremonyTables: UserTables = {
  tables: ['ceremonies', 'authorization_requests'],
  erase: async (em, user) => {
    const { id, project } = user;
    const erased = await query(
      em,
      sql<{ id: string }>`
        delete from ceremonies
        where project_id = ${project.id}
          and (user_id = ${id} or account_id = ${id} or address = any(${loginAddresses(user)}::text[]))
        returning id`,
    );
    await eraseCodes(
      em,
      user,
      erased.map((ceremony) => ceremony.id),
    );
    await execute(
      em,
      sql`delete from authorization_requests where project_id = ${project.id} and hinted_user_id = ${id}`,
    );
  },
  exportRows: {
    signInsUnderWay: (user) => sql`
      select c.id, c.client_id as "clientId", c.state, c.origin, c.address, c.evidence, c.created_at as "createdAt",
        c.expires_at as "expiresAt", c.finished_at as "finishedAt"
      from ceremonies c
      where c.project_id = ${user.project.id} and (c.user_id = ${user.id} or c.account_id = ${user.id}
        or (coalesce(c.user_id, c.account_id) is null and c.address = any(${loginAddresses(user)}::text[])))`,
  },
};
