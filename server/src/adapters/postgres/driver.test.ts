import { expect, it } from 'vitest';
import { freshDatabase } from '../../../test/database.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import { openDatabase } from './database.ts';

it('connections that break at the start, middle or end of a transaction do not damage the pool', async () => {
  const database = await freshDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 2 });
  const ask = (text: string) => orm.em.fork().execute(text);
  const breakAll = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  for (let round = 0; round < 4; round += 1) {
    // The transaction's own connection.
    const broken = orm.em.fork().transactional(async (em) => {
      await em.execute('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(broken).rejects.toThrow();
    // The connection of another, open transaction.
    const begun = Promise.withResolvers<void>();
    const other = orm.em
      .fork()
      .transactional(async (em) => {
        await em.execute('select 1');
        await begun.promise;
        await em.execute('select 1');
      })
      .catch(() => undefined);
    await ask(breakAll);
    begun.resolve();
    await other;
  }
  const both = [1, 2].map((wanted) =>
    orm.em.fork().transactional(async (em) => (await em.execute(`select ${wanted} as got, pg_sleep(0.1)`))[0]?.got),
  );
  expect(await Promise.all(both)).toEqual([1, 2]);
  await orm.close(true);
  await database.drop();
});

it('instants keep their value, regardless of their century', async () => {
  const database = await freshDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  const texts = ['2026-03-29T01:30:00.007Z', '0001-01-01T00:00:00Z', '0000-12-31T23:59:59Z', '+012026-01-01T00:00:00Z'];
  for (const text of texts) {
    const at = new Date(text);
    const statement = sql<{ ms: string }>`select extract(epoch from ${at}::timestamptz) * 1000 as ms`;
    expect((await query(orm.em.fork(), statement)).map(({ ms }) => Number(ms))).toEqual([at.getTime()]);
  }
  await orm.close(true);
  await database.drop();
});
