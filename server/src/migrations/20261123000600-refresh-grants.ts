import { OnlineMigration } from './online.ts';

/** Refresh tokens. The previous release issues none and revokes none: revoke its users' access again after a rollback. */
export class Migration20261123000600RefreshGrants extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "refresh_grants" ("project_id" uuid not null, "id" uuid not null, "family_hash" text not null,
        "client_id" uuid not null, "user_id" uuid not null, "session_id" uuid null, "offline" boolean not null, "issuer" text null,
        "scope" text not null, "auth_time" timestamptz not null, "amr" text[] not null, "acr" text null,
        "current_hash" text not null, "previous_hash" text null, "rotated_at" timestamptz null,
        "created_at" timestamptz not null, "last_used_at" timestamptz not null, "revoked_at" timestamptz null,
        primary key ("project_id", "id"),
        constraint "refresh_grants_project_id_family_hash_unique" unique ("project_id", "family_hash"),
        constraint "refresh_grants_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade,
        constraint "refresh_grants_project_id_user_id_foreign" foreign key ("project_id", "user_id")
          references "users" ("project_id", "id") on delete cascade)`,
      `create index if not exists "refresh_grants_project_id_user_id_index" on "refresh_grants" ("project_id", "user_id")`,
      `create index if not exists "refresh_grants_project_id_client_id_index" on "refresh_grants" ("project_id", "client_id")`,
      `create index if not exists "refresh_grants_last_used_at_index" on "refresh_grants" ("last_used_at")`,
      `alter table "refresh_grants" enable row level security`,
      `drop policy if exists "project" on "refresh_grants"`,
      `create policy "project" on "refresh_grants" using (project_id::text in (current_setting('latchkey.project', true)))`,
      `alter table "authorization_codes" alter column "hash" drop not null, add column if not exists "grant_id" uuid null`,
      `alter table "projects" add column if not exists "refresh_token_ttl_seconds" int not null default 2592000,
        add column if not exists "refresh_token_idle_seconds" int not null default 604800`,
      `alter table "clients" add column if not exists "grant_types" text[] not null default '{authorization_code}'`,
    );
    // Most rows are codes without a grant.
    const onlyGrants = 'project_id, grant_id) where (grant_id is not null';
    await this.index('authorization_codes', 'authorization_codes_grant_id_index', onlyGrants);
  }
}
