import { OnlineMigration } from './online.ts';

/** Recovery grants of admins (decisions/0108). The previous release does not use them. */
export class Migration20261123000200RecoveryGrants extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "recovery_grants" ("project_id" uuid not null, "id" uuid not null,
        "user_id" uuid not null, "code_hash" text not null, "cancel_hash" text not null, "reason" text not null,
        "created_at" timestamptz not null, "usable_at" timestamptz not null, "expires_at" timestamptz not null,
        "used_at" timestamptz null, "session_id" uuid null, "ended_at" timestamptz null,
        constraint "recovery_grants_pkey" primary key ("project_id", "id"))`,
      `create index if not exists "recovery_grants_project_id_user_id_index" on "recovery_grants" ("project_id", "user_id")`,
      `create index if not exists "recovery_grants_expires_at_index" on "recovery_grants" ("expires_at")`,
      `alter table "recovery_grants" enable row level security`,
      `drop policy if exists "project" on "recovery_grants"`,
      `create policy "project" on "recovery_grants" using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
    await this.foreignKey('recovery_grants', ['project_id', 'user_id'], 'users', ['project_id', 'id']);
  }
}
