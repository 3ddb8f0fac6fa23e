import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { freshDatabase } from './database.ts';

describe('a fresh database', () => {
  it('is isolated from other tests, and deleted by drop', async () => {
    const [mine, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    const client = new pg.Client({ connectionString: mine.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TABLE only_here (id int)');
    await client.end();

    const elsewhere = new pg.Client({ connectionString: other.url });
    await elsewhere.connect();
    await expect(elsewhere.query('SELECT * FROM only_here')).rejects.toThrow('does not exist');
    await elsewhere.end();

    await Promise.all([mine.drop(), other.drop()]);
    const gone = new pg.Client({ connectionString: mine.url });
    await expect(gone.connect()).rejects.toThrow('does not exist');
  });
});
