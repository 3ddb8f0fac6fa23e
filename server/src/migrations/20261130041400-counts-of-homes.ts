import { OnlineMigration } from './online.ts';

/**
 * The number of users at home in organizations, and the list of those at home in the project, for its own directory. The previous release,
 * while both run, creates users at home in the project only.
 */
export class Migration20261130041400CountsOfHomes extends OnlineMigration {
  override async up(): Promise<void> {
    const isOfProject = '"organization_id" is null';
    await this.index(
      'users',
      'users_project_id_id_of_project_index',
      '"project_id", "id"',
      false,
      'btree',
      isOfProject,
    );
    await this.alter(
      'alter table "user_counts" add column if not exists "in_organizations" int not null default 0',
      `create or replace function count_users() returns trigger language plpgsql as $$
      begin
        if current_setting('latchkey.users_counted', true) = 'on' then return null; end if;
        insert into user_counts as known (project_id, slot, users, in_organizations)
        select p.id, pg_backend_pid() % 16, count(*) * case tg_op when 'INSERT' then 1 else -1 end,
          count(c.organization_id) * case tg_op when 'INSERT' then 1 else -1 end
        from changed c join projects p on p.id = c.project_id
        where c.account_id is null
        group by p.id
        on conflict (project_id, slot) do update set users = known.users + excluded.users,
          in_organizations = known.in_organizations + excluded.in_organizations;
        return null;
      end $$`,
    );
  }
}
