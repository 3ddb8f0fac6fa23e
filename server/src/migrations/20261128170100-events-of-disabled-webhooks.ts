import { OnlineMigration } from './online.ts';

/**
 * Events while a webhook is disabled become failed deliveries, without attempts: once the webhook is enabled, an admin can replay
 * them, for as long as failed deliveries are kept.
 */
export class Migration20261128170100EventsOfDisabledWebhooks extends OnlineMigration {
  override async up(): Promise<void> {
    const [{ name } = {}] = await this.execute('select quote_ident(current_schema()) as name');
    await this.alter(`create or replace function "queue_webhook_deliveries"() returns trigger language plpgsql
      security definer set search_path = pg_catalog as $$
      begin
        if exists (select from ${name}.webhooks where project_id = new.project_id) then
          insert into ${name}.webhook_deliveries
            (project_id, id, webhook_id, event_id, type, order_key, state, next_attempt_at, created_at, settled_at)
          select w.project_id, (left(new.id::text, 24) || right(w.id::text, 12))::uuid, w.id, new.id, new.type,
            coalesce(new.subject_id, new.actor_id, ''),
            case when w.disabled_reason is null then 'pending' else 'failed' end,
            case when w.disabled_reason is null then new.at end, new.at,
            case when w.disabled_reason is not null then new.at end
          from ${name}.webhooks w
          where w.project_id = new.project_id
            and (w.types = '{}' or new.type = any(w.types) or split_part(new.type, '.', 1) || '.*' = any(w.types))
          on conflict do nothing;
        end if;
        return null;
      end $$`);
  }
}
