/** Handler of one kind of job in the {@link Queue}. */
export interface QueuedJob {
  name: string;
  run(data: Record<string, unknown>): Promise<void>;
  /** Concurrent jobs per process. */
  workers: number;
  /** After this long the process counts as dead, and the job is retried. */
  timeoutSeconds: number;
  /** Retries after a throw. The delay doubles from `firstSeconds` up to `longestSeconds`. */
  retries: { limit: number; firstSeconds: number; longestSeconds: number };
}

/** Recurring job; each run is done by one process. */
export interface PeriodicJob {
  name: string;
  everyMinutes: 1 | 5 | 15 | 30 | 60;
  run(): Promise<void>;
}

/** Background jobs. */
export interface JobTable {
  queued: readonly QueuedJob[];
  periodic: readonly PeriodicJob[];
}

/** Work that a process starts and does not wait for. */
export class Runs {
  private readonly running = new Set<Promise<void>>();
  private hasEnded = false;

  /** @param max at a time */
  constructor(private readonly max: number) {}

  get isStopping(): boolean {
    return this.hasEnded;
  }

  /** Number of further runs that may start now. */
  get free(): number {
    return this.hasEnded ? 0 : Math.max(0, this.max - this.running.size);
  }

  start(work: () => Promise<void>, onError: (error: unknown) => void): void {
    const run: Promise<void> = work()
      .catch(onError)
      .finally(() => this.running.delete(run));
    this.running.add(run);
  }

  /** Waits until one more may start. */
  async freeSlot(): Promise<void> {
    while (this.running.size >= this.max) await Promise.race(this.running);
  }

  /** Waits for running jobs. */
  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Starts no more jobs, and waits for running ones. */
  async drain(): Promise<void> {
    this.hasEnded = true;
    await this.settled();
  }
}
