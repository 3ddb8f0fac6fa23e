import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, query, sql } from '../../domain/kernel/sql.ts';

/** A table and its stored columns. */
export interface Table {
  name: string;
  columns: string[];
}

const pageBytes = 200_000;
/** Rows in the first page, and the maximum. */
const [firstPage, largestPage] = [16, 1024];
const listOf = (columns: readonly string[]) => sql.join(columns.map((column) => sql.id(column)));

/** All tables but `migrations`, parents before children; a partitioned table without its partitions. */
export async function tablesOf(em: EntityManager): Promise<Table[]> {
  const columns = await query(
    em,
    sql<{ table: string; column: string }>`
      select c.relname as "table", a.attname as "column" from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'migrations'
      order by c.relname, a.attnum`,
  );
  const parents = await query(
    em,
    sql<{ child: string; parent: string }>`
      select c.relname as child, p.relname as parent from pg_constraint k
      join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
      where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace and c.oid <> p.oid`,
  );
  const tables = new Map<string, Table>();
  for (const { table, column } of columns) {
    const known = tables.get(table) ?? { name: table, columns: [] };
    known.columns.push(column);
    tables.set(table, known);
  }
  const ordered: Table[] = [];
  const waiting = new Set(tables.keys());
  while (waiting.size > 0) {
    const free = [...waiting].filter(
      (name) => !parents.some(({ child, parent }) => child === name && waiting.has(parent)),
    );
    if (free.length === 0) throw new Error(`circular foreign keys between tables: ${[...waiting].join(', ')}`);
    for (const name of free) {
      waiting.delete(name);
      ordered.push(tables.get(name) as Table);
    }
  }
  return ordered;
}

/** Applied migrations, in order; null if this is not a Latchkey database. */
export async function appliedMigrations(em: EntityManager): Promise<string[] | null> {
  const [there] = await query(em, sql<{ there: boolean }>`select to_regclass('migrations') is not null as there`);
  if (!there?.there) return null;
  return (await query(em, sql<{ name: string }>`select name from migrations order by id`)).map(({ name }) => name);
}

/**
 * Pages of rows. PostgreSQL itself writes each row as JSON text, so that no type loses precision. A page has about
 * {@link pageBytes}, even with long rows. Requires a transaction.
 */
export async function* rowsOf(em: EntityManager, { name, columns }: Table): AsyncGenerator<string[]> {
  await execute(
    em,
    sql`declare copied no scroll cursor for
      select row_to_json(t)::text as json from (select ${listOf(columns)} from ${sql.id(name)}) t`,
  );
  for (let size = firstPage; ; ) {
    const page = await query(em, sql<{ json: string }>`fetch ${sql.lit(size)} from copied`);
    const rows = page.map(({ json }) => json);
    if (rows.length > 0) yield rows;
    if (rows.length < size) break;
    const bytes = rows.reduce((sum, row) => sum + row.length, 0);
    size = Math.max(1, Math.min(largestPage, size * 2, Math.floor((size * pageBytes) / bytes)));
  }
  await execute(em, sql`close copied`);
}

/** Inserts rows. Throws if a column is unknown. */
export async function insertRows(em: EntityManager, { name, columns }: Table, json: readonly string[]): Promise<void> {
  const [table, list] = [sql.id(name), listOf(columns)];
  await execute(
    em,
    sql`insert into ${table} (${list})
      select ${list} from json_populate_recordset(null::${table}, ${`[${json.join(',')}]`}::json)`,
  );
}

/** Disables triggers during `work`: the data already holds the values that they derive. */
export async function withoutTriggers(em: EntityManager, tables: readonly Table[], work: () => Promise<void>) {
  for (const { name } of tables) await execute(em, sql`alter table ${sql.id(name)} disable trigger user`);
  await work();
  // Deferred checks come first: PostgreSQL alters no table that has some pending.
  await execute(em, sql`set constraints all immediate`);
  for (const { name } of tables) await execute(em, sql`alter table ${sql.id(name)} enable trigger user`);
}

/** Sets each sequence to continue after the highest value. */
export async function advanceSequences(em: EntityManager, tables: readonly Table[]): Promise<void> {
  for (const { name, columns } of tables) {
    for (const column of columns) {
      const table = `"${name.replaceAll('"', '""')}"`;
      const [found] = await query(
        em,
        sql<{ sequence: string | null }>`
          select pg_get_serial_sequence(${table}, ${column}) as sequence`,
      );
      if (!found?.sequence) continue;
      await query(
        em,
        sql`select setval(${found.sequence}, coalesce(max(${sql.id(column)}), 0) + 1, false) from ${sql.id(name)}`,
      );
    }
  }
}

/** The first table with a row; null if all are empty. */
export async function firstFilled(em: EntityManager, tables: readonly Table[]): Promise<string | null> {
  for (const { name } of tables) {
    const [found] = await query(em, sql<{ any: boolean }>`select exists(select 1 from ${sql.id(name)}) as any`);
    if (found?.any) return name;
  }
  return null;
}
