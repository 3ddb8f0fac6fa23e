import { OnlineMigration } from './online.ts';

/**
 * Device authorizations (RFC 8628). The previous release has no endpoint for them. It cannot redeem the code of an approved
 * device without a verifier, and a flow of a device ends there with an error.
 */
export class Migration20261123001600DeviceAuthorizations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "device_authorizations" ("project_id" uuid not null, "id" uuid not null, "client_id" uuid not null,
        "issuer" text not null, "device_hash" text not null, "user_code_hash" text not null, "scope" text not null, "ip" text null,
        "created_at" timestamptz not null, "expires_at" timestamptz not null, "interval_seconds" int not null,
        "polled_at" timestamptz null, "hurried" boolean not null default false, "decided_at" timestamptz null,
        "approved" boolean null,
        primary key ("project_id", "id"),
        constraint "device_authorizations_project_id_user_code_hash_unique" unique ("project_id", "user_code_hash"),
        constraint "device_authorizations_project_id_client_id_foreign" foreign key ("project_id", "client_id")
          references "clients" ("project_id", "id") on delete cascade)`,
      `create index if not exists "device_authorizations_project_id_device_hash_index"
        on "device_authorizations" ("project_id", "device_hash")`,
      `create index if not exists "device_authorizations_project_id_client_id_index"
        on "device_authorizations" ("project_id", "client_id")`,
      `create index if not exists "device_authorizations_expires_at_index" on "device_authorizations" ("expires_at")`,
      `alter table "device_authorizations" enable row level security`,
      `drop policy if exists "project" on "device_authorizations"`,
      `create policy "project" on "device_authorizations" using (project_id::text in (current_setting('latchkey.project', true)))`,
      `alter table "authorization_requests" add column if not exists "device_authorization_id" uuid null`,
    );
  }
}
