import { OnlineMigration } from './online.ts';

const instanceId = '00000000-0000-0000-0000-000000000000';

/**
 * Log streams, and the log that they read. A trigger writes one row for each event of a project with a stream, and one
 * more if the instance has a stream, in the transaction of the event, also for events of the previous release.
 */
export class Migration20261124020000LogStreams extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "log_streams" ("id" uuid not null primary key, "project_id" uuid null,
        "kind" text not null, "target" text not null, "description" text not null default '', "types" text[] not null,
        "format" text not null, "gzip" boolean not null default false, "header" text null, "sealed_secret" bytea null,
        "paused" boolean not null default false, "position" bigint not null,
        "failures" int not null default 0, "failing_since" timestamptz null, "last_error" text null,
        "last_delivered_at" timestamptz null, "next_attempt_at" timestamptz null,
        "lease" uuid null, "leased_until" timestamptz null,
        "created_at" timestamptz not null, "updated_at" timestamptz not null,
        constraint "log_streams_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade)`,
      `create index if not exists "log_streams_log_index" on "log_streams" ((coalesce("project_id", '${instanceId}')))`,
      // No foreign key: a sign-in must not wait for a stream that is being deleted. project_id: the nil UUID for the instance.
      `create table if not exists "stream_events" ("project_id" uuid not null, "event_id" uuid not null,
        "queued_at" timestamptz not null default clock_timestamp(), "position" bigint null,
        primary key ("project_id", "event_id"))`,
      `create index if not exists "stream_events_position_index" on "stream_events" ("project_id", "position")`,
      `create index if not exists "stream_events_waiting_index" on "stream_events" ("queued_at", "event_id")
        where position is null`,
      `alter table "stream_events" enable row level security`,
      `drop policy if exists "project" on "stream_events"`,
      `create policy "project" on "stream_events"
        using (project_id::text in (current_setting('latchkey.project', true)))`,
    );
    const [{ name } = {}] = await this.execute('select quote_ident(current_schema()) as name');
    // As the owner of the tables: it queues events of the instance and of every project, whatever the scope of the request.
    await this.alter(`create or replace function "queue_stream_events"() returns trigger language plpgsql
      security definer set search_path = pg_catalog as $$
      begin
        if exists (select from ${name}.log_streams) then
          insert into ${name}.stream_events (project_id, event_id)
          select distinct coalesce(s.project_id, '${instanceId}'), new.id from ${name}.log_streams s
          where coalesce(s.project_id, '${instanceId}') in (new.project_id, '${instanceId}')
          on conflict do nothing;
        end if;
        return null;
      end $$`);
    await this.alter(
      `create or replace trigger "audit_log_streams" after insert on "audit_log" for each row
        execute function "queue_stream_events"()`,
    );
  }
}
