import { OnlineMigration } from './online.ts';

/** Pending changes of the users' own email addresses (decisions/0242). */
export class Migration20261127060000EmailChanges extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "email_changes" ("project_id" uuid not null, "id" uuid not null,
        "user_id" uuid not null, "bound_to" uuid not null, "email" text not null,
        "created_at" timestamptz not null, "expires_at" timestamptz not null,
        constraint "email_changes_pkey" primary key ("project_id", "id"),
        constraint "email_changes_project_id_bound_to_unique" unique ("project_id", "bound_to"))`,
      `create index if not exists "email_changes_project_id_user_id_index" on "email_changes" ("project_id", "user_id")`,
      `create index if not exists "email_changes_expires_at_index" on "email_changes" ("expires_at")`,
      `alter table "email_changes" enable row level security`,
      `drop policy if exists "project" on "email_changes"`,
      `create policy "project" on "email_changes" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
    await this.foreignKey('email_changes', ['project_id', 'user_id'], 'users', ['project_id', 'id']);
  }
}
