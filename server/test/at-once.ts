import type { Database } from '../src/domain/kernel/database.ts';
import { execute, sql } from '../src/domain/kernel/sql.ts';
import { untilLockWaits } from './lock-waits.ts';

/** Runs several functions concurrently: none writes into `table` before two of them wait for a lock. */
export async function atOnce<T>(
  db: Database,
  table: string,
  works: readonly (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const started = await db.transaction(async (em) => {
    await execute(em, sql`lock table ${sql.table(table)} in share mode`);
    const running = Promise.allSettled(works.map((work) => work()));
    await untilLockWaits(db, 2);
    return { running };
  });
  return started.running;
}
