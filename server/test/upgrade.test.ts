/** The filled databases of earlier releases (e2e/upgrade) keep their rows when they are migrated to this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate } from '../src/adapters/postgres/database.ts';
import { restoreFile } from '../src/commands/restore.ts';
import { emptyDatabase, type FreshDatabase } from './database.ts';
import { contextOf } from './shell.ts';

const fixtures = new URL('../../e2e/upgrade/', import.meta.url);
const releases = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Columns that a migration fills, by table: the expression of the earlier schema that equals the later value. */
const filled: Record<string, Record<string, string>> = {
  // 20261122000400: events of the instance have its ID.
  audit_events: { project_id: `coalesce(project_id, '00000000-0000-0000-0000-000000000000')` },
};
/** Tables with rows of the process that made the backup, or of the restore. */
const unequal = ['migrations', 'processes', 'backups'];

interface Restored extends FreshDatabase {
  client: pg.Client;
}

async function restored(release: string, laterMigrations: boolean): Promise<Restored> {
  const { masterKey } = JSON.parse(readFileSync(new URL(`${release}/credentials.json`, fixtures), 'utf8'));
  const backup = fileURLToPath(new URL(`${release}/backup.jsonl.gz`, fixtures));
  const database = await emptyDatabase();
  const surroundings = contextOf({ DATABASE_URL: database.url, MASTER_KEY: masterKey });
  await restoreFile(backup, surroundings, { laterMigrations });
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

/** Rows as JSON by PostgreSQL, which loses no precision. A view may have taken the place of a table. */
async function contents({ client }: Restored, tables: Tables, values: typeof filled = {}): Promise<Tables> {
  const found: Tables = {};
  for (const [name, columns] of Object.entries(tables)) {
    const list = columns.map((column) => `${values[name]?.[column] ?? `"${column}"`} as "${column}"`).join(', ');
    const { rows } = await client.query<{ row: string }>(
      `select row_to_json(t)::text as row from (select ${list} from "${name}") t order by 1`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const wanted = [
  ...['users', 'user_emails', 'devices', 'sessions', 'participations', 'authorization_codes', 'one_time_codes'],
  ...['enrolments', 'recovery_codes', 'known_networks', 'clients', 'api_keys', 'delegation_keys', 'admin_tokens'],
  ...['memberships', 'groups', 'group_members', 'scim_tokens', 'scim_request_records', 'messages', 'audit_events'],
];

describe.each(releases)('the database of release %s', (release) => {
  it('keeps every row and value in all migrations', async () => {
    const database = await restored(release, false);
    const tables = await tablesOf(database.client);
    const before = await contents(database, tables, filled);
    expect(wanted.filter((name) => before[name]?.length === 0)).toEqual([]);
    const { rows: projects } = await database.client.query('select distinct project_id from audit_events');
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
