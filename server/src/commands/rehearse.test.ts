import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../test/database.ts';
import { shell, testMasterKey } from '../../test/shell.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { rehearseMigrations } from '../adapters/postgres/rehearsal.ts';
import { migrations } from '../migrations/index.ts';

let folder: string;
let file: string;
let copy: FreshDatabase;
const settings = ({ url }: FreshDatabase) => ({ DATABASE_URL: url, MASTER_KEY: testMasterKey, DATA_DIR: folder });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  file = join(folder, 'a.jsonl.gz');
  copy = await emptyDatabase();
});

afterEach(async () => {
  await copy.drop();
  rmSync(folder, { recursive: true });
});

/** A database at an earlier migration. */
async function earlier(name: string): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  await orm.migrator.up({ to: name });
  await orm.close(true);
  return database;
}

it('runs the pending migrations on a copy, reports each, and leaves the database alone', async () => {
  const at = migrations.length - 4;
  const source = await earlier((migrations[at - 1] as { name: string }).name);
  expect(await shell(settings(source), 'backup', '--to', file)).toMatchObject({ code: 0 });
  const { err, out, code } = await shell(settings(source), 'rehearse', file, '--database', copy.url);
  expect(err).toContain('is complete');
  // 1 if this machine is so slow that a lock lasted.
  expect([0, 1]).toContain(code);
  const lines = out.split('\n');
  for (const [index, { name }] of migrations.slice(at).entries())
    expect(lines[index]).toMatch(
      new RegExp(`^${name}: \\d+\\.\\d s, [+-]\\d+\\.\\d MB, (no lock seen|\\w+ locked for \\d+ ms)$`),
    );
  expect(lines[4]).toMatch(/^4 migrations: /);
  const client = new pg.Client({ connectionString: source.url });
  await client.connect();
  expect((await client.query('select name from migrations')).rowCount).toBe(at);
  await client.end();
  await source.drop();
});

it('says that nothing is pending, and removes its embedded copy', async () => {
  const source = await freshDatabase();
  await shell(settings(source), 'backup', '--to', file);
  const { code, out } = await shell(settings(source), 'rehearse', file);
  expect([code, out]).toEqual([0, 'No migrations are pending: the backup has the schema of this release.']);
  expect(readdirSync(folder)).toEqual(['a.jsonl.gz']);
  await source.drop();
});

it('sees a lock that writes wait for', async () => {
  // The next migration leaves users alone, and so does not wait for the lock.
  const source = await earlier('20261123033000-own-authenticators');
  const holder = new pg.Client({ connectionString: source.url });
  await holder.connect();
  await holder.query('begin; lock table users in share mode');
  const rehearsal = rehearseMigrations(source.url);
  expect((await rehearsal.next()).value).toMatchObject({
    name: '20261124020000-log-streams',
    locks: expect.arrayContaining([expect.objectContaining({ table: 'users' })]),
  });
  await holder.end();
  await rehearsal.return(undefined);
  await source.drop();
});
