import { OnlineMigration } from './online.ts';

/**
 * The identities of inactive users at their deactivation (decisions/0300). Those of users who are inactive already are
 * their current ones. The previous release writes no rows; a change of such a user then counts at once.
 */
export class Migration20261128031500Suspensions extends OnlineMigration {
  override async up(): Promise<void> {
    const index = (column: string) =>
      `create index if not exists "suspensions_project_id_${column}_index" on "suspensions" ("project_id", "${column}")`;
    await this.alter(
      `create table if not exists "suspensions" ("project_id" uuid not null, "user_id" uuid not null,
        "suspended_at" timestamptz not null, "user_name_key" text not null, "email_key" text null, "phone" text null,
        "external_id" text null, constraint "suspensions_pkey" primary key ("project_id", "user_id"))`,
      ...['user_name_key', 'email_key', 'phone'].map(index),
      `alter table "suspensions" enable row level security`,
      `drop policy if exists "project" on "suspensions"`,
      `create policy "project" on "suspensions" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
    await this.foreignKey('suspensions', ['project_id', 'user_id'], 'users', ['project_id', 'id']);
    await this.execute(
      `insert into "suspensions" ("project_id", "user_id", "suspended_at", "user_name_key", "email_key", "phone", "external_id")
        select "project_id", "id", "updated_at", "user_name_key", "email_key", "phone", "external_id" from "users"
        where not "active" on conflict do nothing`,
    );
  }
}
