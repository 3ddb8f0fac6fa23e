import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { administer } from '../../../test/global-setup.ts';
import { userTables } from '../nouns.ts';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

it('lists every table with a user id or a recipient, once', async () => {
  const { rows } = await administer(database.url, (client) =>
    client.query<{ name: string }>(
      `select conrelid::regclass::text as name from pg_constraint where contype = 'f' and confrelid = 'users'::regclass and conrelid <> confrelid
       union select table_name from information_schema.columns
         where table_schema = current_schema()
           and (select relkind <> 'v' and not relispartition from pg_class where oid = table_name::regclass)
           and table_name <> 'users' and (column_name like any (array['%user_id', 'account_id', 'created_by_id'])
           or column_name in ('subject_id', 'subject', 'resource_id', 'recipient', 'address', 'email_key'))`,
    ),
  );
  const listed = userTables.flatMap(({ tables }) => tables);
  expect([...listed].sort()).toEqual([...rows.map(({ name }) => name), 'users'].sort());
});
