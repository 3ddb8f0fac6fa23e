import { expect, it } from 'vitest';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from './database.ts';

it('connections that break in the middle of transactions, at their beginning or at their end leave the pool whole', async () => {
  const database = await freshDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 2 });
  const ask = (text: string) => orm.em.fork().execute(text);
  const breakAll = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  for (let round = 0; round < 4; round += 1) {
    // Its own connection, under it.
    const broken = orm.em.fork().transactional(async (em) => {
      await em.execute('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(broken).rejects.toThrow();
    // The other's, while it stands open.
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
}, 20_000);
