import { OnlineMigration } from './online.ts';

/** Connections to SAML providers (decisions/0404). The previous release refuses sign-ins by them. */
export class Migration20261130042000SamlConnections extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `alter table "connections"
        add column if not exists "metadata_checked_at" timestamptz,
        add column if not exists "metadata_fault" text,
        add column if not exists "certificate_expires_at" timestamptz,
        add column if not exists "warned_days" int`,
      `alter table "connections" drop constraint if exists connections_kind_check`,
      `alter table "connections" add constraint connections_kind_check check (kind in ('oidc', 'saml')) not valid`,
      `alter table "connections" drop constraint if exists connections_metadata_fault_check`,
      `alter table "connections" add constraint connections_metadata_fault_check
        check (metadata_fault in ('unreachable', 'invalid', 'entity-id', 'certificates')) not valid`,
      `alter table "upstream_requests" add column if not exists "answer_hash" text,
        add column if not exists "sealed_answer" bytea`,
      `create table if not exists "upstream_assertions" (
        project_id uuid not null, connection_id uuid not null, id_hash text not null, forget_at timestamptz not null,
        constraint upstream_assertions_pkey primary key (project_id, connection_id, id_hash)
      )`,
      'create index if not exists upstream_assertions_forget_at_index on upstream_assertions (forget_at)',
      'alter table upstream_assertions enable row level security',
      'drop policy if exists project on upstream_assertions',
      `create policy project on upstream_assertions using (project_id::text = current_setting('latchkey.project', true))`,
    );
    for (const check of ['kind', 'metadata_fault']) {
      await this.execute(`alter table "connections" validate constraint connections_${check}_check`);
    }
    await this.index(
      'upstream_requests',
      'upstream_requests_answer_hash_index',
      '"answer_hash"',
      false,
      'btree',
      '"answer_hash" is not null',
    );
  }
}
