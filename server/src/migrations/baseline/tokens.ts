/** Sessions, codes and tokens. */
export const tokens: readonly string[] = [
  `create table sessions (
    id uuid not null, project_id uuid not null, user_id uuid not null, secret_hash text not null, device_id uuid,
    auth_time timestamptz not null, amr text[] not null, created_at timestamptz not null,
    last_seen_at timestamptz not null, idle_expires_at timestamptz not null, expires_at timestamptz not null,
    ended_at timestamptz, end_reason text, ip text, user_agent text, fresh_at timestamptz,
    moment bigint default nextval('moments'::regclass) not null, fresh_moment bigint, passkey_id uuid, domain text,
    constraint sessions_pkey primary key (project_id, id),
    constraint sessions_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index sessions_user_id_index on sessions (user_id)`,
  `create index sessions_expires_at_index on sessions (expires_at)`,
  `create index sessions_secret_hash_index on sessions (secret_hash)`,
  `create index sessions_project_id_domain_index on sessions (project_id, domain) where domain is not null`,
  `create index sessions_id_index on sessions (id)`,
  `create table participations (
    session_id uuid not null, client_id uuid not null, first_at timestamptz not null, last_at timestamptz not null,
    project_id uuid not null, issuer text,
    constraint participations_pkey primary key (project_id, session_id, client_id),
    constraint participations_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint participations_project_id_session_id_foreign foreign key (project_id, session_id) references sessions(project_id, id) on delete cascade
  )`,
  `create index participations_client_id_index on participations (client_id)`,
  `create table authorization_codes (
    id uuid not null, hash text, client_id uuid not null, user_id uuid, session_id uuid, redirect_uri text,
    code_challenge text, scope text not null, nonce text, auth_time timestamptz not null, amr text[] not null,
    created_at timestamptz not null, expires_at timestamptz not null, used_at timestamptz, revoked_at timestamptz,
    forget_at timestamptz not null, project_id uuid not null, acr text, issuer text, grant_id uuid, dpop_jkt text,
    resources text[] default '{}'::text[] not null, credential text,
    constraint authorization_codes_pkey primary key (project_id, id),
    constraint authorization_codes_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint authorization_codes_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index authorization_codes_user_id_index on authorization_codes (user_id)`,
  `create index authorization_codes_forget_at_index on authorization_codes (forget_at)`,
  `create index authorization_codes_hash_index on authorization_codes (hash)`,
  `create index authorization_codes_grant_id_index on authorization_codes (project_id, grant_id) where grant_id is not null`,
  `create table refresh_grants (
    project_id uuid not null, id uuid not null, family_hash text not null, client_id uuid not null,
    user_id uuid not null, session_id uuid, offline boolean not null, issuer text, scope text not null,
    auth_time timestamptz not null, amr text[] not null, acr text, current_hash text not null, previous_hash text,
    rotated_at timestamptz, created_at timestamptz not null, last_used_at timestamptz not null, revoked_at timestamptz,
    dpop_jkt text, resources text[] default '{}'::text[] not null, renewals integer default 0 not null,
    constraint refresh_grants_pkey primary key (project_id, id),
    constraint refresh_grants_project_id_family_hash_unique unique (project_id, family_hash),
    constraint refresh_grants_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint refresh_grants_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index refresh_grants_project_id_user_id_index on refresh_grants (project_id, user_id)`,
  `create index refresh_grants_project_id_client_id_index on refresh_grants (project_id, client_id)`,
  `create index refresh_grants_last_used_at_index on refresh_grants (last_used_at)`,
  `create table admin_tokens (
    id uuid not null, name text not null, hash text not null, hint text not null, role text not null, project_id uuid,
    created_by_id uuid, created_at timestamptz not null, expires_at timestamptz, last_used_at timestamptz,
    revoked_at timestamptz,
    constraint admin_tokens_pkey primary key (id),
    constraint admin_tokens_hash_unique unique (hash),
    constraint admin_tokens_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint admin_tokens_role_check check (role in ('owner', 'project_admin', 'project_viewer'))
  )`,
  `create table logout_deliveries (
    id uuid not null, project_id uuid not null, client_id uuid not null, subject uuid not null, sid uuid,
    jti text not null, uri text not null, state text default 'pending' not null, attempts jsonb not null,
    next_attempt_at timestamptz, created_at timestamptz not null, delivered_at timestamptz, after_id uuid, issuer text,
    constraint logout_deliveries_pkey primary key (project_id, id),
    constraint logout_deliveries_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint logout_deliveries_state_check check (state in ('pending', 'delivered', 'failed'))
  )`,
  `create index logout_deliveries_client_id_state_id_index on logout_deliveries (client_id, state, id)`,
  `create index logout_deliveries_project_id_state_id_index on logout_deliveries (project_id, state, id)`,
  `create index logout_deliveries_subject_id_index on logout_deliveries (subject, id)`,
  `create index logout_deliveries_project_id_created_at_index on logout_deliveries (project_id, created_at) include (client_id, state, delivered_at)`,
  `create index logout_deliveries_created_at_index on logout_deliveries (created_at)`,
  `create index logout_deliveries_due_index on logout_deliveries (next_attempt_at) where state = 'pending'`,
  `create index logout_deliveries_after_id_index on logout_deliveries (after_id) where after_id is not null`,
  `create index logout_deliveries_id_index on logout_deliveries (id)`,
  `create index logout_deliveries_turns_index on logout_deliveries ((
case
    when (attempts = '[]'::jsonb) then 0
    else 1
end), project_id, client_id, next_attempt_at) where state = 'pending'`,
];
