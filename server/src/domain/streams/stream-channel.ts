import { instanceId } from '../audit/audit-event.entity.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { Claimed } from '../relay/channel.ts';
import { pauses, ReceiverChannel } from '../relay/receiver-channel.ts';
import type { Lane } from '../relay/round-robin.ts';
import { type BatchOutcome, type Portion, portionOf, type SendBatch } from './batch.ts';
import { LogStream, type StreamKind } from './log-stream.entity.ts';
import { eventsAfter, lagOfLanes, logOf, numberEvents } from './stream-log.ts';

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
 * Delivers events to log streams, at least once and in order (decisions/0185), batch by batch. Streams whose last
 * attempt failed have their own lane.
 */
export class StreamChannel extends ReceiverChannel<Deps> {
  readonly lanes: readonly Lane[] = [
    { name: 'streams', atOnce: 100, ofProject: 10, ofReceiver: 1 },
    { name: 'streams-slow', atOnce: 200, ofProject: 10, ofReceiver: 1 },
  ];
  readonly table = 'log_streams';
  readonly project = sql`coalesce(t.project_id, ${sql.lit(instanceId)})`;
  protected readonly isEnabled = sql`not t.paused`;

  prepare(): Promise<void> {
    return numberEvents(this.deps.db);
  }

  protected hasDue() {
    return sql`exists (select 1 from stream_events e where e.project_id = ${this.project} and e.position > t.position)`;
  }

  lag() {
    return lagOfLanes();
  }

  /** A batch, which takes at most 10 seconds. */
  protected async round({ id, token: lease }: Claimed): Promise<boolean> {
    const { db, host, send, vault } = this.deps;
    const stream = await db.reader().findOne(LogStream, { id });
    if (!stream) return false;
    // A receiver may refuse a batch for its size.
    const limit = Math.max(1, batchSize >> Math.min(stream.failures, 10));
    const numbered = await eventsAfter(db, logOf(stream), stream.position, limit);
    if (numbered.length === 0) return false;
    const portion = portionOf(stream, numbered, vault, host);
    const outcome = portion.batch && (await send(portion.batch));
    const isSettled = await this.settle(stream, lease, portion, outcome);
    return isSettled && (numbered.length === limit || portion.isCut);
  }

  /** Advances the stream, or schedules a retry. @returns whether to continue */
  private async settle(
    stream: LogStream,
    lease: string,
    { position }: Portion,
    outcome: BatchOutcome | null,
  ): Promise<boolean> {
    const { clock, db, onBatch, random } = this.deps;
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
            last_error = ${outcome.error.slice(0, 300)}, next_attempt_at = ${pauses.next(now, stream.failures + 1, random)} ${own}`,
      );
      return false;
    }
    const moved = sql`update log_streams set position = ${position}, failures = 0, failing_since = null, last_error = null,
      next_attempt_at = null, last_delivered_at = ${now} ${own}`;
    return (await execute(db.alone, moved)) === 1;
  }
}
