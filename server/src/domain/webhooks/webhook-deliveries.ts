import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventType } from '../audit/event-types.ts';
import type { Page, PageRequest } from '../kernel/page.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { WebhookDelivery, type WebhookDeliveryState, webhookDeliveryStates } from './webhook-delivery.entity.ts';
import { ofWebhook } from './webhooks.ts';

/** Filter of deliveries; an absent field does not filter. */
export interface WebhookDeliveryFilter {
  state?: WebhookDeliveryState | undefined;
  type?: EventType | undefined;
}

/** Newest event first. */
export async function listWebhookDeliveries(
  em: EntityManager,
  webhook: TenantKey,
  filter: WebhookDeliveryFilter,
  page: PageRequest,
): Promise<Page<WebhookDelivery>> {
  const found = await query(em, statementOf(webhook, filter, { first: page.first + 1, after: page.after }));
  const ids = found.slice(0, page.first).map(({ id }) => id);
  const items = await em.find(
    WebhookDelivery,
    { project: webhook.project.id, id: { $in: ids } },
    { orderBy: { id: 'desc' } },
  );
  return { items, hasNextPage: found.length > page.first };
}

/** Reads each state from its part of the index. */
function statementOf(
  webhook: TenantKey,
  { state, type }: WebhookDeliveryFilter,
  { first, after }: PageRequest,
): Statement<{ id: string }> {
  const conditions = [
    ofWebhook(webhook),
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(after === null ? [] : [sql`id < ${after}`]),
  ];
  const each = (state === undefined ? webhookDeliveryStates : [state]).map(
    (one) => sql`(select id from webhook_deliveries where ${sql.join([...conditions, sql`state = ${one}`], sql` and `)}
      order by id desc limit ${first})`,
  );
  return sql`select id from (${sql.join(each, sql` union all `)}) as candidates order by id desc limit ${first}`;
}

/** Deliveries of a webhook in one state, counted up to 1,000. */
export async function countDeliveries(em: EntityManager, webhook: TenantKey, state: WebhookDeliveryState) {
  const [row] = await query(
    em,
    sql<{ count: number }>`select count(*)::int as count from (
      select 1 from webhook_deliveries where ${ofWebhook(webhook)} and state = ${state} limit 1000) as counted`,
  );
  return row?.count ?? 0;
}
