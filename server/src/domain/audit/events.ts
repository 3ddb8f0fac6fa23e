import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../kernel/clock.ts';
import type { Page, PageRequest } from '../kernel/page.ts';
import { joined, query, type Sql, sql } from '../kernel/statement.ts';
import { AuditEvent } from './audit-event.entity.ts';
import { firstIdAfter, firstIdFrom, momentOf } from './moment.ts';

/** Which events; what is absent is not asked. */
export interface EventFilter {
  /** Any of these. */
  types?: readonly string[] | undefined;
  result?: 'success' | 'failure' | undefined;
  /** Done by them or to them. */
  userId?: string | undefined;
  actorId?: string | undefined;
  subjectId?: string | undefined;
  clientId?: string | undefined;
  /** As people read it in an answer's `X-Request-Id`. */
  requestId?: string | undefined;
  /** From here on. */
  since?: Date | undefined;
  /** Before this. */
  until?: Date | undefined;
}

/** A request's events are written within this of its beginning. */
const longestRequestSeconds = 300;

/** Newest first. @param projectId `null` for those of the instance and of all its projects */
export async function listEvents(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<AuditEvent>> {
  const ids = await eventIds(em, projectId, filter, { first: page.first + 1, after: page.after });
  const found = await em.find(AuditEvent, { id: { $in: ids.slice(0, page.first) } }, { orderBy: { id: 'desc' } });
  return { items: found, hasNextPage: ids.length > page.first };
}

async function eventIds(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<string[]> {
  if (filter.types?.length === 0) return [];
  const found = await query<{ id: string }>(em, statementOf(projectId, filter, page));
  return found.map(({ id }) => id);
}

/**
 * Each alternative of a filter (one of several types, by somebody or about them) reads its own newest rows from its own
 * index and no more of them than a page holds; the page is the newest of all. An `or` would read everything first.
 */
export function statementOf(projectId: string | null, filter: EventFilter, { first, after }: PageRequest): Sql {
  const { types, userId } = filter;
  const common = [
    ...(projectId === null ? [] : [sql`project_id = ${projectId}`]),
    ...(filter.result ? [sql`result = ${filter.result}`] : []),
    ...(filter.actorId === undefined ? [] : [sql`actor_id = ${filter.actorId}`]),
    ...(filter.subjectId === undefined ? [] : [sql`subject_id = ${filter.subjectId}`]),
    ...(filter.clientId === undefined ? [] : [sql`client_id = ${filter.clientId}`]),
    ...(filter.requestId === undefined ? [] : ofRequest(filter.requestId)),
    ...(filter.since === undefined ? [] : [sql`at >= ${filter.since} and id >= ${firstIdFrom(filter.since)}`]),
    ...(filter.until === undefined ? [] : [sql`at < ${filter.until} and id < ${firstIdAfter(filter.until)}`]),
    ...(after === null ? [] : [sql`id < ${after}`]),
  ];
  const people = userId === undefined ? [[]] : [[sql`actor_id = ${userId}`], [sql`subject_id = ${userId}`]];
  const newest = (conditions: readonly Sql[]) =>
    sql`select id from audit_events${conditions.length === 0 ? sql`` : sql` where ${joined(conditions, ' and ')}`}
        order by id desc limit ${first}`;
  // Somebody's own events are few: their types are filtered. Those of a project are many: each type has its index.
  const isNarrow = [userId, filter.actorId, filter.subjectId, filter.requestId].some((value) => value !== undefined);
  const branches = people.map((person) => {
    const conditions = [...person, ...common];
    if (types === undefined) return newest(conditions);
    if (types.length === 1) return newest([sql`type = ${types[0]}`, ...conditions]);
    if (isNarrow) return newest([sql`type = any(${[...types]}::text[])`, ...conditions]);
    return sql`select e.id from unnest(${[...new Set(types)]}::text[]) as t(name)
               cross join lateral (${newest([sql`type = t.name`, ...conditions])}) e`;
  });
  if (branches.length === 1 && (types === undefined || types.length === 1 || isNarrow)) return branches[0] as Sql;
  const union = joined(
    branches.map((branch) => sql`(${branch})`),
    ' union ',
  );
  return sql`select id from (${union}) as candidates order by id desc limit ${first}`;
}

/** No index is needed: ids of requests hold their time, and so do those of events. */
function ofRequest(requestId: string): Sql[] {
  const begun = momentOf(requestId);
  const condition = sql`request_id = ${requestId}`;
  if (begun === null) return [sql`false`];
  return [
    condition,
    sql`id >= ${firstIdFrom(begun)} and id < ${firstIdAfter(secondsLater(begun, longestRequestSeconds))}`,
  ];
}
