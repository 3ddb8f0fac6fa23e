/** Tables outside `public`: in the schema of the database's `search_path`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../src/adapters/postgres/database.ts';
import { emptyDatabase, type FreshDatabase } from './database.ts';
import { administer } from './global-setup.ts';
import { shell, testMasterKey } from './shell.ts';

let folder: string;
/** The address of a migrated database, to which no test adds tables. */
let migrated: string;
const databases: FreshDatabase[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-schema-'));
  migrated = await database();
  await migrate(migrated);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const { drop } of databases) await drop();
});

/** An empty database whose tables go into the schema `identity`. */
async function database(): Promise<string> {
  const made = await emptyDatabase();
  databases.push(made);
  const name = new URL(made.url).pathname.slice(1);
  await administer(made.url, async (client) => {
    await client.query('create schema identity');
    await client.query(`alter database "${name}" set search_path = identity`);
  });
  return made.url;
}

const settings = (url: string) => ({ DATABASE_URL: url, MASTER_KEY: testMasterKey, DATABASE_ROW_SECURITY: 'true' });

async function tablesOf(url: string): Promise<Record<string, number>> {
  const counts = await administer(url, async (client) => {
    const { rows } = await client.query<{ schema: string; count: number }>(
      `select schemaname as schema, count(*)::int as count from pg_tables
       where schemaname in ('public', 'identity') group by 1`,
    );
    return rows;
  });
  return Object.fromEntries(counts.map(({ schema, count }) => [schema, count]));
}

it('the tables are migrated once, and found at the next start', async () => {
  const first = await tablesOf(migrated);
  expect(Object.keys(first)).toEqual(['identity']);
  await migrate(migrated);
  expect(await tablesOf(migrated)).toEqual(first);
});

it('commands, backups, restores and imports use the schema', async () => {
  const [here, there] = [await database(), await database()];
  expect(await shell(settings(here), 'keys:rotate')).toMatchObject({ code: 0 });
  const backup = join(folder, 'backup.jsonl.gz');
  expect(await shell(settings(here), 'backup', '--to', backup)).toMatchObject({ code: 0 });
  expect(await shell(settings(there), 'restore', backup)).toMatchObject({ code: 0 });
  expect(await shell(settings(there), 'keys:rotate')).toMatchObject({ code: 0 });
  expect(await tablesOf(there)).toEqual(await tablesOf(here));
  const project = '019a0000-0000-7000-8000-000000000001';
  await administer(here, async (client) => {
    await client.query(
      `insert into identity.projects (id, name, created_at, updated_at) values ('${project}', 'Acme', now(), now())`,
    );
  });
  const file = join(folder, 'project.jsonl');
  const exported = await shell(settings(here), 'export', '--project', project, '--without-secrets', '--to', file);
  expect([exported.code, exported.err]).toEqual([0, expect.any(String)]);
  const imported = await shell(settings(migrated), 'import', file, '--without-secrets');
  expect([imported.code, imported.err]).toEqual([0, expect.any(String)]);
});

it('a schema that does not exist is refused', async () => {
  const made = await emptyDatabase();
  databases.push(made);
  const name = new URL(made.url).pathname.slice(1);
  await administer(made.url, (client) => client.query(`alter database "${name}" set search_path = nowhere`));
  expect(await shell(settings(made.url), 'keys:rotate')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no schema of search_path exists'),
  });
});
