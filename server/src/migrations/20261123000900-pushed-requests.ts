import { OnlineMigration } from './online.ts';

/** Pushed authorization requests, and the FAPI 2.0 Security Profile. The previous release has no endpoint for them. */
export class Migration20261123000900PushedRequests extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "pushed_requests" ("project_id" uuid not null, "id" uuid not null, "client_id" uuid not null,
        "handle_hash" text not null, "issuer" text null, "parameters" text not null, "created_at" timestamptz not null,
        "expires_at" timestamptz not null, "used_at" timestamptz null,
        primary key ("project_id", "id"),
        constraint "pushed_requests_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade)`,
      `create index if not exists "pushed_requests_project_id_client_id_index" on "pushed_requests" ("project_id", "client_id")`,
      `create index if not exists "pushed_requests_handle_hash_index" on "pushed_requests" ("handle_hash")`,
      `create index if not exists "pushed_requests_expires_at_index" on "pushed_requests" ("expires_at")`,
      `alter table "pushed_requests" enable row level security`,
      `drop policy if exists "project" on "pushed_requests"`,
      `create policy "project" on "pushed_requests" using (project_id::text in (current_setting('latchkey.project', true)))`,
      `alter table "clients" add column if not exists "pushed_requests_required" boolean not null default false,
        add column if not exists "fapi_profile" boolean not null default false`,
    );
  }
}
