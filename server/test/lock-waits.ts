import type { Database } from '../src/domain/kernel/database.ts';
import { query, sql } from '../src/domain/kernel/sql.ts';

/** The number of statements on this database that wait for a lock. */
export async function lockWaits(db: Database): Promise<number> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await query(db.alone, waiting)).length;
}

/** Waits until `count` statements wait for a lock, or `isOver`. */
export async function untilLockWaits(db: Database, count: number, isOver = () => false): Promise<void> {
  while (!isOver() && (await lockWaits(db)) < count);
}
