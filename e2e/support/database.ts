import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** A direct connection to a server's database, for data that no API can create: past activity. */
export async function openDatabase({ dataDir }: { dataDir: string }): Promise<pg.Client> {
  const postmaster = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  const [port, socketFolder] = [postmaster[3] ?? '', postmaster[4] ?? ''];
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const client = new pg.Client({
    user: 'latchkey',
    database: 'latchkey',
    password,
    host: socketFolder,
    port: Number(port),
  });
  await client.connect();
  return client;
}

/** Restores the limits of codes, which last for an hour, for tests of other users. */
export async function restoreBudgets(latchkey: { dataDir: string }): Promise<void> {
  const database = await openDatabase(latchkey);
  await database.query('delete from budgets');
  await database.end();
}
