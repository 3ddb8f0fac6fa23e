import { OnlineMigration } from './online.ts';

/**
 * Third-party applications, and their users' consents. The previous release asks for no consent, so mark applications only
 * after it is gone: this release refuses the codes that it issues to them.
 */
export class Migration20261123001300Consents extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "consents" ("project_id" uuid not null, "id" uuid not null, "client_id" uuid not null,
        "user_id" uuid not null, "scopes" text[] not null, "created_at" timestamptz not null, "updated_at" timestamptz not null,
        primary key ("project_id", "id"),
        constraint "consents_project_id_user_id_client_id_unique" unique ("project_id", "user_id", "client_id"),
        constraint "consents_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade,
        constraint "consents_project_id_user_id_foreign" foreign key ("project_id", "user_id")
          references "users" ("project_id", "id") on delete cascade)`,
      `create index if not exists "consents_project_id_client_id_index" on "consents" ("project_id", "client_id")`,
      `alter table "consents" enable row level security`,
      `drop policy if exists "project" on "consents"`,
      `create policy "project" on "consents" using (project_id::text in (current_setting('latchkey.project', true)))`,
      `alter table "clients" add column if not exists "third_party" boolean not null default false`,
      `alter table "authorization_requests" add column if not exists "session_id" uuid null,
        add column if not exists "asks_consent" boolean not null default false,
        add column if not exists "decided_by" uuid null, add column if not exists "is_allowed" boolean null`,
    );
  }
}
