import type { EntityManager } from '@mikro-orm/postgresql';

/** Number of jobs of one kind, by state. */
export interface QueueStats {
  name: string;
  /** Due, not started. */
  waiting: number;
  /** Scheduled for later. */
  deferred: number;
  active: number;
  /** Failed for good in the last day. */
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
