import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, type Fragment, type Statement, sql } from '../kernel/sql.ts';
import { Backoff } from './backoff.ts';
import type { Channel, Claimed, LaneLag, Wait } from './channel.ts';
import type { Lane, Waiting } from './round-robin.ts';

/** Lifetime of a claim on a receiver; after it, another process delivers. A round must take less. */
const leaseSeconds = 18;
/** After this long, a run yields to other receivers and processes. */
const runSeconds = 20;
const longestPauseSeconds = 60;

/** Pauses of a receiver that seems to be down: 5 s, doubling up to a minute. */
export const pauses = new Backoff({ firstSeconds: 5, factor: 2, longestSeconds: longestPauseSeconds });

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
}

/**
 * A channel whose receivers are claimed as a whole, so that one process sends to each, in order. The receivers are the rows `t` of
 * `table`, with the columns `id`, `lease`, `leased_until`, `failures` (in a row) and `next_attempt_at`. Those whose
 * last attempt failed are in the second lane.
 */
export abstract class ReceiverChannel<D extends Deps> implements Channel {
  abstract readonly lanes: readonly Lane[];
  abstract readonly table: string;
  /** SQL: the project of the receiver. */
  abstract readonly project: Fragment;
  /** SQL: the receiver is enabled. */
  protected abstract readonly isEnabled: Fragment;
  readonly slowLane = 1;
  readonly lane = sql`(case when t.failures = 0 then 0 else 1 end)`;
  readonly receiver = sql`t.id`;
  readonly token = sql`t.lease`;

  constructor(protected readonly deps: D) {}

  /** SQL: something for the receiver is due. */
  protected abstract hasDue(now: Date): Fragment;
  /** Sends a part of what is due, in less than {@link leaseSeconds}, and stores the result. @returns whether to continue */
  protected abstract round(claimed: Claimed, isEnding: () => boolean): Promise<boolean>;
  abstract lag(now: Date): Statement<LaneLag>;

  get waits(): readonly Wait[] {
    const { table } = this;
    return [
      { table, column: 'leased_until', longestSeconds: sql`${leaseSeconds}` },
      { table, column: 'next_attempt_at', longestSeconds: sql`${longestPauseSeconds}` },
    ];
  }

  waiting(now: Date): Statement<Waiting> {
    return sql<Waiting>`select ${this.lane} as lane, ${this.project} as project, t.id::text as receiver
      from ${sql.table(this.table)} t where ${this.isDue(now)}`;
  }

  isDue(now: Date): Fragment {
    return sql`${this.isEnabled} and coalesce(t.leased_until <= ${now}, true)
      and coalesce(t.next_attempt_at <= ${now}, true) and ${this.hasDue(now)}`;
  }

  claim(now: Date): Fragment {
    return sql`lease = ${this.deps.random.id()}, leased_until = ${secondsLater(now, leaseSeconds)}`;
  }

  async deliver(claimed: Claimed, isEnding: () => boolean): Promise<void> {
    const { clock, db } = this.deps;
    const endsAt = secondsLater(clock.now(), runSeconds);
    let hasMore = true;
    while (hasMore && !isEnding() && clock.now() < endsAt) {
      hasMore = (await this.renew(claimed)) && (await this.round(claimed, isEnding));
    }
    await execute(db.alone, this.update(sql`lease = null, leased_until = null`, claimed));
  }

  /** False if another process has claimed the receiver, or it was disabled or deleted. */
  private async renew(claimed: Claimed): Promise<boolean> {
    const { clock, db } = this.deps;
    const until = sql`leased_until = ${secondsLater(clock.now(), leaseSeconds)}`;
    return (await execute(db.alone, sql`${this.update(until, claimed)} and ${this.isEnabled}`)) === 1;
  }

  private update(assignments: Fragment, { project, id, token }: Claimed): Fragment {
    return sql`update ${sql.table(this.table)} t set ${assignments}
      where ${this.project} = ${project} and t.id = ${id} and t.lease = ${token}`;
  }
}
