import { Migration } from '@mikro-orm/migrations';

/** Keeps the number of each project's users, which each page of a list shows. */
export class Migration20261121000102UserCounts extends Migration {
  override up(): void {
    this.addSql(
      `create table "user_counts" ("project_id" uuid not null, "slot" smallint not null, "users" int not null, primary key ("project_id", "slot"))`,
    );
    this.addSql(
      `alter table "user_counts" add constraint "user_counts_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
    this.addSql(
      `insert into user_counts (project_id, slot, users) select project_id, 0, count(*) from users group by project_id`,
    );
    // The deletion of a project deletes its counts, so users that are deleted with it are not counted.
    this.addSql(`
      create function count_users() returns trigger language plpgsql as $$
      begin
        insert into user_counts as known (project_id, slot, users)
        select p.id, pg_backend_pid() % 16, count(*) * case tg_op when 'INSERT' then 1 else -1 end
        from changed c join projects p on p.id = c.project_id
        group by p.id
        on conflict (project_id, slot) do update set users = known.users + excluded.users;
        return null;
      end $$`);
    this.addSql(
      `create trigger users_count_insert after insert on users referencing new table as changed for each statement execute function count_users()`,
    );
    this.addSql(
      `create trigger users_count_delete after delete on users referencing old table as changed for each statement execute function count_users()`,
    );
  }
}
