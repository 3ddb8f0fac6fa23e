import { type Fragment, sql } from '../kernel/sql.ts';
import { erasedCodes } from '../otp/user-tables.ts';
import { type ErasedUsers, loginAddresses, ofUsers, type UserTables } from '../users/user-tables.ts';

/**
 * SQL: locks the sign-ins of the row `r` of `users`: an erasure waits for their steps, and locks in the same order as a
 * step.
 */
export const lockedSignIns: Fragment = sql`
  select id from ceremonies
  where project_id = r.project_id and (user_id = r.id or account_id = r.id or address = any(array[r.user_name_key, r.email_key]))
  order by id for no key update`;

/** SQL condition: sign-ins of the users, or with one of their addresses. */
function signInsOf({ projectId, ids, users }: ErasedUsers): Fragment {
  return sql`project_id = ${projectId} and (user_id = any(${ids}::uuid[]) or account_id = any(${ids}::uuid[])
    or address = any(${users.flatMap(loginAddresses)}::text[]))`;
}

export const ceremonyTables: UserTables = {
  tables: ['ceremonies', 'authorization_requests'],
  handOver: null,
  erase: (erased) => [
    sql`delete from ceremonies where ${signInsOf(erased)}`,
    erasedCodes(
      erased,
      sql`select id from ceremonies where ${signInsOf(erased)}
        union all select bound_to from phone_changes where ${ofUsers(erased)}
        union all select id from factor_changes where ${ofUsers(erased)}`,
    ),
    sql`delete from authorization_requests
      where project_id = ${erased.projectId} and hinted_user_id = any(${erased.ids}::uuid[])`,
  ],
  exportRows: {
    signInsUnderWay: (user) => sql`
      select c.id, c.client_id as "clientId", c.state, c.origin, c.address, c.evidence, c.created_at as "createdAt",
        c.expires_at as "expiresAt", c.finished_at as "finishedAt"
      from ceremonies c
      where c.project_id = ${user.project.id} and (c.account_id = ${user.id}
        or (c.account_id is null and c.address = any(${loginAddresses(user)}::text[])))`,
  },
};
