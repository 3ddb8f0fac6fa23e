import { OnlineMigration } from './online.ts';

/**
 * Webhooks of projects, and their deliveries. A trigger queues a delivery in the transaction of the event, also for events
 * of the previous release. It only looks up the project's webhooks.
 */
export class Migration20261123031000Webhooks extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter(
      `create table if not exists "webhooks" ("project_id" uuid not null, "id" uuid not null, "url" text not null,
        "description" text not null default '', "types" text[] not null, "disabled_reason" text null,
        "sealed_secret" bytea not null, "secret_created_at" timestamptz not null,
        "sealed_previous_secret" bytea null, "previous_secret_until" timestamptz null,
        "failures" int not null default 0, "failing_since" timestamptz null, "last_delivered_at" timestamptz null,
        "next_attempt_at" timestamptz null, "lease" uuid null, "leased_until" timestamptz null,
        "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("project_id", "id"),
        constraint "webhooks_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete cascade)`,
      // No foreign key: a sign-in must not wait for, or fail because of, a webhook that is being deleted.
      `create table if not exists "webhook_deliveries" ("project_id" uuid not null, "id" uuid not null,
        "webhook_id" uuid not null, "event_id" uuid not null, "type" text not null, "order_key" text not null,
        "state" text not null default 'pending', "tries" int not null default 0, "attempts" jsonb not null default '[]',
        "queued_at" timestamptz not null default clock_timestamp(), "next_attempt_at" timestamptz null,
        "created_at" timestamptz not null, "settled_at" timestamptz null, primary key ("project_id", "id"))`,
      `create index if not exists "webhook_deliveries_pending_index" on "webhook_deliveries"
        ("project_id", "webhook_id", "queued_at") where state = 'pending'`,
      `create index if not exists "webhook_deliveries_order_index" on "webhook_deliveries"
        ("project_id", "webhook_id", "order_key", "queued_at") where state = 'pending'`,
      `create index if not exists "webhook_deliveries_list_index" on "webhook_deliveries"
        ("project_id", "webhook_id", "state", "id")`,
      `create index if not exists "webhook_deliveries_settled_index" on "webhook_deliveries" ("settled_at")
        where settled_at is not null`,
    );
    for (const table of ['webhooks', 'webhook_deliveries']) {
      await this.alter(
        `alter table "${table}" enable row level security`,
        `drop policy if exists "project" on "${table}"`,
        `create policy "project" on "${table}" using (project_id::text in (current_setting('latchkey.project', true)))`,
      );
    }
    const [{ name } = {}] = await this.execute('select quote_ident(current_schema()) as name');
    // As the owner of the tables: it queues events of the instance and of every project, whatever the scope of the request.
    await this.alter(`create or replace function "queue_webhook_deliveries"() returns trigger language plpgsql
      security definer set search_path = pg_catalog as $$
      begin
        if exists (select from ${name}.webhooks where project_id = new.project_id) then
          insert into ${name}.webhook_deliveries (project_id, id, webhook_id, event_id, type, order_key, next_attempt_at, created_at)
          select w.project_id, (left(new.id::text, 24) || right(w.id::text, 12))::uuid, w.id, new.id, new.type,
            coalesce(new.subject_id, new.actor_id, ''), new.at, new.at
          from ${name}.webhooks w
          where w.project_id = new.project_id and w.disabled_reason is null
            and (w.types = '{}' or new.type = any(w.types) or split_part(new.type, '.', 1) || '.*' = any(w.types))
          on conflict do nothing;
        end if;
        return null;
      end $$`);
    await this.alter(
      `create or replace trigger "audit_log_webhooks" after insert on "audit_log" for each row
        execute function "queue_webhook_deliveries"()`,
    );
  }
}
