import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Breakable } from '../../../test/breakable.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { attended } from './attended.ts';
import { migrate, migrationLock, migrationsName, openDatabase } from './database.ts';

let database: FreshDatabase;
let way: Breakable;
let url: string;
let lines: string[];
let holder: pg.Client;

beforeEach(async () => {
  database = await freshDatabase();
  way = new Breakable();
  url = await way.to(database.url);
  lines = [];
  holder = new pg.Client({ connectionString: database.url, application_name: 'psql' });
  await holder.connect();
});

afterEach(async () => {
  way.thaw();
  await holder.end();
  await way.close();
  await database.drop();
});

const print = (line: string) => void lines.push(line);
const soon = { everyMs: 100, boundMs: 400 };
const patient = { everyMs: 300, boundMs: 600_000 };

describe('a start on a database that accepts connections and does not answer', () => {
  it('prints the reason repeatedly, and continues once it answers', async () => {
    way.freeze();
    const started = attended(url, 'Migrations', print, (silence) => migrate(url, print, silence), patient);
    await expect.poll(() => lines.length).toBeGreaterThan(1);
    way.thaw();
    await started;
  });

  it('prints the reason, without the password, and ends', async () => {
    way.freeze();
    const started = attended(url, 'Migrations', print, (silence) => migrate(url, print, silence), soon);
    const where = `127.0.0.1:${new URL(url).port}${new URL(url).pathname}`;
    await expect(started).rejects.toThrow(new RegExp(`^${where} has not answered for \\d+ s: no response$`));
    expect(lines).not.toEqual([]);
    for (const line of lines)
      expect(line).toMatch(new RegExp(`^Waiting for the database ${where}, \\d+ s so far: no response$`));
  });

  it('ends and closes its connections if it stops answering later, as after authentication', async () => {
    const orms: { close(): Promise<void> }[] = [];
    const failure = Promise.withResolvers<unknown>();
    const started = attended(
      url,
      'Migrations',
      print,
      async (closing) => {
        try {
          const orm = await openDatabase({ url, poolSize: 1, closing });
          orms.push(orm);
          await orm.em.fork().execute('select 1');
          way.freeze();
          await orm.em.fork().execute('select 1');
        } catch (error) {
          // On a slow machine, the bound may be over before the freeze.
          failure.resolve(error);
        }
      },
      soon,
    );
    await expect(started).rejects.toThrow('has not answered');
    expect(String(await failure.promise)).toMatch(/Connection terminated|has not answered/);
    for (const orm of orms) await orm.close();
  });
});

describe('a start that another process blocks', () => {
  it('names the process that holds the lock of migrations', async () => {
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const started = attended(url, 'Migrations', print, (silence) => migrate(url, print, silence), patient);
    await expect
      .poll(() => lines.join('\n'))
      .toMatch(
        /^Migrations of \S+, \d+ s so far: the lock of migrations is held by process \d+ \(psql, .*idle in transaction, \d+ s\)$/m,
      );
    await holder.query('commit');
    await started;
  });

  it('names another start that holds the lock, and not itself', async () => {
    const starts = [database.url, url].map(
      (connectionString) => new pg.Client({ connectionString, application_name: migrationsName }),
    );
    const [own, other] = starts as [pg.Client, pg.Client];
    await own.connect();
    await own.query('select pg_advisory_lock($1)', [migrationLock]);
    const end = Promise.withResolvers<void>();
    const started = attended(url, 'Migrations', print, () => end.promise, patient);
    await expect.poll(() => lines.join('\n')).toMatch(/so far: not blocked$/m);
    expect(lines.join('\n')).not.toContain('is held by');
    await other.connect();
    await expect.poll(() => lines.join('\n')).toMatch(/is held by process \d+ \(latchkey-migrations, /);
    end.resolve();
    await started;
    for (const start of starts) await start.end();
  });

  it('names the process whose lock a migration waits for', async () => {
    await holder.query('begin');
    await holder.query('lock table users');
    const migrating = new pg.Client({ connectionString: database.url, application_name: migrationsName });
    await migrating.connect();
    const started = attended(url, 'Migrations', print, () => migrating.query('select from users'), patient);
    started.catch(() => undefined);
    await expect.poll(() => lines.join('\n')).toMatch(/a migration waits for a lock of process \d+ \(psql, /);
    await holder.query('commit');
    await migrating.end();
  });
});

describe('migrations', () => {
  it('print their number and duration, and nothing if none is due', async () => {
    await migrate(database.url, print);
    expect(lines).toEqual([]);
    await holder.query(`delete from migrations where name = (select max(name) from migrations)`);
    await migrate(database.url, print).catch(() => undefined);
    expect(lines[0]).toBe('Migrating the database: 1 migration');
  });
});
