import { OnlineMigration } from './online.ts';

/**
 * Records of guests (decisions/0402). The previous release, while both run, takes one for a user without a login: issue tokens for
 * organizations after the last process has been updated.
 */
export class Migration20261130041200Guests extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "users" add column if not exists "account_id" uuid');
    const columns = '"project_id", "account_id", "organization_id"';
    await this.index('users', 'users_project_id_account_id_unique', columns, true, 'btree', '"account_id" is not null');
    await this.alter(
      'alter table "users" drop constraint if exists "users_project_id_account_id_foreign"',
      // Checked at the end: an import may write a record before its account.
      `alter table "users" add constraint "users_project_id_account_id_foreign" foreign key (project_id, account_id)
        references "users" (project_id, id) on delete cascade deferrable initially deferred not valid`,
    );
    await this.execute('alter table "users" validate constraint "users_project_id_account_id_foreign"');
    await this.alter(`create or replace function count_users() returns trigger language plpgsql as $$
      begin
        if current_setting('latchkey.users_counted', true) = 'on' then return null; end if;
        insert into user_counts as known (project_id, slot, users)
        select p.id, pg_backend_pid() % 16, count(*) * case tg_op when 'INSERT' then 1 else -1 end
        from changed c join projects p on p.id = c.project_id
        where c.account_id is null
        group by p.id
        on conflict (project_id, slot) do update set users = known.users + excluded.users;
        return null;
      end $$`);
  }
}
