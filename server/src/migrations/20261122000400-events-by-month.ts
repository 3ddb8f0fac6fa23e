import { OnlineMigration } from './online.ts';

const instanceId = '00000000-0000-0000-0000-000000000000';

const columns = `"id" uuid not null, "project_id" uuid not null, "at" timestamptz not null, "type" text not null,
  "result" text not null, "actor_kind" text not null, "actor_id" text null, "actor_name" text null,
  "subject_kind" text null, "subject_id" text null, "subject_name" text null, "client_id" uuid null,
  "detail" jsonb null, "ip" text null, "user_agent" text null, "request_id" text null, "repeat_key" text null`;

/** Indexes of the log, by name without the table. The earlier table has all but the first. */
const indexes = {
  id_index: '("id")',
  project_id_type_id_index: '("project_id", "type", "id")',
  subject_id_id_index: '("subject_id", "id")',
  actor_id_id_index: '("actor_id", "id")',
  client_id_id_index: '("client_id", "id") where "client_id" is not null',
  project_id_id_failure_index: `("project_id", "id") where "result" = 'failure'`,
  project_id_type_id_failure_index: `("project_id", "type", "id") where "result" = 'failure'`,
  id_failure_index: `("id") where "result" = 'failure'`,
  type_id_index: '("type", "id")',
};

/** The end of the next month, or of the month of the last event if a wrong clock made it later. Milliseconds since 1970. */
const endOfPartition = `select greatest(
    extract(epoch from date_trunc('month', now() at time zone 'UTC') + interval '2 months'),
    (select extract(epoch from date_trunc('month', to_timestamp(('x' || lpad(left(replace("id"::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000) at time zone 'UTC') + interval '1 month')
      from "audit_events" order by "id" desc limit 1)
  )::bigint * 1000 as milliseconds`;

/**
 * `audit_log` has a partition of events per month, which is dropped as a whole. The earlier table, with all its events, is
 * its first partition and takes the events of this month and the next: the previous release reads and writes it as before.
 */
export class Migration20261122000400EventsByMonth extends OnlineMigration {
  override async up(): Promise<void> {
    await this.nameInstance();
    await this.index('audit_events', 'audit_events_id_index', '"id"');
    await this.index('audit_events', 'audit_events_key', '"project_id", "id"', true);
    await this.useIndex('audit_events', 'audit_events_pkey', 'primary key', 'audit_events_key');
    await this.alter(
      'drop index if exists "audit_events_project_id_id_index"',
      'alter index if exists "audit_events_repeat_key_unique" rename to "audit_events_repeat_key_previous"',
    );
    await this.createLog();
    await this.attach();
    await this.alter(
      'create table if not exists "audit_log_rest" partition of "audit_log" default',
      `create table if not exists "repeated_refusals" ("project_id" uuid not null, "key" text not null,
        "event_id" uuid not null, "expires_at" timestamptz not null, primary key ("project_id", "key"))`,
      'create index if not exists "repeated_refusals_expires_at_index" on "repeated_refusals" ("expires_at")',
    );
  }

  /** Events of the instance had no project; those of the previous release have none. */
  private async nameInstance(): Promise<void> {
    await this.alter(
      'alter table "audit_events" drop constraint if exists "audit_events_project_id_foreign"',
      `create or replace function "project_of_instance"() returns trigger language plpgsql as
        $body$ begin new.project_id := '${instanceId}'; return new; end $body$`,
      `create or replace trigger "audit_events_project" before insert on "audit_events" for each row
        when (new.project_id is null) execute function "project_of_instance"()`,
    );
    await this.backfill('audit_events', { set: `project_id = '${instanceId}'`, where: 't.project_id is null' });
    await this.notNull('audit_events', 'project_id');
  }

  private createLog(): Promise<void> {
    const created = Object.entries(indexes).map(
      ([name, of]) => `create index if not exists "audit_log_${name}" on "audit_log" ${of}`,
    );
    return this.alter(
      `create table if not exists "audit_log" (${columns}, constraint "audit_log_pkey" primary key ("project_id", "id"))
        partition by range ("id")`,
      ...created,
    );
  }

  private async attach(): Promise<void> {
    const [attached] = await this.execute(
      `select 1 from pg_inherits where inhrelid = '"audit_events"'::regclass and inhparent = '"audit_log"'::regclass`,
    );
    if (attached) return;
    const [end] = await this.execute(endOfPartition);
    const hex = Number(end?.['milliseconds']).toString(16).padStart(12, '0');
    const bound = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
    // With a validated constraint, `attach` does not read the table.
    await this.alter(
      'alter table "audit_events" drop constraint if exists "audit_events_bound"',
      `alter table "audit_events" add constraint "audit_events_bound" check ("id" < '${bound}') not valid`,
    );
    await this.execute('alter table "audit_events" validate constraint "audit_events_bound"');
    await this.alter(
      `alter table "audit_log" attach partition "audit_events" for values from (minvalue) to ('${bound}')`,
      'alter table "audit_events" drop constraint "audit_events_bound"',
    );
  }
}
