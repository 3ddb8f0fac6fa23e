import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Breakable } from '../../../test/breakable.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { ownTime } from '../../../test/own-time.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { failureOf } from '../../http/failure.ts';
import { openDatabase } from './database.ts';
import { DatabaseWatch } from './watch.ts';
import { writeFaultIn } from './write-check.ts';

let database: FreshDatabase;
let way: Breakable;
let watch: DatabaseWatch;
let orm: MikroORM;
let faults: (string | null)[];

beforeEach(async () => {
  database = await freshDatabase();
  way = new Breakable();
  const url = await way.to(database.url);
  faults = [];
  watch = new DatabaseWatch({ url, onChange: (fault) => faults.push(fault) });
  orm = await openDatabase({ url, poolSize: 3, watch });
  await ask();
  await watch.start();
});

afterEach(async () => {
  way.thaw();
  await watch.stop();
  await orm.close(true);
  await way.close();
  await database.drop();
});

const ask = (text = 'select 1') => orm.em.fork().execute(text);

/** The outcome of `work`, and its duration in milliseconds of this process. */
async function timed(work: Promise<unknown>): Promise<{ outcome: unknown; took: number }> {
  const ended = work.then(
    () => 'done',
    (error: unknown) => {
      const failure = failureOf(error);
      return failure instanceof Refusal ? failure.problem.code : error;
    },
  );
  const { result, took } = await ownTime(() => ended);
  return { outcome: result, took };
}

describe('while the database is unreachable', () => {
  it('running, queued and new statements are refused within 2 s if it freezes', async () => {
    way.freeze();
    const waiting = await Promise.all(Array.from({ length: 6 }, () => timed(ask())));
    expect(waiting.map(({ outcome }) => outcome)).toEqual(Array(6).fill('unavailable'));
    expect(Math.max(...waiting.map(({ took }) => took))).toBeLessThan(2_500);
    await expect.poll(() => watch.fault).toBe('the database does not answer');
    const next = await timed(ask());
    expect(next.outcome).toBe('unavailable');
    expect(next.took).toBeLessThan(300);
    way.thaw();
    await expect.poll(() => watch.fault).toBeNull();
    expect((await timed(ask())).outcome).toBe('done');
    expect(faults).toEqual(['the database does not answer', null]);
  });

  it('refuses immediately if the port is closed, and recovers without a restart', async () => {
    await way.close();
    expect(await timed(ask())).toMatchObject({ outcome: 'unavailable' });
    await expect.poll(() => watch.fault).toContain('ECONNREFUSED');
    await way.open();
    await expect.poll(() => watch.fault).toBeNull();
    expect((await timed(ask())).outcome).toBe('done');
  });
});

describe('the watch', () => {
  it('tolerates a slow statement while others are answered', async () => {
    const slow = timed(ask('select pg_sleep(2.5)'));
    expect((await slow).outcome).toBe('done');
    expect(faults).toEqual([]);
  });

  it('tolerates a slow probe connection while statements are answered, as on a machine that is busy at startup', async () => {
    const held = new Breakable();
    const faults: (string | null)[] = [];
    const own = new DatabaseWatch({ url: await held.to(database.url), onChange: (fault) => faults.push(fault) });
    const others = await openDatabase({ url: database.url, poolSize: 1, watch: own });
    held.freeze();
    const started = own.start();
    for (let count = 0; count < 25; count += 1) await others.em.fork().execute('select pg_sleep(0.1)');
    held.thaw();
    await started;
    expect(own.fault).toBeNull();
    expect(faults).toEqual([]);
    await own.stop();
    await others.close(true);
    await held.close();
  });

  it('has connected once it has started', async () => {
    const rows = await ask(`select application_name as name from pg_stat_activity
      where datname = current_database() and application_name = 'latchkey-watch'`);
    expect(rows).toHaveLength(1);
  });

  it('does not count the time for which this process or machine was paused', async () => {
    way.freeze();
    const waiting = timed(ask());
    // The watch probes every 250 ms: by now its query is in flight, and stays in flight.
    await new Promise((resolve) => setTimeout(resolve, 300));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    // After two turns of the loop all due checks have run.
    await new Promise((resolve) => setTimeout(resolve, 1));
    way.thaw();
    expect((await waiting).outcome).toBe('done');
    expect(faults).toEqual([]);
  });

  it('recovers after its connections and those of the pool are closed', async () => {
    await Promise.all([ask(), ask()]);
    const killer = new pg.Client({ connectionString: database.url });
    await killer.connect();
    const others = "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
    await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    await killer.end();
    await expect.poll(async () => (await timed(ask())).outcome).toBe('done');
    await expect.poll(() => watch.fault).toBeNull();
  });
});

