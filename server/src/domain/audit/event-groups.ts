import type { EntityManager } from '@mikro-orm/postgresql';
import { secondsLater } from '../kernel/clock.ts';
import type { Page, PageRequest } from '../kernel/page.ts';
import { type Fragment, query, sql } from '../kernel/sql.ts';
import { AuditEvent } from './audit-event.entity.ts';
import { type EventFilter, eventIds, matching, spanOfSignIn } from './events.ts';
import { firstIdAt, momentOf } from './moment.ts';

/** Events of a group that are read. */
const maxEvents = 100;

/** The events of one sign-in, or a single other event. */
export interface EventGroup {
  /** Id of its newest event that is not a follow-up: its place in the list. */
  id: string;
  /** The newest ones, oldest first; at most {@link maxEvents}. */
  events: AuditEvent[];
  eventCount: number;
}

/** Requests of applications that follow a sign-in. Their events lack its id: user, application and time match them. */
const followUps: readonly string[] = ['consent.given', 'consent.refused', 'token.issued'];
const followUpSeconds = 300;

/** The columns that decide to which group an event belongs. */
interface EventKeys {
  id: string;
  projectId: string;
  type: string;
  subjectId: string | null;
  clientId: string | null;
  signInId: string | null;
}

/**
 * Lists the events of `listEvents`, newest first, with those of one sign-in as one group in the place of its newest
 * event. A group has all its events that match the filter, also beyond the page; each event is in one group, and each
 * group on one page.
 */
