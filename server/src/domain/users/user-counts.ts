import { type Fragment, sql } from '../kernel/sql.ts';

/**
 * SQL: adds `change` to the number of users for each user of `from` (`project_id`, `organization_id`, `account_id`), which the same statement inserted into
 * `users` or deleted from it. The setting lasts for the transaction: the triggers on `users`, which count the rows of an
 * import, then do nothing.
 */
export function countedUsers(from: Fragment, change: 1 | -1): Fragment {
  return sql`insert into user_counts as known (project_id, slot, users, in_organizations)
    select project_id, pg_backend_pid() % 16, count(*) filter (where account_id is null) * ${sql.lit(change)},
      count(organization_id) filter (where account_id is null) * ${sql.lit(change)} from ${from} group by project_id
    having set_config('latchkey.users_counted', 'on', true) = 'on'
    on conflict (project_id, slot) do update set users = known.users + excluded.users,
      in_organizations = known.in_organizations + excluded.in_organizations`;
}

/** SQL: adds `change` to the number of users at home in organizations for each row of `from` (`project_id`), who move home. */
export function countedMoves(from: Fragment, change: 1 | -1): Fragment {
  return sql`insert into user_counts as known (project_id, slot, users, in_organizations)
    select project_id, pg_backend_pid() % 16, 0, count(*) * ${sql.lit(change)} from ${from} group by project_id
    on conflict (project_id, slot) do update set in_organizations = known.in_organizations + excluded.in_organizations`;
}

/** SQL: counts the users of projects at home in organizations again, after an import. */
export function recountedMoves(projectIds: readonly string[]): Fragment {
  return sql`update user_counts c set in_organizations = case when c.slot = (select min(f.slot) from user_counts f
      where f.project_id = c.project_id) then (select count(*) from users u
        where u.project_id = c.project_id and u.organization_id is not null and u.account_id is null) else 0 end
    where c.project_id = any(${projectIds}::uuid[])`;
}
