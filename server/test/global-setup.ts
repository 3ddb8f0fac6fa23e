import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/adapters/embedded/postgres.ts';
import { migrate } from '../src/adapters/postgres/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds to GET with a TestDatabaseServer as JSON. */
    databaseServer: string;
  }
}

/** The server and template of `freshDatabase`. */
export interface TestDatabaseServer {
  /** Maintenance database for CREATE DATABASE and DROP DATABASE. */
  url: string;
  /** Migrated, empty template without connections. Also the name prefix of the test databases. */
  template: string;
  /** Option of CREATE DATABASE: copies files, which takes half of the time of copying through the log. */
  strategy: string;
}

/**
 * One PostgreSQL for the whole run, with a migrated template, started on first use.
 * LATCHKEY_TEST_DATABASE_URL overrides it (14 or newer, with a role that may create databases).
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: ReturnType<typeof start> | undefined;
  const registry = createServer((_req, res) => {
    started ??= start();
    started.then(
      ({ server }) => res.end(JSON.stringify(server)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  project.provide('databaseServer', `http://127.0.0.1:${(registry.address() as AddressInfo).port}`);
  return async () => {
    registry.close();
    registry.closeAllConnections();
    const running = await started?.catch(() => undefined);
    await running?.stop();
  };
}

async function start(): Promise<{ server: TestDatabaseServer; stop(): Promise<void> }> {
  const given = process.env['LATCHKEY_TEST_DATABASE_URL'];
  const { url, stop: stopServer } = given ? { url: given, stop: async () => undefined } : await bootForTests();
  const template = `latchkey_test_${randomBytes(4).toString('hex')}`;
  const stop = async () => {
    if (given) await dropAll(given, template);
    await stopServer();
  };
  let strategy = '';
  try {
    await administer(url, async (client) => {
      await client.query(`CREATE DATABASE ${template}`);
      const version = "SELECT current_setting('server_version_num')::int AS version";
      // PostgreSQL 14 lacks the option, and always copies files.
      if ((await client.query(version)).rows[0].version >= 150_000) strategy = 'STRATEGY file_copy';
    });
    await migrate(databaseUrl(url, template));
  } catch (error) {
    await stop();
    throw error;
  }
  return { server: { url, template, strategy }, stop };
}

/** The URL of another database of the same server. */
export function databaseUrl(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

export async function administer<Result>(url: string, act: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}

async function dropAll(url: string, prefix: string): Promise<void> {
  await administer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    );
    for (const { name } of rows) await dropDatabase(client, name);
  });
}

async function bootForTests(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(dataParent(), 'latchkey-test-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  const database = await startEmbeddedPostgres({ dataDir, durable: false }).catch((error: unknown) => {
    remove();
    throw error;
  });
  // When this process ends for any reason, the pipe closes and the shell stops the database and removes its files.
  const cleaner = spawn('/bin/sh', ['-c', 'cat; kill -QUIT "$1"; rm -rf "$2"', 'sh', String(database.pid), dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  cleaner.unref();
  return {
    url: database.url,
    async stop() {
      await database.stop();
      cleaner.kill();
      remove();
    },
  };
}

const enoughBytes = 4 * 2 ** 30;

/** Shared memory if it has space: every test database copies several hundred files. `TMPDIR` overrides it. */
function dataParent(): string {
  if (process.env['TMPDIR']) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= enoughBytes ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Also terminates open connections. FORCE fails while an autovacuum worker, which runs as a superuser, is connected to the
 * database; the plain statement waits for the worker to leave.
 */
export async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  try {
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    const sessions = "pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'";
    await client.query(`SELECT pg_terminate_backend(pid) FROM ${sessions}`, [name]);
    await client.query(`DROP DATABASE ${name}`);
  }
}
