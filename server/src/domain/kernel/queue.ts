import type { EntityManager } from '@mikro-orm/postgresql';

/** Number of jobs of one kind, by state. */
export interface QueueStats {
  name: string;
  /** Due, not started. */
  waiting: number;
  /** Scheduled for later. */
  deferred: number;
  active: number;
  /** Failed in the last day, with no retry left. */
  failed: number;
}

/** Number of jobs, cached for half a minute. */
export interface QueueGauge {
  stats(): Promise<QueueStats[]>;
}

/** Accepts jobs and runs none. */
export const noQueue: Queue = { send: async () => undefined };

/** Transactional job queue: a job runs after the transaction that sent it commits, at least once, in any process. */
export interface Queue {
  /** Joins `em`'s transaction. Data is small and holds ids, never secrets. */
  send(em: EntityManager, job: string, data: Record<string, unknown>): Promise<void>;
}

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

/** Recurring work that each process does for itself, such as its heartbeat. */
export interface ProcessTask {
  name: string;
  everySeconds: number;
  run(): Promise<void>;
  /** Log line of the first failure in a row. */
  failure: { level: 'warn' | 'error'; text: string };
}

/** Background jobs. */
export interface JobTable {
  queued: readonly QueuedJob[];
  periodic: readonly PeriodicJob[];
  /** Names of jobs that the previous release queues, schedules or polls, and this one does not need. */
  retired: readonly string[];
}
