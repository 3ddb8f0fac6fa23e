/** Credentials, and sign-ins in progress. */
export const credentials: readonly string[] = [
  `create table credentials (
    id uuid not null, project_id uuid not null, client_id uuid, user_id uuid not null, jkt text, public_jwk jsonb,
    alg text, name text not null, user_agent text, trusted_until timestamptz, mfa_remembered_until timestamptz,
    created_at timestamptz not null, last_used_at timestamptz not null, revoked_at timestamptz,
    remembered boolean default true, registered_at timestamptz, mfa_remembered_at timestamptz,
    kind text default 'device-key' not null, created_by text, credential_id text, public_key text, cose_alg integer,
    aaguid text, transports text[], sign_count bigint, backup_eligible boolean, backed_up boolean, user_verified boolean,
    hosted boolean default false, suspended_at timestamptz, domain text, attested_root text,
    constraint credentials_pkey primary key (project_id, id),
    constraint credentials_project_id_client_id_user_id_jkt_unique unique (project_id, client_id, user_id, jkt),
    constraint credentials_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint credentials_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
    constraint credentials_device_key check (((kind <> 'device-key') or ((client_id is not null) and (jkt is not null) and (public_jwk is not null) and (alg is not null) and (remembered is not null)))),
    constraint credentials_passkey check (((kind <> 'passkey') or ((credential_id is not null) and (public_key is not null) and (cose_alg is not null) and (aaguid is not null) and (transports is not null) and (sign_count is not null) and (backup_eligible is not null) and (backed_up is not null) and (user_verified is not null))))
  )`,
  `create index credentials_user_id_index on credentials (user_id)`,
  `create index credentials_jkt_index on credentials (jkt)`,
  `create unique index credentials_project_id_credential_id_unique on credentials (project_id, credential_id)`,
  `create index credentials_credential_id_index on credentials (credential_id)`,
  `create index credentials_project_id_domain_index on credentials (project_id, domain) where domain is not null`,
  `create index credentials_verified_index on credentials (project_id, user_id) where user_verified and (revoked_at is null)`,
  `create index credentials_id_index on credentials (id)`,
  `create table enrolments (
    id uuid not null, user_id uuid not null, method text not null, phone text, sealed_secret bytea, last_step bigint,
    failures integer default 0 not null, locked_until timestamptz, created_at timestamptz not null,
    verified_at timestamptz, last_used_at timestamptz, device_id uuid, ceremony_id uuid, project_id uuid not null,
    beside_passkey boolean default false not null,
    constraint enrolments_pkey primary key (project_id, id),
    constraint enrolments_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
    constraint enrolments_method_check check (method in ('email', 'sms', 'totp'))
  )`,
  `create index enrolments_user_id_index on enrolments (user_id)`,
  `create index enrolments_verified_index on enrolments (project_id, user_id) where verified_at is not null`,
  `create table factor_changes (
    id uuid not null, session_hash text not null, client_id uuid not null, user_id uuid not null,
    enrolment_id uuid not null, attempts integer default 0 not null, created_at timestamptz not null,
    expires_at timestamptz not null, finished_at timestamptz, project_id uuid not null,
    constraint factor_changes_pkey primary key (project_id, id),
    constraint factor_changes_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint factor_changes_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index factor_changes_client_id_index on factor_changes (client_id)`,
  `create index factor_changes_user_id_index on factor_changes (user_id)`,
  `create index factor_changes_expires_at_index on factor_changes (expires_at)`,
  `create index factor_changes_session_hash_index on factor_changes (session_hash)`,
  `create table recovery_codes (
    id uuid not null, user_id uuid not null, hash text not null, created_at timestamptz not null, used_at timestamptz,
    project_id uuid not null,
    constraint recovery_codes_pkey primary key (project_id, id),
    constraint recovery_codes_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index recovery_codes_user_id_index on recovery_codes (user_id)`,
  `create index recovery_codes_hash_index on recovery_codes (hash)`,
  `create table recovery_grants (
    project_id uuid not null, id uuid not null, user_id uuid not null, code_hash text not null,
    cancel_hash text not null, reason text not null, created_at timestamptz not null, usable_at timestamptz not null,
    expires_at timestamptz not null, used_at timestamptz, session_id uuid, ended_at timestamptz,
    constraint recovery_grants_pkey primary key (project_id, id),
    constraint recovery_grants_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create index recovery_grants_project_id_user_id_index on recovery_grants (project_id, user_id)`,
  `create index recovery_grants_expires_at_index on recovery_grants (expires_at)`,
  `create table known_networks (
    user_id uuid not null, network text not null, last_at timestamptz not null, project_id uuid not null,
    constraint known_networks_pkey primary key (project_id, user_id, network),
    constraint known_networks_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade
  )`,
  `create table one_time_codes (
    id uuid not null, project_id uuid not null, ceremony_id uuid not null, purpose text not null, account text not null,
    jkt text, code_mac text not null, attempts integer default 0 not null, created_at timestamptz not null,
    expires_at timestamptz not null, used_at timestamptz, replaced_at timestamptz, user_id uuid, client_id uuid,
    address text, sent_to text, format text default 'short' not null, requester_known boolean default false not null,
    constraint one_time_codes_pkey primary key (project_id, id),
    constraint one_time_codes_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create index one_time_codes_ceremony_id_index on one_time_codes (ceremony_id)`,
  `create index one_time_codes_account_index on one_time_codes (account)`,
  `create index one_time_codes_project_id_user_id_index on one_time_codes (project_id, user_id)`,
  `create index one_time_codes_project_id_address_index on one_time_codes (project_id, address)`,
  `create table budgets (
    id text not null, spent integer not null, resets_at timestamptz not null,
    constraint budgets_pkey primary key (id)
  )`,
  `create index budgets_resets_at_index on budgets (resets_at)`,
  `create table authorization_requests (
    id uuid not null, project_id uuid not null, client_id uuid not null, flow_hash text not null,
    browser_hash text not null, redirect_uri text not null, scope text not null, state text, nonce text,
    code_challenge text, login_hint text, hinted_user_id uuid, ui_locales text, setup_link_id uuid,
    created_at timestamptz not null, expires_at timestamptz not null, finished_at timestamptz,
    person_required boolean default false not null, moment bigint default nextval('moments'::regclass) not null,
    adds_passkey boolean default false not null, acr_values text[], acr_essential boolean default false not null,
    issuer text, response_mode text, dpop_jkt text, resources text[] default '{}'::text[] not null, session_id uuid,
    asks_consent boolean default false not null, decided_by uuid, is_allowed boolean, device_authorization_id uuid,
    adds_authenticator boolean default false not null,
    constraint authorization_requests_pkey primary key (project_id, id),
    constraint authorization_requests_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index authorization_requests_expires_at_index on authorization_requests (expires_at)`,
  `create index authorization_requests_flow_hash_index on authorization_requests (flow_hash)`,
  `create index authorization_requests_hinted_user_id_index on authorization_requests (project_id, hinted_user_id) where hinted_user_id is not null`,
  `create table pushed_requests (
    project_id uuid not null, id uuid not null, client_id uuid not null, handle_hash text not null, issuer text,
    parameters text not null, created_at timestamptz not null, expires_at timestamptz not null, used_at timestamptz,
    constraint pushed_requests_pkey primary key (project_id, id),
    constraint pushed_requests_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index pushed_requests_project_id_client_id_index on pushed_requests (project_id, client_id)`,
  `create index pushed_requests_handle_hash_index on pushed_requests (handle_hash)`,
  `create index pushed_requests_expires_at_index on pushed_requests (expires_at)`,
  `create table ceremonies (
    id uuid not null, project_id uuid not null, client_id uuid not null, request_id uuid, txn_hash text not null,
    nonce_hash text not null, nonce_expires_at timestamptz not null, state text not null, origin text not null, jkt text,
    code_challenge text, address text, user_id uuid, device_id uuid, remember_device boolean default true not null,
    mfa_method text, mfa_session_hash text, amr text[] not null, created_at timestamptz not null,
    expires_at timestamptz not null, finished_at timestamptz, enrolment_id uuid, mfa_attempts integer default 0 not null,
    step_up text, evidence jsonb default '[]'::jsonb not null,
    account_id uuid generated always as ((((evidence -> 0) ->> 'account'))::uuid) stored, passkey_challenge_hash text,
    passkey_purpose text,
    constraint ceremonies_pkey primary key (project_id, id),
    constraint ceremonies_project_id_account_id_foreign foreign key (project_id, account_id) references users(project_id, id) on delete cascade,
    constraint ceremonies_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade,
    constraint ceremonies_project_id_device_id_foreign foreign key (project_id, device_id) references credentials(project_id, id) on delete cascade,
    constraint ceremonies_project_id_request_id_foreign foreign key (project_id, request_id) references authorization_requests(project_id, id) on delete cascade,
    constraint ceremonies_project_id_user_id_foreign foreign key (project_id, user_id) references users(project_id, id) on delete cascade,
    constraint ceremonies_mfa_method_check check (mfa_method in ('email', 'sms', 'totp')),
    constraint ceremonies_state_check check (state in ('challenged', 'otp_sent', 'otp_verified', 'registered', 'mfa_owed', 'mfa_initiated', 'passkey_owed', 'stepped_up', 'phone_code_sent', 'finished')),
    constraint ceremonies_step_up_check check (step_up in ('change_phone_number', 'create_passkey'))
  )`,
  `create index ceremonies_expires_at_index on ceremonies (expires_at)`,
  `create index ceremonies_txn_hash_index on ceremonies (txn_hash)`,
  `create index ceremonies_project_id_started_address_index on ceremonies (project_id, address) where address is not null`,
  `create index ceremonies_proved_account_id_index on ceremonies (account_id) where account_id is not null`,
  `create index ceremonies_project_id_request_id_started_index on ceremonies (project_id, request_id) where (request_id is not null) and (address is not null)`,
  `create table device_authorizations (
    project_id uuid not null, id uuid not null, client_id uuid not null, issuer text not null, device_hash text not null,
    user_code_hash text not null, scope text not null, ip text, created_at timestamptz not null,
    expires_at timestamptz not null, interval_seconds integer not null, polled_at timestamptz,
    hurried boolean default false not null, decided_at timestamptz, approved boolean,
    constraint device_authorizations_pkey primary key (project_id, id),
    constraint device_authorizations_project_id_user_code_hash_unique unique (project_id, user_code_hash),
    constraint device_authorizations_project_id_client_id_foreign foreign key (project_id, client_id) references clients(project_id, id) on delete cascade
  )`,
  `create index device_authorizations_project_id_device_hash_index on device_authorizations (project_id, device_hash)`,
  `create index device_authorizations_project_id_client_id_index on device_authorizations (project_id, client_id)`,
  `create index device_authorizations_expires_at_index on device_authorizations (expires_at)`,
  `create table used_assertions (
    client_id uuid not null, jti_hash text not null, forget_at timestamptz not null, project_id uuid not null,
    constraint used_assertions_pkey primary key (project_id, client_id, jti_hash)
  )`,
  `create index used_assertions_forget_at_index on used_assertions (forget_at)`,
  `create table used_delegation_requests (
    client_id uuid not null, jti_hash text not null, forget_at timestamptz not null, project_id uuid not null,
    constraint used_delegation_requests_pkey primary key (project_id, client_id, jti_hash)
  )`,
  `create index used_delegation_requests_forget_at_index on used_delegation_requests (forget_at)`,
];
