import { refuse } from '../kernel/problem.ts';
import { inTurns } from '../kernel/scope.ts';

/** Runs a piece of work of one project in its turn, see {@link Turns}. */
export type InTurn = <T>(work: () => T | Promise<T>) => Promise<T>;

/** The running pieces of work of one key, and the waiting ones. */
interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Runs a few pieces of work of each key concurrently, in this process; further ones wait in their order. Each may hold
 * a connection to the database: directories and admins with slow requests, or with requests that wait for one lock,
 * leave connections to the others.
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  /** @param limits `atOnce` run and at most `waiting` wait, for each key; each running one also takes a turn of `shared` */
  constructor(private readonly limits: { atOnce: number; waiting: number; shared?: Turns }) {}

  /** Runs `work` in one turn. Refuses `too-many` if too many wait already. */
  async of<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    this.refuseIfFull(key);
    const end = await this.begin(key);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /**
   * Runs `work`, which takes a turn for each of its connections to the database. Refuses `too-many` if too many wait
   * already; the connections themselves are not refused.
   */
  ofConnections<T>(key: string, work: () => T): T {
    this.refuseIfFull(key);
    return inTurns(() => this.begin(key), work);
  }

  private refuseIfFull(key: string): void {
    const { running, waiting } = this.queues.get(key) ?? { running: 0, waiting: [] };
    const isFull = running >= this.limits.atOnce && waiting.length >= this.limits.waiting;
    if (isFull) refuse({ code: 'too-many', retryAfterSeconds: 1 });
  }

  /** Returns the end of the turn, to be called once. */
  private async begin(key: string): Promise<() => void> {
    const end = await this.beginOwn(key);
    const endShared = await this.limits.shared?.begin('');
    return () => {
      endShared?.();
      end();
    };
  }

  private async beginOwn(key: string): Promise<() => void> {
    const queue = this.queues.get(key) ?? { running: 0, waiting: [] };
    this.queues.set(key, queue);
    if (queue.running < this.limits.atOnce) queue.running += 1;
    else await new Promise<void>((begin) => queue.waiting.push(begin));
    return () => {
      const next = queue.waiting.shift();
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) this.queues.delete(key);
    };
  }
}

/**
 * Turns at a process's connections to the database: one caller takes at most half of them, all callers together three
 * quarters. The rest is left to sign-ins, tokens and jobs.
 */
export class PoolTurns {
  private readonly atOnce: number;
  private readonly shared: Turns;

  /** @param poolSize default: that of `DATABASE_POOL_SIZE` */
  constructor(poolSize = 10) {
    this.atOnce = Math.max(1, Math.floor(poolSize / 2));
    this.shared = new Turns({ atOnce: Math.max(1, Math.floor((poolSize * 3) / 4)), waiting: Number.POSITIVE_INFINITY });
  }

  /** @param waiting for each caller */
  ofCallers(waiting: number): Turns {
    return new Turns({ atOnce: this.atOnce, waiting, shared: this.shared });
  }
}
