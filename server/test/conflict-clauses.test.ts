/**
 * `on conflict (columns)` covers one unique index. If the table has a second one, two concurrent inserts of a row can meet
 * there first, which is an error (23505): such a statement must name no columns, or have its reason here.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshDatabase } from './database.ts';
import { administer } from './global-setup.ts';

/** Further unique indexes that a statement with a named key cannot meet, or whose error it handles. */
const handled: Record<string, string> = {
  'consents (project_id, id)': 'a new random id',
  'device_authorizations (project_id, id)': 'a new random id',
  'organization_invitations (project_id, id)': 'a new random id',
  'organization_invitations (project_id, secret_hash)': 'a new random secret',
  'organization_memberships (project_id, id)': 'a new random id',
  'sign_up_requests (project_id, id)': 'a new random id',
  'identities (project_id, id)': 'a new random id',
  'custom_values (project_id, attribute, key)': 'unlessTaken refuses the value',
};

interface Clause {
  at: string;
  table: string;
  columns: string;
}

/** The `on conflict` clauses with columns; the import's, whose table is a variable, has its own handling (23505). */
function clauses(): Clause[] {
  const source = join(import.meta.dirname, '../src');
  const files = globSync('**/*.ts', { cwd: source }).filter((file) => !/\.test\.ts$|^migrations/.test(file));
  return files.flatMap((at) => {
    const text = readFileSync(join(source, at), 'utf8');
    return [...text.matchAll(/on conflict \(([a-z_, ]+)\)/g)].map(({ 1: columns = '', index }) => {
      const [, table = ''] = /^.*insert into (\w+)/s.exec(text.slice(0, index)) ?? [];
      return { at, table, columns };
    });
  });
}

it('each conflict clause covers every unique index of its table, or the others cannot conflict', async () => {
  const database = await freshDatabase();
  const indexes = await administer(database.url, async (client) => {
    const { rows } = await client.query<{ table: string; columns: string }>(`
      select coalesce(inhparent, indrelid)::regclass::text as table,
        (select string_agg(attname, ', ' order by place) from unnest(indkey) with ordinality k(number, place)
          join pg_attribute a on a.attrelid = indrelid and a.attnum = k.number) as columns
      from pg_index left join pg_inherits on inhrelid = indrelid
      where indisunique and indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`);
    return rows;
  });
  await database.drop();
  const found = clauses();
  expect(found.length).toBeGreaterThan(9);
  const open = found.flatMap(({ at, table, columns }) => {
    const keys = indexes.filter((index) => index.table === table).map((index) => index.columns);
    if (!keys.includes(columns)) return [`${at}: no unique index of ${table} has the columns ${columns}`];
    return keys
      .filter((key) => key !== columns && handled[`${table} (${key})`] === undefined)
      .map((key) => `${at}: ${table} is also unique by ${key}`);
  });
  expect(open).toEqual([]);
});
