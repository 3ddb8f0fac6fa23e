import { instanceId } from '../audit/audit-event.entity.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { Channel, Claimed } from '../relay/channel.ts';
import type { Lane, Waiting } from '../relay/round-robin.ts';
import { afterPause, longestPause } from '../webhooks/attempts.ts';
import { type BatchOutcome, type Portion, portionOf, type SendBatch } from './batch.ts';
import { LogStream, type StreamKind } from './log-stream.entity.ts';
import { eventsAfter, lagOfLanes, logOf, numberEvents } from './stream-log.ts';

/** Lifetime of a claim on a stream; after it, another process delivers. A batch takes at most 10 seconds. */
const leaseSeconds = 18;
/** After this long, a run yields to other streams and processes. */
const runSeconds = 20;
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
 * Delivers events to log streams, at least once and in order (decisions/0185), batch by batch. Streams that failed last have
 * their own lane.
 */
export class StreamChannel implements Channel {
  readonly lanes: readonly Lane[] = [
    { name: 'streams', atOnce: 100, ofProject: 10, ofReceiver: 1 },
    { name: 'streams-slow', atOnce: 200, ofProject: 10, ofReceiver: 1 },
  ];
  readonly slowLane = 1;
  readonly table = 'log_streams';
  readonly lane = sql`(case when t.failures = 0 then 0 else 1 end)`;
  readonly project = sql`coalesce(t.project_id, ${sql.lit(instanceId)})`;
  readonly receiver = sql`t.id`;
  readonly token = sql`t.lease`;
  readonly waits = [
    { table: 'log_streams', column: 'leased_until', longestSeconds: sql`${leaseSeconds}` },
    { table: 'log_streams', column: 'next_attempt_at', longestSeconds: sql`${longestPause}` },
  ];

  constructor(private readonly deps: Deps) {}

  prepare(): Promise<void> {
    return numberEvents(this.deps.db);
  }

  waiting(now: Date) {
    return sql<Waiting>`select ${this.lane} as lane, ${this.project} as project, t.id::text as receiver from log_streams t
      where ${this.isDue(now)}`;
  }

  isDue(now: Date) {
    return sql`not t.paused and coalesce(t.leased_until <= ${now}, true) and coalesce(t.next_attempt_at <= ${now}, true)
      and exists (select from stream_events e where e.project_id = ${this.project} and e.position > t.position)`;
  }

  claim(now: Date) {
    return sql`lease = ${this.deps.random.id()}, leased_until = ${secondsLater(now, leaseSeconds)}`;
  }

  lag() {
    return lagOfLanes();
  }

  async deliver({ id, token: lease }: Claimed, isEnding: () => boolean): Promise<void> {
    const { clock, db, host, send, vault } = this.deps;
    const endsAt = secondsLater(clock.now(), runSeconds);
    while (!isEnding() && clock.now() < endsAt) {
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
      sql`update log_streams set lease = null, leased_until = null where id = ${id} and lease = ${lease}`,
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
