import { AuditEvent, instanceId } from '../audit/audit-event.entity.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, type Statement, sql } from '../kernel/sql.ts';
import type { LaneLag } from '../relay/channel.ts';
import type { LogStream, StreamKind } from './log-stream.entity.ts';

/** Key of the advisory lock: one process at a time numbers events. */
const numberLock = 7_316_904_558;
/** Events that one statement numbers. */
const batchSize = 5000;

/** The log that a stream reads: that of its project, or that of the instance, which has the events of all projects. */
export const logOf = ({ project }: Pick<LogStream, 'project'>): string => project?.id ?? instanceId;

/** SQL: the log of a row `s` of `log_streams`. */
export const logOfRow = sql`coalesce(s.project_id, ${sql.lit(instanceId)})`;

/**
 * Gives committed events their positions, by log. An event gets its position after its commit, so that no position is
 * added before the one that a stream has reached. Events of one subject keep their order: they hold its lock until they
 * commit, and `queued_at` is by the clock of the database.
 */
export async function numberEvents(db: Database): Promise<void> {
  const waiting = sql<{ any: boolean }>`select exists (select 1 from stream_events where position is null) as any`;
  while ((await query(db.alone, waiting))[0]?.any === true) {
    const count = await db.statements(async (on) => {
      const [lock] = await query(on, sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${numberLock}) as held`);
      if (lock?.held !== true) return 0;
      // A separate statement: its snapshot begins after the lock.
      return execute(
        on,
        sql`with waiting as (
            select project_id, event_id, row_number() over (partition by project_id order by queued_at, event_id) as place
            from (select project_id, event_id, queued_at from stream_events where position is null
              order by queued_at, event_id limit ${batchSize}) oldest),
          heads as (
            select project_id, greatest(
              (select max(e.position) from stream_events e where e.project_id = w.project_id),
              (select max(s.position) from log_streams s where ${logOfRow} = w.project_id), 0) as head
            from (select distinct project_id from waiting) w)
          update stream_events e set position = h.head + w.place
          from waiting w join heads h on h.project_id = w.project_id
          where e.project_id = w.project_id and e.event_id = w.event_id`,
      );
    });
    if (count < batchSize) return;
  }
}

/** An event of a log. */
export interface Numbered {
  position: number;
  /** Absent if an erasure of the log has removed it. */
  event: AuditEvent | undefined;
}

/** Events after a position, in order. */
export async function eventsAfter(db: Database, log: string, position: number, limit: number): Promise<Numbered[]> {
  const rows = await query(
    db.alone,
    sql<{ position: string; id: string }>`select position, event_id as id from stream_events
      where project_id = ${log} and position > ${position} order by position limit ${limit}`,
  );
  const ids = { id: { $in: rows.map(({ id }) => id) } };
  const ofLog = log === instanceId ? ids : { projectId: log, ...ids };
  const events = new Map((await db.reader().find(AuditEvent, ofLog)).map((event) => [event.id, event]));
  return rows.map((row) => ({ position: Number(row.position), event: events.get(row.id) }));
}

/** Lag of a stream. */
export interface Lag {
  /** Events of its log that it has not passed, counted up to 10,000; its filter may skip some. */
  waiting: number;
  /** Time at which the oldest of them was recorded; null: none. */
  since: Date | null;
}

const maxCounted = 10_000;

export async function lagOf(db: Database, stream: LogStream): Promise<Lag> {
  const [row] = await query(
    db.alone,
    sql<{ waiting: number; since: string | null }>`select count(*)::int as waiting, min(queued_at) as since from (
      select queued_at from stream_events
      where project_id = ${logOf(stream)} and (position > ${stream.position} or position is null)
      order by position limit ${maxCounted}) w`,
  );
  return { waiting: row?.waiting ?? 0, since: row?.since == null ? null : new Date(row.since) };
}

/** Seconds since the oldest waiting event of each kind of stream that is not paused; 0: none waits. */
export function lagOfKinds(db: Database): Promise<{ kind: StreamKind; seconds: number }[]> {
  return query(
    db.alone,
    sql<{ kind: StreamKind; seconds: number }>`
      select s.kind, coalesce(max(extract(epoch from clock_timestamp() - least(
          (select e.queued_at from stream_events e where e.project_id = ${logOfRow} and e.position > s.position
            order by e.position limit 1),
          (select min(e.queued_at) from stream_events e where e.project_id = ${logOfRow} and e.position is null)))),
        0)::float8 as seconds
      from log_streams s where not s.paused group by s.kind`,
  );
}

/** Events that streams have not passed, and the age of the oldest, by lane (`StreamChannel`). */
export function lagOfLanes(): Statement<LaneLag> {
  const waits = sql`e.project_id = ${logOfRow} and (e.position > s.position or e.position is null)`;
  return sql`select case when s.failures = 0 then 'streams' else 'streams-slow' end as lane, coalesce(sum(pending), 0)::int as pending,
      coalesce(max(extract(epoch from clock_timestamp() - since)), 0)::float8 as seconds
    from log_streams s cross join lateral (
      select count(*) as pending, min(queued_at) as since from (
        select e.queued_at from stream_events e where ${waits} order by e.position limit ${maxCounted}) w) w
    where not s.paused group by 1`;
}
