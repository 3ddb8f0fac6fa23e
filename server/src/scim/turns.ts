import { refuse } from '../domain/kernel/problem.ts';

/** Runs a piece of work of one project in its turn, see {@link Turns}. */
export type InTurn = <T>(work: () => T | Promise<T>) => Promise<T>;

/** The work of a project that runs, and what waits for its turn. */
interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Runs a few pieces of work of each project at once, in this process; further ones wait in their order. Each may hold a
 * connection to the database: a directory with slow requests, or requests that wait for one lock, leaves connections to
 * the other projects.
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  /** @param limits `atOnce` run and at most `waiting` wait, for each project */
  constructor(private readonly limits: { atOnce: number; waiting: number }) {}

  /** Refuses `too-many` if too many wait already. */
  async of<T>(projectId: string, work: () => T | Promise<T>): Promise<T> {
    const queue = this.queues.get(projectId) ?? { running: 0, waiting: [] };
    this.queues.set(projectId, queue);
    if (queue.running < this.limits.atOnce) queue.running += 1;
    else if (queue.waiting.length >= this.limits.waiting) refuse({ code: 'too-many', retryAfterSeconds: 1 });
    else await new Promise<void>((begin) => queue.waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) this.queues.delete(projectId);
    }
  }
}
