import type { EntityManager } from '@mikro-orm/postgresql';

/** How much of one kind of work there is. */
export interface QueueStats {
  name: string;
  /** Due, and not begun. */
  waiting: number;
  /** For later. */
  deferred: number;
  active: number;
  /** Given up within a day. */
  failed: number;
}

/** Reads how the jobs stand, as of half a minute ago. */
export interface QueueGauge {
  stats(): Promise<QueueStats[]>;
}

/** Work that is done once the transaction that asked for it has committed: at least once, by any process. */
export interface Queue {
  /** Joins `em`'s transaction. Data is small and holds ids, never secrets. */
  send(em: EntityManager, job: string, data: Record<string, unknown>, options?: { startAfter?: Date }): Promise<void>;
}
