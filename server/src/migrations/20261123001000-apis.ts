import { OnlineMigration } from './online.ts';

/**
 * APIs, and tokens of clients for them. The previous release issues none; its revocation endpoint cannot read their rows,
 * which it deletes when they expire.
 */
export class Migration20261123001000Apis extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "apis" ("project_id" uuid not null, "id" uuid not null, "identifier" text not null,
        "name" text not null, "scopes" jsonb not null, "access_token_ttl_seconds" int not null,
        "version" int not null default 1, "created_at" timestamptz not null, "updated_at" timestamptz not null,
        primary key ("project_id", "id"),
        constraint "apis_project_id_identifier_unique" unique ("project_id", "identifier"),
        constraint "apis_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade)`,
      `create table if not exists "api_grants" ("project_id" uuid not null, "client_id" uuid not null, "api_id" uuid not null,
        "scopes" text[] not null, "introspects" boolean not null, "created_at" timestamptz not null,
        "updated_at" timestamptz not null, primary key ("project_id", "client_id", "api_id"),
        constraint "api_grants_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade,
        constraint "api_grants_project_id_api_id_foreign" foreign key ("project_id", "api_id")
          references "apis" ("project_id", "id") on delete cascade)`,
      `create index if not exists "api_grants_project_id_api_id_index" on "api_grants" ("project_id", "api_id")`,
      ...['apis', 'api_grants'].flatMap((name) => [
        `alter table "${name}" enable row level security`,
        `drop policy if exists "project" on "${name}"`,
        `create policy "project" on "${name}" using (project_id::text in (current_setting('latchkey.project', true)))`,
      ]),
      `alter table "authorization_codes" alter column "user_id" drop not null`,
    );
  }
}
