import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { Runs } from '../kernel/jobs.ts';
import type { Random } from '../kernel/random.ts';
import { inAllProjects, inProject } from '../kernel/scope.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { afterPause } from '../webhooks/attempts.ts';
import { type BatchOutcome, type Portion, portionOf, type SendBatch } from './batch.ts';
import { LogStream, type StreamKind } from './log-stream.entity.ts';
import { eventsAfter, lagOfKinds, logOf, logOfRow, numberEvents } from './stream-log.ts';

/** Lifetime of a claim on a stream; after it, another process delivers. A batch takes at most 10 seconds. */
const leaseSeconds = 18;
/** After this long, a run yields to other streams and processes. */
const runSeconds = 20;
/** Streams that a process delivers to at a time. */
const maxRuns = 200;
const batchSize = 500;

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  vault: Vault;
  send: SendBatch;
  /** The instance's host, for syslog. */
  host: string;
  onBatch?: ((kind: StreamKind, result: 'delivered' | 'failed') => void) | undefined;
}

/**
 * Delivers events to log streams, at least once and in order (decisions/0185). One process at a time delivers to a
 * stream, under a claim that expires, batch by batch. Streams do not wait for each other.
 */
export class StreamRelay {
  private readonly runs = new Runs(maxRuns);

  constructor(private readonly deps: Deps) {}

  /** Numbers new events, claims streams with events to deliver, and starts to deliver without waiting for it. */
  async start(onError: (error: unknown) => void): Promise<void> {
    const { free } = this.runs;
    if (free === 0) return;
    const { clock, db, random } = this.deps;
    await numberEvents(db);
    const now = clock.now();
    const lease = random.id();
    const claimed = await query(
      db.alone,
      sql<{ id: string; project_id: string | null }>`
        with due as (
          select s.id from log_streams s
          where not s.paused and coalesce(s.leased_until <= ${now}, true) and coalesce(s.next_attempt_at <= ${now}, true)
            and exists (select from stream_events e where e.project_id = ${logOfRow} and e.position > s.position)
          order by s.leased_until nulls first limit ${free} for update skip locked)
        update log_streams s set lease = ${lease}, leased_until = ${secondsLater(now, leaseSeconds)}
        from due where s.id = due.id returning s.id, s.project_id`,
    );
    for (const { id, project_id } of claimed) {
      const run = () => this.run(id, lease);
      this.runs.start(() => (project_id === null ? inAllProjects(run) : inProject(project_id, run)), onError);
    }
  }

  /** Starts nothing more, and waits for batches in progress. */
  drain(): Promise<void> {
    return this.runs.drain();
  }

  /** Waits for the batches that were started. */
  settled(): Promise<void> {
    return this.runs.settled();
  }

  /** Seconds since the oldest waiting event, by kind, for metrics. */
  lag(): Promise<{ kind: StreamKind; seconds: number }[]> {
    return lagOfKinds(this.deps.db);
  }

  private async run(id: string, lease: string): Promise<void> {
    const { clock, db, host, send, vault } = this.deps;
    const endsAt = secondsLater(clock.now(), runSeconds);
    while (!this.runs.isStopping && clock.now() < endsAt) {
      const stream = await this.renew(id, lease);
      if (!stream) break;
      // A receiver may refuse a batch for its size.
      const limit = Math.max(1, batchSize >> Math.min(stream.failures, 10));
      const numbered = await eventsAfter(db, logOf(stream), stream.position, limit);
      if (numbered.length === 0) break;
      const portion = portionOf(stream, numbered, vault, host);
      const outcome = portion.batch && (await send(portion.batch));
      if (!(await this.settle(stream, lease, portion, outcome))) break;
      if (numbered.length < limit && !portion.isCut) break;
    }
    await execute(
      db.alone,
      sql`update log_streams set lease = null, leased_until = ${clock.now()} where id = ${id} and lease = ${lease}`,
    );
  }

  /** Renews the claim. Returns the current stream; null if another process has claimed it, or it was paused or deleted. */
  private async renew(id: string, lease: string): Promise<LogStream | null> {
    const { clock, db } = this.deps;
    const renewed = await execute(
      db.alone,
      sql`update log_streams set leased_until = ${secondsLater(clock.now(), leaseSeconds)}
        where id = ${id} and lease = ${lease} and not paused`,
    );
    return renewed === 1 ? db.reader().findOne(LogStream, { id }) : null;
  }

  /** Advances the stream, or schedules a retry. @returns whether to continue */
  private async settle(
    stream: LogStream,
    lease: string,
    { position }: Portion,
    outcome: BatchOutcome | null,
  ): Promise<boolean> {
    const { clock, db, onBatch } = this.deps;
    const now = clock.now();
    const own = sql`where id = ${stream.id} and lease = ${lease}`;
    if (outcome === null) {
      return (await execute(db.alone, sql`update log_streams set position = ${position} ${own}`)) === 1;
    }
    onBatch?.(stream.kind, 'error' in outcome ? 'failed' : 'delivered');
    if ('error' in outcome) {
      await execute(
        db.alone,
        sql`update log_streams set failures = ${stream.failures + 1}, failing_since = coalesce(failing_since, ${now}),
            last_error = ${outcome.error.slice(0, 300)}, next_attempt_at = ${afterPause(now, stream.failures)} ${own}`,
      );
      return false;
    }
    const moved = sql`update log_streams set position = ${position}, failures = 0, failing_since = null, last_error = null,
      next_attempt_at = null, last_delivered_at = ${now} ${own}`;
    return (await execute(db.alone, moved)) === 1;
  }
}
