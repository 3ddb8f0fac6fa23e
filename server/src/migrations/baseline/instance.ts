/** The instance: its keys, processes and jobs. */
export const instance: readonly string[] = [
  `create table signing_keys (
    id text not null, alg text not null, public_jwk jsonb not null, sealed_private_key bytea not null,
    created_at timestamptz not null, signs_from timestamptz not null, signs_until timestamptz,
    published_until timestamptz, withdrawn_at timestamptz,
    constraint signing_keys_pkey primary key (id),
    constraint signing_keys_alg_check check (alg in ('ES512', 'EdDSA', 'ES256', 'RS256'))
  )`,
  `create table retired_mac_keys (
    id text not null, purpose text not null, sealed_key bytea not null, created_at timestamptz not null,
    constraint retired_mac_keys_pkey primary key (id)
  )`,
  `create table setup_links (
    id uuid not null, hash text not null, created_at timestamptz not null, expires_at timestamptz not null,
    used_at timestamptz,
    constraint setup_links_pkey primary key (id),
    constraint setup_links_hash_unique unique (hash)
  )`,
  `create table idempotent_requests (
    id text not null, request_mac text not null, sealed_answer bytea, created_at timestamptz not null,
    constraint idempotent_requests_pkey primary key (id)
  )`,
  `create index idempotent_requests_created_at_index on idempotent_requests (created_at)`,
  `create table processes (
    id uuid not null, host text not null, pid integer not null, version text not null, node_version text not null,
    started_at timestamptz not null, seen_at timestamptz not null, sign_microseconds integer,
    clock_skew_ms integer not null,
    constraint processes_pkey primary key (id)
  )`,
  `create table backups (
    id uuid not null, file text not null, taken_at timestamptz not null, finished_at timestamptz not null,
    bytes bigint not null, rows bigint not null, checksum text not null,
    constraint backups_pkey primary key (id)
  )`,
  `create index backups_taken_at_index on backups (taken_at)`,
  `create table retention_progress (
    id text not null, at timestamptz not null,
    constraint retention_progress_pkey primary key (id)
  )`,
];
