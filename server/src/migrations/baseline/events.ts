/** Events and messages, and what is sent of them. */
export const events: readonly string[] = [
  `create table audit_log (
    id uuid not null, project_id uuid not null, at timestamptz not null, type text not null, result text not null,
    actor_kind text not null, actor_id text, actor_name text, subject_kind text, subject_id text, subject_name text,
    client_id uuid, detail jsonb, ip text, user_agent text, request_id text, repeat_key text,
    constraint audit_log_pkey primary key (project_id, id)
  ) partition by range (id)`,
  `create index audit_log_id_index on audit_log (id)`,
  `create index audit_log_project_id_type_id_index on audit_log (project_id, type, id)`,
  `create index audit_log_subject_id_id_index on audit_log (subject_id, id)`,
  `create index audit_log_actor_id_id_index on audit_log (actor_id, id)`,
  `create index audit_log_client_id_id_index on audit_log (client_id, id) where client_id is not null`,
  `create index audit_log_project_id_id_failure_index on audit_log (project_id, id) where result = 'failure'`,
  `create index audit_log_project_id_type_id_failure_index on audit_log (project_id, type, id) where result = 'failure'`,
  `create index audit_log_id_failure_index on audit_log (id) where result = 'failure'`,
  `create index audit_log_type_id_index on audit_log (type, id)`,
  `create trigger audit_log_streams after insert on audit_log for each row execute function queue_stream_events()`,
  `create trigger audit_log_webhooks after insert on audit_log for each row execute function queue_webhook_deliveries()`,
  `create table audit_log_rest partition of audit_log default`,
  `create table repeated_refusals (
    project_id uuid not null, key text not null, event_id uuid not null, expires_at timestamptz not null,
    constraint repeated_refusals_pkey primary key (project_id, key)
  )`,
  `create index repeated_refusals_expires_at_index on repeated_refusals (expires_at)`,
  `create table log_streams (
    id uuid not null, project_id uuid, kind text not null, target text not null, description text default '' not null,
    types text[] not null, format text not null, gzip boolean default false not null, header text, sealed_secret bytea,
    paused boolean default false not null, "position" bigint not null, failures integer default 0 not null,
    failing_since timestamptz, last_error text, last_delivered_at timestamptz, next_attempt_at timestamptz, lease uuid,
    leased_until timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    constraint log_streams_pkey primary key (id),
    constraint log_streams_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create index log_streams_log_index on log_streams (coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid))`,
  `create table stream_events (
    project_id uuid not null, event_id uuid not null, queued_at timestamptz default clock_timestamp() not null,
    "position" bigint,
    constraint stream_events_pkey primary key (project_id, event_id)
  )`,
  `create index stream_events_position_index on stream_events (project_id, "position")`,
  `create index stream_events_waiting_index on stream_events (queued_at, event_id) where "position" is null`,
  `create table webhooks (
    project_id uuid not null, id uuid not null, url text not null, description text default '' not null,
    types text[] not null, disabled_reason text, sealed_secret bytea not null, secret_created_at timestamptz not null,
    sealed_previous_secret bytea, previous_secret_until timestamptz, failures integer default 0 not null,
    failing_since timestamptz, last_delivered_at timestamptz, next_attempt_at timestamptz, lease uuid,
    leased_until timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
    constraint webhooks_pkey primary key (project_id, id),
    constraint webhooks_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table webhook_deliveries (
    project_id uuid not null, id uuid not null, webhook_id uuid not null, event_id uuid not null, type text not null,
    order_key text not null, state text default 'pending' not null, tries integer default 0 not null,
    attempts jsonb default '[]'::jsonb not null, queued_at timestamptz default clock_timestamp() not null,
    next_attempt_at timestamptz, created_at timestamptz not null, settled_at timestamptz,
    constraint webhook_deliveries_pkey primary key (project_id, id)
  )`,
  `create index webhook_deliveries_pending_index on webhook_deliveries (project_id, webhook_id, queued_at) where state = 'pending'`,
  `create index webhook_deliveries_order_index on webhook_deliveries (project_id, webhook_id, order_key, queued_at) where state = 'pending'`,
  `create index webhook_deliveries_list_index on webhook_deliveries (project_id, webhook_id, state, id)`,
  `create index webhook_deliveries_settled_index on webhook_deliveries (settled_at) where settled_at is not null`,
  `create table messages (
    id uuid not null, project_id uuid not null, channel text not null, template text not null, recipient text not null,
    sealed_content bytea, locale text not null, state text default 'pending' not null,
    attempts integer default 0 not null, note text, created_at timestamptz not null, sent_at timestamptz,
    expires_at timestamptz not null, next_attempt_at timestamptz, expired boolean default false not null, user_id uuid,
    lane smallint default 1 not null,
    constraint messages_pkey primary key (project_id, id),
    constraint messages_project_id_foreign foreign key (project_id) references projects(id) on delete cascade,
    constraint messages_state_check check (state in ('pending', 'sent', 'suppressed', 'failed'))
  )`,
  `create index messages_project_id_recipient_index on messages (project_id, recipient)`,
  `create index messages_project_id_state_id_index on messages (project_id, state, id)`,
  `create index messages_pending_index on messages (next_attempt_at) where state = 'pending'`,
  `create index messages_project_id_user_id_index on messages (project_id, user_id)`,
  `create index messages_turns_index on messages (lane, project_id, next_attempt_at) where state = 'pending'`,
  `create table activity_days (
    project_id uuid not null, day date not null, sign_ins integer not null, sign_ins_on_known_devices integer not null,
    active_users integer not null, codes_sent integer not null, codes_verified integer not null,
    code_seconds integer not null, refused integer not null, logouts_delivered integer not null,
    logouts_failed integer not null, sign_ins_with_passkeys integer default 0 not null,
    constraint activity_days_pkey primary key (project_id, day),
    constraint activity_days_project_id_foreign foreign key (project_id) references projects(id) on delete cascade
  )`,
  `create table activity_progress (
    id text not null, counted_before date not null,
    constraint activity_progress_pkey primary key (id)
  )`,
];

/**
 * The first partition of events: of this month and the next.
 *
 * @param end milliseconds since 1970
 */
export function firstPartition(end: number): string {
  const hex = end.toString(16).padStart(12, '0');
  const bound = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
  return `create table audit_events partition of audit_log for values from (minvalue) to ('${bound}')`;
}
