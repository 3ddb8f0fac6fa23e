import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { administer, databaseUrl, dropDatabase } from './global-setup.ts';

export interface FreshDatabase {
  url: string;
  /** Also ends connections that are still open. */
  drop(): Promise<void>;
}

/** A migrated, empty PostgreSQL database that no other test sees. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { url, template } = inject('database');
  const name = `${template}_${randomBytes(8).toString('hex')}`;
  await administer(url, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: databaseUrl(url, name),
    drop: () => administer(url, (client) => dropDatabase(client, name)),
  };
}

/** A database with nothing in it, not even a schema. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  const { url, template } = inject('database');
  const name = `${template}_${randomBytes(8).toString('hex')}`;
  await administer(url, (client) => client.query(`CREATE DATABASE ${name}`));
  return {
    url: databaseUrl(url, name),
    drop: () => administer(url, (client) => dropDatabase(client, name)),
  };
}
