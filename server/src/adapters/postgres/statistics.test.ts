import type { MikroORM } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { Database } from '../../domain/kernel/database.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import { openDatabase } from './database.ts';
import { renewStatistics } from './statistics.ts';

let fresh: FreshDatabase;
let orm: MikroORM;
let db: Database;

beforeEach(async () => {
  fresh = await freshDatabase();
  // One connection: PostgreSQL counts changes when a connection reports them.
  orm = await openDatabase({ url: fresh.url, poolSize: 1 });
  db = new Database(orm);
});

afterEach(async () => {
  await orm.close(true);
  await fresh.drop();
});

it('renews the statistics of a table after twenty rows, then when it is three times as large', async () => {
  await insert(19);
  expect(await knownRows()).toBe(-1);
  await insert(1);
  expect(await knownRows()).toBe(20);
  await insert(39);
  expect(await knownRows()).toBe(20);
  await insert(1);
  expect(await knownRows()).toBe(60);
});

it('does not renew the statistics of a table whose rows are replaced', async () => {
  await insert(30);
  expect(await renewals()).toBe(1);
  for (let round = 0; round < 5; round += 1) {
    await execute(db.alone, sql`delete from budgets`);
    await insert(30);
  }
  expect(await renewals()).toBe(1);
  await insert(60);
  expect(await renewals()).toBe(2);
});

/** Number of renewals of the statistics of budgets. */
async function renewals(): Promise<number | undefined> {
  const [row] = await query(
    db.alone,
    sql<{ count: number }>`select analyze_count::int as count from pg_stat_user_tables where relname = 'budgets'`,
  );
  return row?.count;
}

/** Inserts budgets, and renews outdated statistics. */
async function insert(count: number): Promise<void> {
  await execute(
    db.alone,
    sql`insert into budgets (id, spent, resets_at) select gen_random_uuid(), 1, now() from generate_series(1, ${count}::int)`,
  );
  await execute(db.alone, sql`select pg_stat_force_next_flush()`);
  await renewStatistics(db);
}

async function knownRows(): Promise<number | undefined> {
  const [row] = await query(
    db.alone,
    sql<{ rows: number }>`select reltuples as rows from pg_class where relname = 'budgets'`,
  );
  return row?.rows;
}
