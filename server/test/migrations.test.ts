import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { migrate, openDatabase } from '../src/adapters/database.ts';
import { freshDatabase } from './database.ts';
import { administer, databaseUrl } from './global-setup.ts';

describe('the migrations', () => {
  it('lead to exactly the model', async () => {
    const database = await freshDatabase();
    const orm = await openDatabase({ url: database.url });
    const difference = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    await orm.close(true);
    await database.drop();
    // What the ORM cannot declare is made by migrations alone, and would be dropped here.
    const unknownToTheModel = difference.split('\n').filter((line) => line !== '' && !line.startsWith('drop index'));
    expect(unknownToTheModel).toEqual([]);
  });

  it('run once, whichever of eight processes that start at once is first', async () => {
    const { url, template } = inject('database');
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
    await administer(url, (admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
  });
});