describe('a database that answers and accepts no writes', () => {
  let pool: pg.Pool;
  beforeEach(() => {
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
  });
  afterEach(() => pool.end());

  it('is reported with the reason if the disk is full, until there is space again', async () => {
    expect(await writeFaultIn(pool)).toBeNull();
    await pool.query(`create function pg_temp.full_disk() returns trigger language plpgsql as
      'begin raise exception ''could not extend file: No space left on device'' using errcode = ''53100''; end'`);
    await pool.query(`create trigger full_disk before insert on pg_temp.latchkey_write_check
      for each row execute function pg_temp.full_disk()`);
    expect(await writeFaultIn(pool)).toBe('the disk is full: could not extend file: No space left on device');
    // The pool replaces the connection of a failed statement, and the trigger with it.
    expect(await writeFaultIn(pool)).toBeNull();
    const { rows } = await pool.query('select count(*)::int as left from pg_temp.latchkey_write_check');
    expect(rows).toEqual([{ left: 0 }]);
  });

  it('is reported if it is set to read-only, while reads are answered', async () => {
    const changes: (string | null)[] = [];
    const url = `${database.url}${database.url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only%3Don`;
    const own = new DatabaseWatch({
      url: database.url,
      onChange: (fault) => changes.push(fault),
      onWriteChange: (fault) => changes.push(fault),
    });
    const reading = new pg.Pool({ connectionString: url, max: 1 });
    own.join(reading);
    await own.start();
    await expect.poll(() => own.writeFault).toContain('the database is read-only');
    expect(own.fault).toBeNull();
    expect((await reading.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    expect(changes).toEqual([own.writeFault]);
    await own.stop();
    await reading.end();
  });

  it('is not a fault if the check cannot run', async () => {
    const gone = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none', max: 1 });
    expect(await writeFaultIn(gone)).toBeNull();
    await gone.end();
  });
});

describe('a server that refuses connections while existing ones work', () => {
  type Refused = [code: string, reason: string, isNew: boolean];

  async function watching(url: string) {
    const refusals: Refused[] = [];
    const own = new DatabaseWatch({
      url,
      onChange: () => undefined,
      onRefusal: (...refusal) => refusals.push(refusal),
    });
    const others = await openDatabase({ url, poolSize: 4, watch: own });
    return { own, others, refusals, select: () => timed(others.em.fork().execute('select 1')) };
  }

  it('is reported once with the cause, counted, and in readiness until a connection succeeds', async () => {
    const { own, others, refusals, select } = await watching(database.url);
    const limit = (count: number) =>
      ask(`do $$ begin execute format('alter database %I connection limit ${count}', current_database()); end $$`);
    await limit(1);
    for (let count = 1; count <= 6; count += 1) {
      expect((await select()).outcome).toBe('unavailable');
      expect(own.refusal === null).toBe(count < 5);
    }
    expect(refusals.map(([code, , isNew]) => [code, isNew])).toEqual([
      ['53300', true],
      ...Array(5).fill(['53300', false]),
    ]);
    expect(own.refusal).toMatch(/^the server has no connection left: .*too many connections for database/);
    await limit(-1);
    expect((await select()).outcome).toBe('done');
    expect(own.refusal).toBeNull();
    await others.close(true);
  });

  it('names a password that has changed, and does not repeat it', async () => {
    const url = new URL(database.url);
    url.password = 'changed-meanwhile';
    const { own, others, select } = await watching(url.href);
    for (let count = 0; count < 5; count += 1) await select();
    expect(own.refusal).toMatch(/^the server rejects the password in DATABASE_URL: password authentication failed/);
    expect(own.refusal).not.toContain('changed-meanwhile');
    await others.close(true);
  });
});

describe('an exhausted pool', () => {
  it('refuses requests that wait too long, and serves the rest', async () => {
    let letGo = (): void => undefined;
    const free = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const held = [1, 2, 3].map(() => orm.em.fork().transactional(() => free));
    await expect.poll(() => watch.use()).toMatchObject({ total: 3, idle: 0 });
    const waited = await timed(ask());
    letGo();
    expect(waited.outcome).toBe('unavailable');
    expect(waited.took).toBeLessThan(6_000);
    await Promise.all(held);
    expect((await timed(ask())).outcome).toBe('done');
  });
});
