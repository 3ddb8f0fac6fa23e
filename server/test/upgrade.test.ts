/** The filled databases of earlier releases (e2e/upgrade) keep their rows when they are migrated to this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate } from '../src/adapters/postgres/database.ts';
import { restoreFile } from '../src/commands/restore.ts';
import { migrations } from '../src/migrations/index.ts';
import { emptyDatabase, type FreshDatabase } from './database.ts';
import { contextOf } from './shell.ts';

const fixtures = new URL('../../e2e/upgrade/', import.meta.url);
/** From before the last commit that release 1.0 upgrades. */
const tooOld = '2026-11-22';
const releases = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== tooOld)
  .map(({ name }) => name);
/** Tables with rows of the process that made the backup, or of the restore. */
const unequal = ['migrations', 'processes', 'backups'];

interface Restored extends FreshDatabase {
  client: pg.Client;
}

async function restored(release: string, laterMigrations: boolean): Promise<Restored> {
  const { masterKey } = JSON.parse(readFileSync(new URL(`${release}/credentials.json`, fixtures), 'utf8'));
  const backup = fileURLToPath(new URL(`${release}/backup.jsonl.gz`, fixtures));
  const database = await emptyDatabase();
  const context = contextOf({ DATABASE_URL: database.url, MASTER_KEY: masterKey });
  await restoreFile(backup, context, { laterMigrations });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    ...database,
    client,
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}

type Tables = Record<string, string[]>;

/** Columns by table. */
async function tablesOf(client: pg.Client): Promise<Tables> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text order by column_name) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' group by 1`,
  );
  return Object.fromEntries(rows.filter(({ name }) => !unequal.includes(name)).map((row) => [row.name, row.columns]));
}

/** Rows as JSON by PostgreSQL, which loses no precision. */
async function contents({ client }: Restored, tables: Tables): Promise<Tables> {
  const found: Tables = {};
  for (const [name, columns] of Object.entries(tables)) {
    const list = columns.map((column) => `"${column}"`).join(', ');
    const { rows } = await client.query<{ row: string }>(
      `select row_to_json(t)::text as row from (select ${list} from "${name}") t order by 1`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const wanted = [
  ...['users', 'user_emails', 'credentials', 'sessions', 'participations', 'authorization_codes', 'one_time_codes'],
  ...['enrolments', 'recovery_codes', 'known_networks', 'clients', 'api_keys', 'delegation_keys', 'admin_tokens'],
  ...['memberships', 'groups', 'group_members', 'scim_tokens', 'scim_request_records', 'messages', 'audit_log'],
];

describe.each(releases)('the database of release %s', (release) => {
  it('keeps every row and value in all migrations', async () => {
    const database = await restored(release, false);
    const tables = await tablesOf(database.client);
    const before = await contents(database, tables);
    expect(wanted.filter((name) => before[name]?.length === 0)).toEqual([]);
    const { rows: projects } = await database.client.query('select distinct project_id from audit_log');
    expect(projects.length).toBeGreaterThan(3);
    await migrate(database.url);
    const after = await contents(database, tables);
    for (const name of Object.keys(tables)) expect(after[name], name).toEqual(before[name]);
    await database.drop();
  });

  it('is the same after a restore, in one transaction, as after migrations that commit step by step', async () => {
    const [inSteps, atOnce] = [await restored(release, false), await restored(release, true)];
    await migrate(inSteps.url);
    await atOnce.client.query(`delete from audit_log where type = 'backup.restored'`);
    const tables = await tablesOf(inSteps.client);
    expect(await tablesOf(atOnce.client)).toEqual(tables);
    const [wantedRows, rows] = [await contents(inSteps, tables), await contents(atOnce, tables)];
    for (const name of Object.keys(tables)) expect(rows[name], name).toEqual(wantedRows[name]);
    await inSteps.drop();
    await atOnce.drop();
  });
});

describe('a database from before release 1.0', () => {
  it('of the last commit is used unchanged', async () => {
    const database = await restored('2026-11-29', false);
    const { client, url } = database;
    await client.query(`update migrations set name = '20261129001700-search-fold'`);
    const tables = await tablesOf(client);
    const before = await contents(database, tables);
    const lines: string[] = [];
    await migrate(url, (line) => lines.push(line));
    expect(lines[0]).toContain(`Migrating the database: ${migrations.length - 1} `);
    const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
    expect(rows.map(({ name }) => name)).toEqual(['20261129001700-search-fold', ...migrations.map(({ name }) => name)]);
    expect(await contents(database, tables)).toEqual(before);
    await database.drop();
  });

  it('of an earlier commit is refused, unchanged, with the commit to start once', async () => {
    const database = await restored('2026-11-29', false);
    await database.client.query(`update migrations set name = '20261128205600-login-hints'`);
    await expect(migrate(database.url)).rejects.toThrow(
      'It is older than release 1.0. Start commit 5ffac69 with it once, then this release.',
    );
    const { rows } = await database.client.query('select name from migrations');
    expect(rows).toEqual([{ name: '20261128205600-login-hints' }]);
    await database.drop();
  });

  it('is refused as a backup, before anything is written', async () => {
    const { masterKey } = JSON.parse(readFileSync(new URL(`${tooOld}/credentials.json`, fixtures), 'utf8'));
    const backup = fileURLToPath(new URL(`${tooOld}/backup.jsonl.gz`, fixtures));
    const database = await emptyDatabase();
    const context = contextOf({ DATABASE_URL: database.url, MASTER_KEY: masterKey });
    await expect(restoreFile(backup, context)).rejects.toThrow(
      `${backup} is older than release 1.0: restore it with commit 5ffac69, then start this release.`,
    );
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(`select relname from pg_class where relnamespace = 'public'::regnamespace`);
    expect(rows).toEqual([]);
    await client.end();
    await database.drop();
  });
});
