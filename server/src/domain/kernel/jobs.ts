/** Work that is asked for through the {@link Queue}, one job at a time. */
export interface QueuedJob {
  name: string;
  run(data: Record<string, unknown>): Promise<void>;
  /** Takers in each process; one that is held up by a slow job holds up no other. */
  workers: number;
  /** A try that lasts longer belonged to a process that has died, and is made again. */
  timeoutSeconds: number;
  /** How often a try that threw is made again. The wait doubles from `firstSeconds` up to `longestSeconds`. */
  retries: { limit: number; firstSeconds: number; longestSeconds: number };
}

/** Work that recurs: done by one process each time, whichever is free. */
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
