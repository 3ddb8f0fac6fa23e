import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrate, migrationLock, openDatabase } from '../src/adapters/postgres/database.ts';
import { migrations } from '../src/migrations/index.ts';
import { databaseServer, emptyDatabase, freshDatabase } from './database.ts';
import { administer, databaseUrl, dropDatabase } from './global-setup.ts';

describe('the migrations', () => {
  it('produce exactly the schema of the model', async () => {
    const database = await freshDatabase();
    const orm = await openDatabase({ url: database.url });
    const difference = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    await orm.close(true);
    await database.drop();
    // Ignores objects that the ORM cannot declare; only migrations create them.
    const undeclarable =
      /^($|drop (index|function|trigger|policy)|alter table .* disable row level)|drop constraint "(ceremonies_project_id_account_id_foreign|(users|groups|connections)_project_id_(organization|account)_id_foreign|credentials_(device_key|passkey)|\w+_holder)"|drop view if exists "devices"/;
    const unknownToTheModel = difference.split('\n').filter((line) => !undeclarable.test(line));
    expect(unknownToTheModel).toEqual([]);
  });

  it('leave the moment of the last sign-in out of every index, so that a sign-in writes none', async () => {
    const database = await freshDatabase();
    const { rows } = await administer(database.url, (client) =>
      client.query(`select indexdef from pg_indexes where tablename = 'users' and indexdef like '%last_sign_in_at%'`),
    );
    await database.drop();
    expect(rows).toEqual([]);
  });

  it('run once when eight processes start in parallel', async () => {
    const { url, template } = await databaseServer();
    const name = `${template}_unmigrated`;
    await administer(url, (client) => client.query(`CREATE DATABASE ${name}`));
    const target = databaseUrl(url, name);
    await Promise.all(Array.from({ length: 8 }, () => migrate(target)));
    const client = new pg.Client({ connectionString: target });
    await client.connect();
    const { rows } = await client.query<{ name: string; count: string }>(
      'SELECT name, count(*) FROM migrations GROUP BY name HAVING count(*) > 1',
    );
    expect(rows).toEqual([]);
    await client.query('SELECT id FROM users LIMIT 1');
    await client.end();
    await administer(url, (admin) => dropDatabase(admin, name));
  });

  it('wait for another process outside a transaction, which would block the creation of an index', async () => {
    const database = await freshDatabase();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const migrated = migrate(database.url);
    const waiting = async () => {
      // A transaction keeps its snapshot of the statistics.
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query<{ state: string; query: string }>(
        'select state, query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      return rows;
    };
    await expect.poll(waiting).toEqual([{ state: 'idle', query: 'commit' }]);
    await holder.query('commit');
    await migrated;
    await holder.end();
    await database.drop();
  });

  it('are ordered by name, and each name starts with its timestamp', () => {
    const names = migrations.map(({ name }) => name);
    for (const name of names) expect(name).toMatch(/^\d{14}-[a-z-]+$/);
    expect(names).toEqual([...new Set(names)].sort());
  });

  it('upgrade every earlier schema with data to the same schema, without losing rows', async () => {
    const reference = await freshDatabase();
    const wanted = await administer(reference.url, schemaOf);
    await reference.drop();
    const database = await emptyDatabase();
    const orm = await openDatabase({ url: database.url, poolSize: 2 });
    await administer(database.url, async (client) => {
      // Each migration runs on rows that were written in each earlier schema.
      for (const { name } of migrations) {
        const filled = await fill(client);
        await orm.migrator.up({ to: name });
        expect(await countsOf(client, Object.keys(filled)), `by ${name}`).toEqual(filled);
      }
      expect(await schemaOf(client)).toEqual(wanted);
    });
    await orm.close(true);
    await database.drop();
  });
});

/** Columns, constraints, indexes, triggers, as text. */
async function schemaOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select line from (
       select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') as line
         from information_schema.columns where table_schema = 'public'
       union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
         where connamespace = 'public'::regnamespace
       union all select indexdef from pg_indexes where schemaname = 'public'
       union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
     ) as lines order by 1`,
  );
  return rows.map(({ line }) => line);
}

/** Inserts a row into each table of the current schema, parents first; returns the row counts by table. */
async function fill(client: pg.Client): Promise<Record<string, number>> {
  const { rows: tables } = await client.query<{ name: string; columns: string; values: string }>(
    `select c.table_name as name, string_agg(quote_ident(c.column_name), ', ') as columns, string_agg(${madeUpValue}, ', ') as values
     from information_schema.columns c where c.table_schema = 'public' and c.table_name <> 'migrations'
       and not (select relispartition from pg_class where oid = c.table_name::regclass)
       and (c.is_nullable = 'NO' and c.column_default is null
         -- Columns that a device key needs, and a passkey does not have.
         or c.table_name = 'credentials' and c.column_name in ('client_id', 'jkt', 'public_jwk', 'alg')
         -- One of several holders.
         or c.column_name = 'user_id' and exists (select from pg_constraint where conname = c.table_name || '_holder'))
     group by c.table_name order by quote_ident(c.table_name)::regclass::oid`,
  );
  let waiting = tables;
  for (let before = -1; waiting.length > 0 && waiting.length !== before; ) {
    before = waiting.length;
    const left: typeof tables = [];
    for (const table of waiting) if (!(await tryFill(client, table))) left.push(table);
    waiting = left;
  }
  expect(
    waiting.map(({ name }) => name),
    'tables without a row',
  ).toEqual([]);
  return countsOf(
    client,
    tables.map(({ name }) => name),
  );
}

/** False if a parent table has no row yet. */
async function tryFill(client: pg.Client, table: { name: string; columns: string; values: string }): Promise<boolean> {
  try {
    await client.query(
      `insert into "${table.name}" (${table.columns}) values (${table.values}) on conflict do nothing`,
    );
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === '23502') return false;
    throw error;
  }
}

async function countsOf(client: pg.Client, tables: readonly string[]): Promise<Record<string, number>> {
  if (tables.length === 0) return {};
  const counts = tables.map((name) => `select '${name}' as name, count(*)::int as count from "${name}"`);
  const { rows } = await client.query<{ name: string; count: number }>(counts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** SQL for a value: a parent's newest row, the first value that a check allows, or a default of the column's type. */
const madeUpValue = `coalesce(
  (select format('(select %I from %I order by ctid desc limit 1)', f.attname, k.confrelid::regclass::text) from pg_constraint k
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
     join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[array_position(k.conkey, a.attnum)]
     where k.contype = 'f' and k.conrelid = quote_ident(c.table_name)::regclass and a.attname = c.column_name limit 1),
  (select case c.data_type when 'ARRAY' then 'array[' || v.text || ']' else v.text end from pg_constraint k
     cross join lateral (select (regexp_match(pg_get_constraintdef(k.oid), '(''[^'']+''::text)'))[1] as text) v
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
     where k.contype = 'c' and k.conrelid = quote_ident(c.table_name)::regclass and a.attname = c.column_name limit 1),
  case when c.column_name = 'client_id' then '(select id from clients order by ctid desc limit 1)' end,
  case c.data_type when 'uuid' then 'gen_random_uuid()' when 'boolean' then 'true'
    when 'timestamp with time zone' then case c.column_name when 'expires_at' then 'now() + interval ''1 hour''' else 'now()' end when 'date' then 'now()::date'
    when 'jsonb' then quote_literal('{}') when 'ARRAY' then quote_literal('{}')
    when 'bytea' then quote_literal('') when 'text' then quote_literal(left(md5(random()::text), 8)) else '1' end)`;
