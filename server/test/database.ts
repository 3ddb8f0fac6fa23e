import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { administer, databaseUrl, dropDatabase, type TestDatabaseServer } from './global-setup.ts';

export interface FreshDatabase {
  url: string;
  /** Also terminates open connections. */
  drop(): Promise<void>;
}

let known: Promise<TestDatabaseServer> | undefined;

/** The PostgreSQL of this run, started on first use. */
export function databaseServer(): Promise<TestDatabaseServer> {
  known ??= ask();
  return known;
}

async function ask(): Promise<TestDatabaseServer> {
  const response = await fetch(inject('databaseServer'));
  if (!response.ok) throw new Error(`PostgreSQL for tests did not start: ${await response.text()}`);
  return (await response.json()) as TestDatabaseServer;
}

/** A migrated, empty database for one test file. */
export async function freshDatabase(): Promise<FreshDatabase> {
  return copyOf((await databaseServer()).template);
}

/** A database without a schema. */
export function emptyDatabase(): Promise<FreshDatabase> {
  return copyOf('template1');
}

async function copyOf(source: string): Promise<FreshDatabase> {
  const { url, template, strategy } = await databaseServer();
  const name = `${template}_${randomBytes(8).toString('hex')}`;
  await administer(url, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${source} ${strategy}`));
  return {
    url: databaseUrl(url, name),
    drop: () => administer(url, (client) => dropDatabase(client, name)),
  };
}