export async function listEventGroups(
  em: EntityManager,
  projectId: string | null,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<EventGroup>> {
  const groups: EventKeys[][] = [];
  let { after } = page;
  let newest: string | null = null;
  // Most sign-ins have few events; for others, each round reads twice as many.
  for (let batch = 2 * (page.first + 1); groups.length <= page.first; batch *= 2) {
    const ids = await eventIds(em, projectId, filter, { first: batch, after });
    // The first page ignores events that arrive while it is read.
    if (page.after === null) newest ??= ids[0] ?? null;
    const scope = sql`${matching(projectId, filter)}${newest === null ? sql`` : sql` and id <= ${newest}`}`;
    groups.push(...grouped(ids, await related(em, scope, ids)));
    if (ids.length < batch) break;
    after = ids.at(-1) as string;
  }
  const shown = groups.slice(0, page.first);
  const events = await eventsById(
    em,
    projectId,
    shown.flatMap((group) => shownOf(group).map(({ id }) => id)),
  );
  return {
    items: shown.map((group) => ({
      id: headOf(group).id,
      events: group.flatMap(({ id }) => events.get(id) ?? []),
      eventCount: group.length,
    })),
    hasNextPage: groups.length > page.first,
  };
}

async function eventsById(
  em: EntityManager,
  projectId: string | null,
  ids: string[],
): Promise<Map<string, AuditEvent>> {
  const found = await em.find(AuditEvent, { ...(projectId === null ? {} : { projectId }), id: { $in: ids } });
  return new Map(found.map((event) => [event.id, event]));
}

/** The events with these ids, and all others of their sign-ins. */
async function related(em: EntityManager, scope: Fragment, ids: readonly string[]): Promise<EventKeys[]> {
  const found = await eventKeys(em, sql`audit_log where ${scope} and id = any(${[...ids]}::uuid[])`);
  const members = await membersOf(em, scope, found);
  const own = [...found, ...members];
  return [...new Map([...own, ...(await aroundFollowUps(em, scope, own))].map((event) => [event.id, event])).values()];
}

function membersOf(em: EntityManager, scope: Fragment, found: readonly EventKeys[]): Promise<EventKeys[]> {
  const signIns = [...new Set(found.flatMap(({ signInId }) => signInId ?? []))];
  const spans = merged(signIns.flatMap((signInId) => spanOfSignIn(signInId) ?? []));
  if (spans.length === 0) return Promise.resolve([]);
  return eventKeys(
    em,
    sql`unnest(${spans.map(({ from }) => from)}::uuid[], ${spans.map(({ to }) => to)}::uuid[]) s(span_from, span_to)
      cross join lateral (select * from audit_log where ${scope} and id >= span_from and id < span_to
        and detail->>'signInId' = any(${signIns}::text[])) e`,
  );
}

/** The sign-ins before these follow-ups, and the follow-ups of these sign-ins. */
function aroundFollowUps(em: EntityManager, scope: Fragment, found: readonly EventKeys[]): Promise<EventKeys[]> {
  const spans = found.flatMap((event) => {
    const at = momentOf(event.id);
    if (at === null || event.subjectId === null) return [];
    const [subject, id] = [event.subjectId, event.id];
    if (event.type === 'user.signed_in') {
      return [{ subject, from: id, to: firstIdAt(secondsLater(at, followUpSeconds)) }];
    }
    return followUps.includes(event.type)
      ? [{ subject, from: firstIdAt(secondsLater(at, -followUpSeconds)), to: id }]
      : [];
  });
  if (spans.length === 0) return Promise.resolve([]);
  return eventKeys(
    em,
    sql`unnest(${spans.map(({ subject }) => subject)}::text[], ${spans.map(({ from }) => from)}::uuid[],
        ${spans.map(({ to }) => to)}::uuid[]) s(span_subject, span_from, span_to)
      cross join lateral (select * from audit_log where ${scope} and subject_id = span_subject and id >= span_from
        and id < span_to and type = any(${['user.signed_in', ...followUps]}::text[])) e`,
  );
}

function eventKeys(em: EntityManager, from: Fragment): Promise<EventKeys[]> {
  return query(
    em,
    sql<EventKeys>`select id, project_id as "projectId", type, subject_id as "subjectId", client_id as "clientId",
        detail->>'signInId' as "signInId" from ${from}`,
  );
}

/** Overlapping spans as one. */
function merged(spans: readonly { from: string; to: string }[]): { from: string; to: string }[] {
  const result: { from: string; to: string }[] = [];
  for (const { from, to } of [...spans].sort((one, other) => (one.from < other.from ? -1 : 1))) {
    const last = result.at(-1);
    if (last && from < last.to) last.to = to > last.to ? to : last.to;
    else result.push({ from, to });
  }
  return result;
}

/** The groups whose place is one of `ids`, in their order. @param found these events and all others of their sign-ins */
function grouped(ids: readonly string[], found: readonly EventKeys[]): EventKeys[][] {
  const oldestFirst = [...found].sort((one, other) => (one.id < other.id ? -1 : 1));
  const groups = new Map<string, EventKeys[]>();
  const latest = new Map<string, EventKeys>();
  for (const event of oldestFirst) {
    const place = JSON.stringify([event.projectId, event.subjectId, event.clientId]);
    const signIn = followUps.includes(event.type) ? latest.get(place) : undefined;
    const key = keyOf(signIn && isFollowUp(event, signIn) ? signIn : event);
    groups.set(key, [...(groups.get(key) ?? []), event]);
    if (event.type === 'user.signed_in') latest.set(place, event);
  }
  const byPlace = new Map([...groups.values()].map((group) => [headOf(group).id, group]));
  return ids.flatMap((id) => {
    const group = byPlace.get(id);
    return group ? [group] : [];
  });
}

const keyOf = ({ signInId, id }: EventKeys): string => signInId ?? id;

function isFollowUp(event: EventKeys, signIn: EventKeys): boolean {
  const [at, signedInAt] = [momentOf(event.id), momentOf(signIn.id)];
  return at !== null && signedInAt !== null && at.getTime() - signedInAt.getTime() < followUpSeconds * 1000;
}

/** The newest events of a group, and the one that places it. */
function shownOf(group: readonly EventKeys[]): readonly EventKeys[] {
  const [head, newest] = [headOf(group), group.slice(-maxEvents)];
  return newest.includes(head) ? newest : [head, ...newest.slice(1)];
}

/** A follow-up does not move its sign-in, or a later page could show it again. */
function headOf(group: readonly EventKeys[]): EventKeys {
  return (group.findLast(({ type }) => !followUps.includes(type)) ?? group.at(-1)) as EventKeys;
}
