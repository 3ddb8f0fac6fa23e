import { OnlineMigration } from './online.ts';

/** Connections to upstream identity providers (decisions/0386). */
export class Migration20261130003000Connections extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "connections" (
        project_id uuid not null, id uuid not null, organization_id uuid, kind text not null, preset text not null,
        name text not null, state text not null, settings jsonb not null, sealed_secret bytea, jit boolean not null,
        refreshes_profile boolean not null, mappings jsonb not null, version int not null default 1,
        last_success_at timestamptz, last_failure_at timestamptz, failures jsonb not null default '{}',
        created_at timestamptz not null, updated_at timestamptz not null,
        constraint connections_pkey primary key (project_id, id),
        constraint connections_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
        constraint connections_kind_check check (kind in ('oidc')),
        constraint connections_state_check check (state in ('draft', 'tested', 'enabled', 'disabled'))
      )`,
      `create table if not exists "identities" (
        project_id uuid not null, id uuid not null, connection_id uuid not null, user_id uuid not null,
        issuer text not null, subject text not null, label text, created_at timestamptz not null, last_used_at timestamptz,
        constraint identities_pkey primary key (project_id, id),
        constraint identities_project_id_connection_id_issuer_subject_unique unique (project_id, connection_id, issuer, subject),
        constraint identities_project_id_connection_id_foreign foreign key (project_id, connection_id) references connections(project_id, id) on delete cascade,
        constraint identities_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
      )`,
      'create index if not exists identities_project_id_user_id_index on identities (project_id, user_id)',
      `create table if not exists "upstream_requests" (
        project_id uuid not null, id uuid not null, connection_id uuid not null, request_id uuid, state_hash text not null,
        sealed_secrets bytea not null, result jsonb, linked_at timestamptz,
        created_at timestamptz not null, expires_at timestamptz not null, used_at timestamptz,
        constraint upstream_requests_pkey primary key (project_id, id),
        constraint upstream_requests_project_id_connection_id_foreign foreign key (project_id, connection_id) references connections(project_id, id) on delete cascade
      )`,
      'create index if not exists upstream_requests_state_hash_index on upstream_requests (state_hash)',
      'create index if not exists upstream_requests_expires_at_index on upstream_requests (expires_at)',
      'create index if not exists upstream_requests_project_id_connection_id_index on upstream_requests (project_id, connection_id)',
      'alter table "authorization_requests" add column if not exists "connecting_id" uuid',
      ...['connections', 'identities', 'upstream_requests'].flatMap((table) => [
        `alter table ${table} enable row level security`,
        `drop policy if exists project on ${table}`,
        `create policy project on ${table} using (project_id::text = current_setting('latchkey.project', true))`,
      ]),
    );
  }
}
