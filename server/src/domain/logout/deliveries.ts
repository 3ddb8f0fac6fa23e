import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../kernel/clock.ts';
import type { Page, PageRequest } from '../kernel/page.ts';
import { type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { LogoutDelivery, type LogoutDeliveryState, logoutDeliveryStates } from './logout-delivery.entity.ts';
import { logoutUri } from './uses.ts';

/** Filter of deliveries; an absent field does not filter. */
export interface DeliveryFilter {
  clientId?: string | undefined;
  state?: LogoutDeliveryState | undefined;
  /** User whose sessions ended. */
  userId?: string | undefined;
}

/** Newest first. */
export async function listDeliveries(
  em: EntityManager,
  projectId: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Page<LogoutDelivery>> {
  const request = { first: page.first + 1, after: page.after };
  const found = await query(em, deliveriesStatement(projectId, filter, request));
  const ids = found.slice(0, page.first).map(({ id }) => id);
  const items = await em.find(LogoutDelivery, { project: projectId, id: { $in: ids } }, { orderBy: { id: 'desc' } });
  return { items, hasNextPage: found.length > page.first };
}

/** Each index begins with the filtered columns and ends in the id; those by application include the state. */
export function deliveriesStatement(
  projectId: string,
  filter: DeliveryFilter,
  { first, after }: PageRequest,
): Statement<{ id: string }> {
  const { clientId, state, userId } = filter;
  const conditions = [
    sql`project_id = ${projectId}`,
    ...(clientId === undefined ? [] : [sql`client_id = ${clientId}`]),
    ...(userId === undefined ? [] : [sql`subject = ${userId}`]),
    ...(after === null ? [] : [sql`id < ${after}`]),
  ];
  const newest = (more: readonly Fragment[]) =>
    sql<{ id: string }>`(select id from logout_deliveries where ${sql.join([...conditions, ...more], sql` and `)}
      order by id desc limit ${first})`;
  if (state !== undefined) return newest([sql`state = ${state}`]);
  if (clientId === undefined || userId !== undefined) return newest([]);
  const each = logoutDeliveryStates.map((one) => newest([sql`state = ${one}`]));
  return sql`select id from (${sql.join(each, sql` union all `)}) as candidates order by id desc limit ${first}`;
}

/** Recent delivery results of a client. */
export interface Receiver {
  projectId: string;
  clientId: string;
  delivered: number;
  pending: number;
  failed: number;
  /** Time of the last successful delivery. */
  lastDeliveredAt: string | null;
}

/** Period of the counts of {@link receiversOf}. */
const receiverDays = 7;

/** Every client of a project that receives logouts or recently did, with the results. */
export function receiversOf(em: EntityManager, projectId: string, now: Date): Promise<Receiver[]> {
  const since = secondsLater(now, -receiverDays * 24 * 3600);
  return query(
    em,
    sql<Receiver>`select c.project_id as "projectId", c.id as "clientId", coalesce(d.delivered, 0)::int as delivered,
        coalesce(d.pending, 0)::int as pending, coalesce(d.failed, 0)::int as failed, d.last as "lastDeliveredAt"
      from clients c
      left join (
        select client_id, count(*) filter (where state = 'delivered') as delivered,
          count(*) filter (where state = 'pending') as pending, count(*) filter (where state = 'failed') as failed,
          to_char(max(delivered_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as last
        from logout_deliveries where project_id = ${projectId} and created_at >= ${since}
        group by client_id) d on d.client_id = c.id
      where c.project_id = ${projectId} and (${logoutUri('c')} is not null or d.client_id is not null)
      order by coalesce(d.failed, 0) desc, coalesce(d.pending, 0) desc, c.name, c.id
      limit 100`,
  );
}
