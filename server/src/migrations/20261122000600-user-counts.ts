import { Migration } from '@mikro-orm/migrations';

/**
 * The triggers count the users of the previous release only. This release counts next to each insert and delete, and
 * marks its transactions with a setting (`domain/users/user-counts.ts`). The next release drops triggers and setting.
 */
export class Migration20261122000600UserCounts extends Migration {
  override up(): void {
    this.addSql(`
      create or replace function count_users() returns trigger language plpgsql as $$
      begin
        if current_setting('latchkey.users_counted', true) = 'on' then return null; end if;
        insert into user_counts as known (project_id, slot, users)
        select p.id, pg_backend_pid() % 16, count(*) * case tg_op when 'INSERT' then 1 else -1 end
        from changed c join projects p on p.id = c.project_id
        group by p.id
        on conflict (project_id, slot) do update set users = known.users + excluded.users;
        return null;
      end $$`);
  }
}
