/** Each table belongs to a tenant or to the instance; the keys of a tenant's table begin with its project. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { administer } from './global-setup.ts';

/** Rows of the instance, or counters over its tenants. */
const instanceTables = [
  ...['projects', 'signing_keys', 'retired_mac_keys', 'processes', 'setup_links', 'backups', 'migrations'],
  // The project that holds a host name: one of the instance.
  'verified_hosts',
  // Names of budgets contain the project if they count per project.
  ...['budgets', 'activity_progress', 'retention_progress'],
  // Requests of operators, by caller and key.
  'idempotent_requests',
  // Rights of operators: `project_id` is the scope of a right, null for the instance.
  ...['admin_tokens', 'memberships'],
  // Its `project_id` is null for a stream of the instance.
  'log_streams',
];

interface Column {
  table: string;
  column: string;
  nullable: boolean;
}

interface Key {
  table: string;
  name: string;
  kind: 'p' | 'u' | 'f';
  columns: string[];
  parent: string | null;
  onUpdate: string;
}

let database: FreshDatabase;
let columns: Column[];
let keys: Key[];
let indexes: { table: string; name: string; first: string }[];

beforeAll(async () => {
  database = await freshDatabase();
  await administer(database.url, async (client: pg.Client) => {
    const read = async <Row extends pg.QueryResultRow>(text: string) => (await client.query<Row>(text)).rows;
    columns = await read(`select table_name as table, column_name as column, is_nullable = 'YES' as nullable
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE'`);
    keys = await read(`select conrelid::regclass::text as table, conname as name, contype as kind,
        confupdtype as "onUpdate", nullif(confrelid::regclass::text, '-') as parent,
        array(select attname::text from unnest(conkey) with ordinality k(number, place)
          join pg_attribute a on a.attrelid = conrelid and a.attnum = k.number order by place) as columns
      from pg_constraint where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'f')`);
    indexes = await read(`select indrelid::regclass::text as table, indexrelid::regclass::text as name,
        pg_get_indexdef(indexrelid, 1, true) as first
      from pg_index where indisunique and indrelid::regclass::text not like 'pg_%'
        and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
        and indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`);
  });
});

afterAll(() => database.drop());

const tables = () => [...new Set(columns.map(({ table }) => table))];
const isTenant = (table: string) => !instanceTables.includes(table);
const nameOf = ({ table, name }: { table: string; name: string }) => `${table}: ${name}`;

describe('a table of tenants', () => {
  it('has a project_id that is never null', () => {
    const named = columns.filter(({ column, nullable }) => column === 'project_id' && !nullable);
    const lacking = tables().filter((table) => isTenant(table) && !named.some((column) => column.table === table));
    expect(lacking).toEqual([]);
  });

  it('begins its primary key and its unique keys with the project', () => {
    const others = keys.filter(
      ({ table, kind, columns: [first] }) => isTenant(table) && kind !== 'f' && first !== 'project_id',
    );
    expect(others.map(nameOf)).toEqual([]);
  });

  it('has no other unique index', () => {
    const others = indexes.filter(({ table, first }) => isTenant(table) && first !== 'project_id');
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  it('refers to other tables of tenants within the project', () => {
    const others = keys.filter(
      ({ table, parent, columns: [first] }) =>
        isTenant(table) && parent !== null && isTenant(parent) && first !== 'project_id',
    );
    expect(others.map(nameOf)).toEqual([]);
  });
});

describe('each table', () => {
  it('that is listed here exists', () => {
    expect(instanceTables.filter((table) => !tables().includes(table))).toEqual([]);
  });

  it('has no foreign key that follows changes of a key: keys never change', () => {
    expect(keys.filter(({ kind, onUpdate }) => kind === 'f' && onUpdate !== 'a').map(nameOf)).toEqual([]);
  });
});
