/** Directories (SCIM). */
export const directories: readonly string[] = [
  `create table scim_tokens (
    id uuid not null, project_id uuid not null, name text not null, hash text not null, hint text not null,
    expires_at timestamptz, created_at timestamptz not null, last_used_at timestamptz, revoked_at timestamptz,
    networks text[] default '{}'::text[] not null, last_used_address text, network_refused_at timestamptz,
    warned_days integer,
    constraint scim_tokens_pkey primary key (project_id, id),
    constraint scim_tokens_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create index scim_tokens_project_id_index on scim_tokens (project_id)`,
  `create index scim_tokens_hash_index on scim_tokens (hash)`,
  `create index scim_tokens_id_index on scim_tokens (id)`,
  `create table scim_days (
    project_id uuid not null, day date not null, requests integer not null, refused integer not null,
    failed integer not null,
    constraint scim_days_pkey primary key (project_id, day),
    constraint scim_days_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table scim_erasures (
    project_id uuid not null, id uuid not null, at timestamptz not null, marks text[] not null,
    constraint scim_erasures_pkey primary key (project_id, id),
    constraint scim_erasures_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  // Statistics of lists take seconds to collect, and no plan needs these.
  `alter table scim_erasures alter column marks set statistics 0`,
  `create index scim_erasures_at_index on scim_erasures (at)`,
  `create index scim_erasures_marks_index on scim_erasures using gin (marks) with (fastupdate=off)`,
  `create table scim_request_records (
    id uuid not null, project_id uuid not null, at timestamptz not null, token_id uuid not null,
    token_name text not null, method text not null, path text not null, resource_id uuid, status integer not null,
    scim_type text, detail text, duration_ms integer not null, user_agent text, request_body text, response_body text,
    concerns text[], ignored text[],
    constraint scim_request_records_pkey primary key (project_id, id),
    constraint scim_request_records_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  // Statistics of lists take seconds to collect, and no plan needs these.
  `alter table scim_request_records alter column concerns set statistics 0`,
  `create index scim_request_records_resource_id_index on scim_request_records (resource_id)`,
];
