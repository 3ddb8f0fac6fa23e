import { afterAll, beforeAll, expect, it } from 'vitest';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { PoolTurns, Turns } from './turns.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshDatabase();
  const orm = await openDatabase({ url: fresh.url, poolSize: 2 });
  db = new Database(orm);
  close = async () => {
    await orm.close(true);
    await fresh.drop();
  };
});
afterAll(() => close());

const ask = (text = 'select 1 as one') => query(db.alone, sql`${sql.raw(text)}`);

it('a transaction, a snapshot and statements take a further connection without a turn', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 10 });
  const works = [
    () => db.transaction(() => ask()),
    () => db.snapshot(() => ask()),
    () => db.statements(() => ask()),
    () => db.together(() => ask()),
    () => ask(),
  ];
  const answers = turns.ofConnections('a', () => Promise.all(works.map((work) => work())));
  expect(await answers).toEqual(works.map(() => [{ one: 1 }]));
});

it('a turn ends with a statement that fails, and with a connection that breaks', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 10 });
  await turns.ofConnections('a', async () => {
    await expect(ask('select nothing')).rejects.toThrow();
    await expect(ask('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
    await expect(db.transaction(() => ask('select nothing'))).rejects.toThrow();
    expect(await ask()).toEqual([{ one: 1 }]);
  });
});

it('a turn ends with a connection that cannot be opened', async () => {
  const gone = await openDatabase({ url: 'postgres://127.0.0.1:1/none', poolSize: 1 });
  const turns = new Turns({ atOnce: 1, waiting: 10 });
  const { alone } = new Database(gone);
  await turns.ofConnections('a', async () => {
    for (let at = 0; at < 2; at += 1) await expect(query(alone, sql`select 1`)).rejects.toThrow();
  });
  await gone.close(true);
});

it('work of one key runs in its order, and further work is refused while too much waits', async () => {
  const turns = new Turns({ atOnce: 1, waiting: 1 });
  const first = Promise.withResolvers<string>();
  const order: string[] = [];
  const named = (name: string) => () => void order.push(name);
  const running = turns.of('a', () => first.promise);
  const waiting = turns.of('a', named('second'));
  await expect(turns.of('a', named('third'))).rejects.toMatchObject({ problem: { code: 'too-many' } });
  expect(() => turns.ofConnections('a', named('fourth'))).toThrow();
  await turns.of('b', named('other'));
  first.resolve('done');
  expect(await running).toBe('done');
  await waiting;
  await turns.of('a', named('fifth'));
  expect(order).toEqual(['other', 'second', 'fifth']);
});

it.each([
  [undefined, 5, 7],
  [1, 1, 1],
  [2, 1, 1],
  [5, 2, 3],
  [20, 10, 15],
])('of a pool of %s connections, one caller takes %i, and all together %i', async (size, one, all) => {
  const pool = new PoolTurns(size);
  const end = Promise.withResolvers<void>();
  const running = { a: 0, others: 0 };
  const hold = (name: 'a' | 'others') => () => {
    running[name] += 1;
    return end.promise;
  };
  const [admins, directories] = [pool.ofCallers(100), pool.ofCallers(100)];
  const works = Array.from({ length: 30 }, () => admins.of('a', hold('a')));
  const others = Array.from({ length: 30 }, (_, at) => directories.of(String(at), hold('others')));
  await new Promise(setImmediate);
  expect(running).toEqual({ a: one, others: all - one });
  end.resolve();
  await Promise.all([...works, ...others]);
  expect(running).toEqual({ a: 30, others: 30 });
});
