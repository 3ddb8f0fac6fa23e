import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import type { Backoff } from './backoff.ts';
import type { Channel, Claimed, LaneLag, Wait } from './channel.ts';
import { lagOfRows, waitingRows } from './claims.ts';
import type { Lane, Waiting } from './round-robin.ts';

const isPending = sql`t.state = 'pending'`;

/**
 * A channel whose deliveries are claimed one by one: the rows `t` of `table`, with the columns `project_id`, `id`, `state`
 * (`pending` until the last attempt) and `next_attempt_at`, which also holds the end of a claim.
 */
export abstract class RowChannel<D extends { clock: Clock }> implements Channel {
  abstract readonly lanes: readonly Lane[];
  abstract readonly table: string;
  abstract readonly lane: Fragment;
  abstract readonly token: Fragment;
  readonly receiver?: Fragment;
  readonly project = sql`t.project_id`;
  /** A claim that is not renewed for this long ends. */
  protected abstract readonly leaseSeconds: number;
  protected abstract readonly retries: Backoff;
  /** SQL: the attempts so far. */
  protected abstract readonly attempts: Fragment;

  constructor(protected readonly deps: D) {}

  abstract deliver(claimed: Claimed): Promise<void>;

  get waits(): readonly Wait[] {
    const longestSeconds = sql`greatest(${this.leaseSeconds}, ${this.retries.longest(this.attempts)})`;
    return [{ table: this.table, column: 'next_attempt_at', where: isPending, longestSeconds }];
  }

  waiting(now: Date): Statement<Waiting> {
    return waitingRows(this, isPending, now);
  }

  isDue(now: Date): Fragment {
    return sql`${isPending} and t.next_attempt_at <= ${now}`;
  }

  claim(now: Date): Fragment {
    return sql`next_attempt_at = ${secondsLater(now, this.leaseSeconds)}`;
  }

  lag(now: Date): Statement<LaneLag> {
    return lagOfRows(this, isPending, now);
  }
}
