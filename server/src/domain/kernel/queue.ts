import type { EntityManager } from '@mikro-orm/postgresql';

/** Work that is done once the transaction that asked for it has committed: at least once, by any process. */
export interface Queue {
  /** Joins `em`'s transaction. Data is small and holds ids, never secrets. */
  send(em: EntityManager, job: string, data: Record<string, unknown>, options?: { startAfter?: Date }): Promise<void>;
}
