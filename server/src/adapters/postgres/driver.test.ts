import { expect, it } from 'vitest';
import { Breakable } from '../../../test/breakable.ts';
import { freshDatabase } from '../../../test/database.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import { failureOf } from '../../http/failure.ts';
import { openDatabase } from './database.ts';
import { DatabaseWatch } from './watch.ts';

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

it('a connection that was dropped silently, while the database answers others, costs one statement', async () => {
  const database = await freshDatabase();
  const way = new Breakable();
  // The probe uses a connection other than those of the pool, as through a balancer that has dropped one.
  const watch = new DatabaseWatch({ url: database.url, onChange: () => undefined });
  const orm = await openDatabase({ url: await way.to(database.url), poolSize: 1, watch, answerWithinMs: 1_500 });
  const ask = () => orm.em.fork().execute<{ one: number }[]>('select 1 as one');
  await ask();
  way.freeze();
  const failure = failureOf(await ask().catch((error: unknown) => error));
  expect(failure).toBeInstanceOf(Refusal);
  expect((failure as Refusal).problem).toMatchObject({ code: 'unavailable', reason: 'Query read timeout' });
  // Only connections that are opened from now on work.
  way.thawNew();
  expect(await ask()).toEqual([{ one: 1 }]);
  await watch.stop();
  await orm.close(true);
  await way.close();
  await database.drop();
});
