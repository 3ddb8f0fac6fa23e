import { type Fragment, sql } from '../kernel/sql.ts';

/**
 * SQL: adds `change` to the number of users for each user of `from` (`project_id`, `account_id`), which the same statement inserted into
 * `users` or deleted from it. The setting lasts for the transaction: the triggers on `users`, which count the rows of an
 * import, then do nothing.
 */
export function countedUsers(from: Fragment, change: 1 | -1): Fragment {
  return sql`insert into user_counts as known (project_id, slot, users)
    select project_id, pg_backend_pid() % 16, count(*) filter (where account_id is null) * ${sql.lit(change)} from ${from} group by project_id
    having set_config('latchkey.users_counted', 'on', true) = 'on'
    on conflict (project_id, slot) do update set users = known.users + excluded.users`;
}
