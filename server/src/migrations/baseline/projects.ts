/** The settings of projects, their applications and APIs. */
export const projects: readonly string[] = [
  `create table projects (
    id uuid not null, name text not null, built_in text, scim_enabled boolean default true not null,
    scim_authoritative boolean default true not null, test_mode boolean default false not null,
    sign_up text default 'open' not null, mfa_policy text default 'off' not null,
    remember_mfa_seconds integer default 0 not null, device_trust_seconds integer default 2592000 not null,
    idle_timeout_seconds integer default 1800 not null, max_session_seconds integer default 28800 not null,
    id_token_ttl_seconds integer default 60 not null, access_token_ttl_seconds integer default 300 not null,
    version integer default 1 not null, created_at timestamptz not null, updated_at timestamptz not null,
    offered_factors text[] default '{totp,sms,email}'::text[] not null, erasures integer default 0 not null,
    email_factor boolean default true not null, device_trust_days integer default 180 not null,
    sms_countries text[] default '{}'::text[] not null, sms_per_day integer default 1000 not null,
    passkeys boolean default true not null, passkey_policy text default 'allowed' not null,
    slug text default ('p-' || replace((gen_random_uuid())::text, '-', '')) not null,
    refresh_token_ttl_seconds integer default 2592000 not null,
    refresh_token_idle_seconds integer default 604800 not null, passkey_aaguids text[] default '{}'::text[] not null,
    passkey_roots text[] default '{}'::text[] not null, notify_on_deactivation boolean default false,
    shared_networks text[] default '{}'::text[] not null,
    constraint projects_pkey primary key (id),
    constraint projects_built_in_unique unique (built_in),
    constraint projects_mfa_policy_check check (mfa_policy in ('off', 'optional', 'required')),
    constraint projects_passkey_policy_check check (passkey_policy in ('off', 'allowed', 'preferred', 'required')),
    constraint projects_sign_up_check check (sign_up in ('open', 'provisioned_only'))
  )`,
  `create unique index projects_slug_unique on projects (slug)`,
  `create table apis (
    project_id uuid not null, id uuid not null, identifier text not null, name text not null, scopes jsonb not null,
    access_token_ttl_seconds integer not null, version integer default 1 not null, created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint apis_pkey primary key (project_id, id),
    constraint apis_project_id_identifier_unique unique (project_id, identifier),
    constraint apis_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table clients (
    id uuid not null, project_id uuid not null, name text not null, built_in text,
    token_endpoint_auth_method text not null, jwk jsonb, redirect_uris text[] not null,
    post_logout_redirect_uris text[] not null, backchannel_logout_uri text,
    backchannel_logout_session_required boolean default true not null,
    logout_token_type text default 'secevent' not null, access_token_ttl_seconds integer, disabled_at timestamptz,
    version integer default 1 not null, created_at timestamptz not null, updated_at timestamptz not null,
    pkce_required boolean default false not null, related_origins boolean default false not null,
    passkey_required boolean default false not null, jwk_set jsonb, jwks_uri text,
    id_token_signed_response_alg text default 'ES512' not null, pkce_optional boolean default false not null,
    grant_types text[] default '{authorization_code}'::text[] not null, dpop_required boolean default false not null,
    dpop_nonce_required boolean default false not null, pushed_requests_required boolean default false not null,
    fapi_profile boolean default false not null, admin_scopes text[] default '{}'::text[] not null,
    refresh_token_ttl_seconds integer, refresh_token_idle_seconds integer, third_party boolean default false not null,
    kind text, id_token_ttl_seconds integer, login_hint_checked boolean default true not null,
    constraint clients_pkey primary key (project_id, id),
    constraint clients_project_id_built_in_unique unique (project_id, built_in),
    constraint clients_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint clients_id_token_signed_response_alg_check check (id_token_signed_response_alg in ('ES512', 'ES256', 'RS256', 'EdDSA')),
    constraint clients_kind_check check (kind in ('single-page', 'web-server', 'native')),
    constraint clients_logout_token_type_check check (logout_token_type in ('secevent', 'logout')),
    constraint clients_token_endpoint_auth_method_check check (token_endpoint_auth_method in ('none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'))
  )`,
  `create index clients_redirect_origins_index on clients using gin (redirect_origins(redirect_uris))`,
  `create index clients_id_index on clients (id)`,
  `create table client_secrets (
    project_id uuid not null, id uuid not null, client_id uuid not null, hash text not null, hint text not null,
    created_at timestamptz not null, last_used_at timestamptz, revoked_at timestamptz,
    constraint client_secrets_pkey primary key (project_id, id),
    constraint client_secrets_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index client_secrets_hash_index on client_secrets (hash)`,
  `create index client_secrets_project_id_client_id_index on client_secrets (project_id, client_id)`,
  `create table client_roles (
    project_id uuid not null, id uuid not null, client_id uuid not null, key text not null, name text not null,
    description text, created_at timestamptz not null, updated_at timestamptz not null,
    constraint client_roles_pkey primary key (project_id, id),
    constraint client_roles_project_id_client_id_key_unique unique (project_id, client_id, key),
    constraint client_roles_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index client_roles_project_id_key_index on client_roles (project_id, key)`,
  `create table api_keys (
    id uuid not null, client_id uuid not null, kind text not null, hash text not null, hint text not null,
    created_at timestamptz not null, last_used_at timestamptz, revoked_at timestamptz, project_id uuid not null,
    value text,
    constraint api_keys_pkey primary key (project_id, id),
    constraint api_keys_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint api_keys_kind_check check (kind in ('publishable', 'secret'))
  )`,
  `create index api_keys_client_id_index on api_keys (client_id)`,
  `create index api_keys_hash_index on api_keys (hash)`,
  `create index api_keys_id_index on api_keys (id)`,
  `create table claim_settings (
    project_id uuid not null, client_id uuid not null, groups text not null, group_prefix text,
    list_limit integer not null, roles_claim text not null, directory_roles boolean not null, mappings jsonb not null,
    version integer not null, updated_at timestamptz not null,
    constraint claim_settings_pkey primary key (project_id, client_id),
    constraint claim_settings_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint claim_settings_groups_check check (groups in ('all', 'assigned', 'prefix'))
  )`,
  `create table api_grants (
    project_id uuid not null, client_id uuid not null, api_id uuid not null, scopes text[] not null,
    introspects boolean not null, created_at timestamptz not null, updated_at timestamptz not null,
    constraint api_grants_pkey primary key (project_id, client_id, api_id),
    constraint api_grants_project_id_api_id_foreign foreign key (project_id, api_id) references apis(project_id, id) on delete cascade,
    constraint api_grants_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index api_grants_project_id_api_id_index on api_grants (project_id, api_id)`,
  `create table delegation_keys (
    id uuid not null, client_id uuid not null, party text not null, signing_kid text not null,
    encryption_kid text not null, signing_public_pem text not null, encryption_public_pem text not null,
    sealed_signing_key bytea, sealed_encryption_key bytea, created_at timestamptz not null, expires_at timestamptz,
    project_id uuid not null,
    constraint delegation_keys_pkey primary key (project_id, id),
    constraint delegation_keys_project_id_client_id_pair_unique unique (project_id, client_id, party, encryption_kid),
    constraint delegation_keys_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint delegation_keys_party_check check (party in ('sp', 'idp'))
  )`,
  `create index delegation_keys_id_index on delegation_keys (id)`,
  `create table custom_domains (
    project_id uuid not null, id uuid not null, host text not null, challenge text not null,
    state text default 'pending' not null, created_at timestamptz not null, checked_at timestamptz, fault text,
    verified_at timestamptz, missing_since timestamptz, unanswered_since timestamptz, warned_at timestamptz,
    constraint custom_domains_pkey primary key (project_id, id),
    constraint custom_domains_project_id_host_unique unique (project_id, host),
    constraint custom_domains_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table custom_schemas (
    project_id uuid not null, version integer not null, attributes jsonb not null, removed text[] not null,
    updated_at timestamptz not null,
    constraint custom_schemas_pkey primary key (project_id),
    constraint custom_schemas_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table verified_hosts (
    host text not null, project_id uuid, verified_at timestamptz not null, released_at timestamptz,
    constraint verified_hosts_pkey primary key (host),
    constraint verified_hosts_project_id_foreign foreign key (project_id) references projects(id) on delete set null
  )`,
  `create index verified_hosts_project_id_index on verified_hosts (project_id)`,
  `create table logos (
    id uuid not null, project_id uuid not null, type text not null, bytes bytea not null, width integer not null,
    height integer not null, created_at timestamptz not null,
    constraint logos_pkey primary key (project_id, id),
    constraint logos_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create index logos_project_id_index on logos (project_id)`,
  `create index logos_id_index on logos (id)`,
  `create table experience_drafts (
    project_id uuid not null, content jsonb, version integer not null, updated_at timestamptz not null, updated_by text,
    constraint experience_drafts_pkey primary key (project_id),
    constraint experience_drafts_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table experience_versions (
    id uuid not null, project_id uuid not null, number integer not null, content jsonb not null,
    published_at timestamptz not null, published_by text, reverted_to integer,
    constraint experience_versions_pkey primary key (project_id, id),
    constraint experience_versions_project_id_number_unique unique (project_id, number),
    constraint experience_versions_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table user_counts (
    project_id uuid not null, slot smallint not null, users integer not null,
    constraint user_counts_pkey primary key (project_id, slot),
    constraint user_counts_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
];
