import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../kernel/clock.ts';
import type { Page, PageRequest } from '../kernel/page.ts';
import { type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { AuditEvent, instanceId } from './audit-event.entity.ts';
import { firstIdAfter, firstIdAt, firstIdFrom, momentOf } from './moment.ts';

/** Filter of events; an absent field does not filter. */
export interface EventFilter {
  /** Any of these. */
  types?: readonly string[] | undefined;
  result?: 'success' | 'failure' | undefined;
  /** Actor or subject. */
  userId?: string | undefined;
  actorId?: string | undefined;
  subjectId?: string | undefined;
  clientId?: string | undefined;
  /** Value of the `X-Request-Id` response header. */
  requestId?: string | undefined;
  /** `signInId` of the detail. */
  signInId?: string | undefined;
  /** `organizationId` of the detail. */
  organizationId?: string | undefined;
  /** Inclusive. */
  since?: Date | undefined;
  /** Exclusive. */
  until?: Date | undefined;
}

/** Time for which an event counts repeated refusals (`Audit.recordRepeated`). */
const repeatedSeconds = 3600;
/**
 * Ten minutes for the sign-in, five for the change that it allows, and ten if it continues under a new `txn`; a message waits
 * for five at most.
 */
const longestSignInSeconds = 1800;
/** All events of a request are written within this time of its start. */
const longestRequestSeconds = 300;

/** Newest first. @param projectId `null`: the instance and all projects */
export async function listEvents(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<AuditEvent>> {
  const ids = await eventIds(em, projectId, filter, { first: page.first + 1, after: page.after });
  const ofProject = projectId === null ? {} : { projectId };
  const found = await em.find(
    AuditEvent,
    { ...ofProject, id: { $in: ids.slice(0, page.first) } },
    { orderBy: { id: 'desc' } },
  );
  return { items: found, hasNextPage: ids.length > page.first };
}

export async function eventIds(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<string[]> {
  if (filter.types?.length === 0) return [];
  const found = await query(em, statementOf(projectId, filter, page));
  return found.map(({ id }) => id);
}

/** An event in an export file. */
export interface EventRecord {
  id: string;
  at: string;
  type: string;
  result: 'success' | 'failure';
  actorKind: string;
  actorId: string | null;
  actorName: string | null;
  subjectKind: string | null;
  subjectId: string | null;
  subjectName: string | null;
  clientId: string | null;
  clientName: string | null;
  projectId: string | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
  detail: Record<string, unknown> | null;
}

const exportPage = 500;

const recordColumns = sql`e.id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, e.type, e.result,
  e.actor_kind as "actorKind", e.actor_id as "actorId", e.actor_name as "actorName", e.subject_kind as "subjectKind",
  e.subject_id as "subjectId", e.subject_name as "subjectName", e.client_id as "clientId", c.name as "clientName",
  nullif(e.project_id, ${instanceId}) as "projectId", e.ip, e.user_agent as "userAgent", e.request_id as "requestId",
  e.detail`;

/** Events of the instance and all projects by the time in their ids, oldest first, read in batches. */
export async function* eachEventOf(
  reader: () => EntityManager,
  since: Date,
  until: Date,
): AsyncGenerator<EventRecord[]> {
  const end = firstIdAt(until);
  for (let from = firstIdAt(since), first = true; ; first = false) {
    const found: EventRecord[] = await query(
      reader(),
      sql<EventRecord>`select ${recordColumns}
        from audit_log e left join clients c on c.project_id = e.project_id and c.id = e.client_id
        where e.id ${first ? sql`>=` : sql`>`} ${from} and e.id < ${end} order by e.id limit ${exportPage}`,
    );
    if (found.length > 0) yield found;
    if (found.length < exportPage) return;
    from = found.at(-1)?.id as string;
  }
}

/** All events, newest first, read in batches. */
export async function* eachEvent(
  reader: () => EntityManager,
  projectId: string | null,
  filter: EventFilter,
): AsyncGenerator<EventRecord[]> {
  if (filter.types?.length === 0) return;
  for (let after: string | null = null; ; ) {
    const found: EventRecord[] = await query(
      reader(),
      sql<EventRecord>`select ${recordColumns}
        from (${statementOf(projectId, filter, { first: exportPage, after })}) as wanted
        join audit_log e on ${projectId === null ? sql`` : sql`e.project_id = ${projectId} and `}e.id = wanted.id
        left join clients c on c.project_id = e.project_id and c.id = e.client_id
        order by e.id desc`,
    );
    if (found.length > 0) yield found;
    if (found.length < exportPage) return;
    after = found.at(-1)?.id ?? null;
  }
}

/**
 * Each alternative of a filter (one of several types, actor or subject) reads at most a page of newest rows from its
 * own index; the page is the newest of these. An `or` would read all rows first.
 */
export function statementOf(
  projectId: string | null,
  filter: EventFilter,
  { first, after }: PageRequest,
): Statement<{ id: string }> {
  const { types, userId } = filter;
  const common = [...commonOf(projectId, filter), ...(after === null ? [] : [sql`id < ${after}`])];
  const people = userId === undefined ? [[]] : [[sql`actor_id = ${userId}`], [sql`subject_id = ${userId}`]];
  const requests = filter.requestId === undefined ? [[]] : ofRequest(filter.requestId);
  const alternatives = people.flatMap((person) => requests.map((request) => [...person, ...request]));
  const newest = (conditions: readonly Fragment[]) =>
    sql<{
      id: string;
    }>`select id from audit_log${conditions.length === 0 ? sql`` : sql` where ${sql.join(conditions, sql` and `)}`}
      order by id desc limit ${first}`;
  // One user has few events: filter by type. A project has many: use the index of each type.
  const { actorId, subjectId, requestId, signInId, organizationId } = filter;
  const isNarrow = [userId, actorId, subjectId, requestId, signInId, organizationId].some(
    (value) => value !== undefined,
  );
  const branches = alternatives.map((alternative) => {
    const conditions = [...alternative, ...common];
    if (types === undefined) return newest(conditions);
    if (types.length === 1) return newest([sql`type = ${types[0]}`, ...conditions]);
    if (isNarrow) return newest([sql`type = any(${[...types]}::text[])`, ...conditions]);
    return sql<{ id: string }>`select e.id from unnest(${[...new Set(types)]}::text[]) as t(name)
      cross join lateral (${newest([sql`type = t.name`, ...conditions])}) e`;
  });
  if (branches.length === 1 && (types === undefined || types.length === 1 || isNarrow))
    return branches[0] as Statement<{ id: string }>;
  const union = sql.join(
    branches.map((branch) => sql`(${branch})`),
    sql` union `,
  );
  return sql`select id from (${union}) as candidates order by id desc limit ${first}`;
}

/** SQL: whether an event matches, for reading events that another condition has found. */
export function matching(projectId: string | null, filter: EventFilter): Fragment {
  const { types, userId, requestId } = filter;
  const both = (conditions: readonly Fragment[]) => sql`(${sql.join(conditions, sql` and `)})`;
  return both([
    ...commonOf(projectId, filter),
    ...(types === undefined ? [] : [sql`type = any(${[...types]}::text[])`]),
    ...(userId === undefined ? [] : [sql`(actor_id = ${userId} or subject_id = ${userId})`]),
    ...(requestId === undefined ? [] : [sql`(${sql.join(ofRequest(requestId).map(both), sql` or `)})`]),
    sql`true`,
  ]);
}

/** The conditions of a filter that have no alternatives. */
function commonOf(projectId: string | null, filter: EventFilter): Fragment[] {
  return [
    ...(projectId === null ? [] : [sql`project_id = ${projectId}`]),
    // A literal, since the partial indexes of failures cannot match a parameter.
    ...(filter.result ? [sql.raw(filter.result === 'failure' ? "result = 'failure'" : "result = 'success'")] : []),
    ...(filter.actorId === undefined ? [] : [sql`actor_id = ${filter.actorId}`]),
    ...(filter.subjectId === undefined ? [] : [sql`subject_id = ${filter.subjectId}`]),
    ...(filter.clientId === undefined ? [] : [sql`client_id = ${filter.clientId}`]),
    ...(filter.organizationId === undefined ? [] : [sql`detail->>'organizationId' = ${filter.organizationId}`]),
    ...(filter.signInId === undefined ? [] : ofSignIn(filter.signInId)),
    ...(filter.since === undefined ? [] : [sql`at >= ${filter.since} and id >= ${firstIdFrom(filter.since)}`]),
    ...(filter.until === undefined ? [] : [sql`at < ${filter.until} and id < ${firstIdAfter(filter.until)}`]),
  ];
}

/** Needs no index of sign-ins: the ids of sign-ins and events contain their times. */
function ofSignIn(signInId: string): Fragment[] {
  const span = spanOfSignIn(signInId);
  if (!span) return [sql`false`];
  return [sql`detail->>'signInId' = ${signInId}`, sql`id >= ${span.from} and id < ${span.to}`];
}

/** A lower and an upper bound for the ids of a sign-in's events; null if the id is not that of a sign-in. */
export function spanOfSignIn(signInId: string): { from: string; to: string } | null {
  const begun = momentOf(signInId);
  return begun && { from: firstIdFrom(begun), to: firstIdAfter(secondsLater(begun, longestSignInSeconds)) };
}

/**
 * The events of a request, and the repeated refusals that count it. Needs no index of requests: the ids of requests and
 * events contain their times.
 */
function ofRequest(requestId: string): Fragment[][] {
  const begun = momentOf(requestId);
  if (begun === null) return [[sql`false`]];
  const end = firstIdAfter(secondsLater(begun, longestRequestSeconds));
  return [
    [sql`request_id = ${requestId}`, sql`id >= ${firstIdFrom(begun)} and id < ${end}`],
    [
      sql`result = 'failure' and detail->'requestIds' @> to_jsonb(${requestId}::text)`,
      sql`id >= ${firstIdFrom(secondsLater(begun, -repeatedSeconds))} and id < ${end}`,
    ],
  ];
}
