import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MikroORM, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { Database } from './database.ts';
import { type Executing, execute, query, sql } from './sql.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 1 });
  db = new Database(orm);
  await execute(db.alone, sql`create table things (id int primary key, name text)`);
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});

const preparedNames = async () => {
  const rows = await query(db.alone, sql<{ name: string }>`select name from pg_prepared_statements`);
  return rows.map(({ name }) => name);
};

describe('a statement', () => {
  it('binds its values and returns rows and counts', async () => {
    const hostile = `'; drop table things; --`;
    expect(await execute(db.alone, sql`insert into things values (${1}, ${hostile}), (${2}, ${null})`)).toBe(2);
    const condition = sql`id = any(${[1, 2]})`;
    const rows = await query(db.alone, sql`select name from things where ${condition} order by id`);
    expect(rows).toEqual([{ name: hostile }, { name: null }]);
    expect(await execute(db.alone, sql`select 1`)).toBe(0);
  });

  it('throws the exception classes of the ORM', async () => {
    const twice = execute(db.alone, sql`insert into things values (${7}, 'a'), (${7}, 'b')`);
    await expect(twice).rejects.toThrow(UniqueConstraintViolationException);
  });

  it('runs in the transaction of its entity manager', async () => {
    const undone = db.transaction(async (em) => {
      await execute(em, sql`insert into things values (${8}, 'a')`);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await query(db.alone, sql`select from things where id = 8`)).toEqual([]);
  });
});

describe('a named statement', () => {
  const named = (on: Executing, value: number) =>
    query(on, sql<{ value: number }>`select ${value}::int as value`, { prepare: 'test.named' });

  it('is prepared once per connection, and binds its values at each call', async () => {
    expect(await named(db.alone, 1)).toEqual([{ value: 1 }]);
    expect(await named(db.alone, 2)).toEqual([{ value: 2 }]);
    expect(await preparedNames()).toEqual(['test.named']);
  });

  it('quotes names and literals', async () => {
    const hostile = `it's "so"`;
    const statement = sql`select ${sql.lit(hostile)} as ${sql.id(hostile)}, t.${sql.id('name')} is null as missing
      from ${sql.table('public.things')} t where ${sql.ref('t.id')} = ${sql.lit(2)}`;
    for (const options of [{}, { prepare: 'test.quoted' }]) {
      expect(await query(db.alone, statement, options)).toEqual([{ [hostile]: hostile, missing: true }]);
    }
  });

  it('is not prepared if DATABASE_PREPARED_STATEMENTS is off', async () => {
    const other = await openDatabase({ url: database.url, poolSize: 1, preparesStatements: false });
    const on = new Database(other).alone;
    expect(await named(on, 3)).toEqual([{ value: 3 }]);
    expect(await query(on, sql`select name from pg_prepared_statements`)).toEqual([]);
    await other.close(true);
  });

  it('has another name for each of its texts', async () => {
    const varying = (column: string) =>
      query(db.alone, sql<object>`select 1 as ${sql.id(column)}`, { prepare: 'test.varying' });
    for (const column of ['one', 'two', 'one', 'two']) expect(await varying(column)).toEqual([{ [column]: 1 }]);
    expect(await preparedNames()).toEqual(expect.arrayContaining(['test.varying', 'test.varying#2']));
  });

  it('binds each value at its position, whether or not it is a part', async () => {
    const pair = async (one: unknown, other: unknown) => {
      const statement = sql<{ one: number; other: number }>`select ${one}::int as one, (${other})::int as other`;
      const [row] = await query(db.alone, statement, { prepare: 'test.parts' });
      return row;
    };
    const expected = { one: 1, other: 2 };
    for (let time = 0; time < 2; time++) {
      expect(await pair(1, 2)).toEqual(expected);
      expect(await pair(1, sql`2`)).toEqual(expected);
      expect(await pair(sql`1`, 2)).toEqual(expected);
      expect(await pair(sql.raw('1'), sql.raw('2'))).toEqual(expected);
      expect(await pair(sql.raw('1'), sql.raw('1 + 1'))).toEqual(expected);
      expect(await pair(sql.lit(1), sql`${1}::int + ${1}::int`)).toEqual(expected);
      expect(await pair(sql.lit(1), sql`${3}::int - ${1}::int`)).toEqual(expected);
      expect(await pair(1, sql.join([1, sql`1`], sql` + `))).toEqual(expected);
      expect(await pair(1, sql.join([sql`1`, 1], sql` + `))).toEqual(expected);
      expect(await pair(1, sql.join([3, 1], sql`::int - `))).toEqual(expected);
    }
    expect((await preparedNames()).filter((name) => name.startsWith('test.parts'))).toHaveLength(10);
  });

  it('is not prepared after 16 texts', async () => {
    const counted = (limit: number) =>
      query(db.alone, sql`select 1 as one limit ${sql.lit(limit)}`, { prepare: 'test.counted' });
    for (let limit = 1; limit <= 20; limit++) expect(await counted(limit)).toEqual([{ one: 1 }]);
    const names = (await preparedNames()).filter((name) => name.startsWith('test.counted'));
    expect(names).toHaveLength(16);
  });

  it('has a unique label, whose names PostgreSQL does not truncate', () => {
    const src = join(import.meta.dirname, '../..');
    const sources = globSync('**/*.ts', { cwd: src, exclude: (path) => path.endsWith('.test.ts') });
    const labels = sources.flatMap((path) =>
      [...readFileSync(join(src, path), 'utf8').matchAll(/\bprepare: '([^']+)'/g)].map(([, label]) => label as string),
    );
    expect(labels.length).toBeGreaterThan(20);
    expect(labels.filter((label, index) => labels.indexOf(label) !== index)).toEqual([]);
    expect(labels.filter((label) => label.length > 60)).toEqual([]);
  });
});
