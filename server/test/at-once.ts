import { expect } from 'vitest';
import type { Database } from '../src/domain/kernel/database.ts';
import { execute, query, sql } from '../src/domain/kernel/sql.ts';

/** Runs several functions concurrently: none writes into `table` before two of them wait for a lock. */
export async function atOnce<T>(
  db: Database,
  table: string,
  works: readonly (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const started = await db.transaction(async (em) => {
    await execute(em, sql`lock table ${sql.table(table)} in share mode`);
    const running = Promise.allSettled(works.map((work) => work()));
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await query(db.alone, waiting)).length).toBeGreaterThan(1);
    return { running };
  });
  return started.running;
}
