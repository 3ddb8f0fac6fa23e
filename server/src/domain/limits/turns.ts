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
 * Runs a few pieces of work of each key at once, in this process; further ones wait in their order. Each may hold a
 * connection to the database: a directory or an admin with slow requests, or with requests that wait for one lock, leaves
 * connections to the others.
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  /** @param limits `atOnce` run and at most `waiting` wait, for each key */
  constructor(private readonly limits: { atOnce: number; waiting: number }) {}

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

/** Half of a process's connections to the database. @param poolSize default: that of `DATABASE_POOL_SIZE` */
export function halfOfPool(poolSize = 10): number {
  return Math.max(1, Math.floor(poolSize / 2));
}
