import { setTimeout } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Client, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { entities } from '../../domain/entities.ts';
import { migrations } from '../../migrations/index.ts';
import { type DatabaseLog, PooledDialect } from './driver.ts';
import { grantTenantRole } from './row-security.ts';
import type { DatabaseWatch } from './watch.ts';

/** Connection to PostgreSQL (14 or newer): a URL, whose `host` parameter may name a directory of Unix sockets. */
export interface DatabaseOptions {
  url: string;
  poolSize?: number;
  /** Runs all migrations in one transaction, which may be the caller's. Default: one transaction each. */
  migrateInOne?: boolean;
  /** Schema of the table of migrations. Default: `public`. */
  schema?: string;
  /** For servers: closes connections when the database is unreachable, and sets timeouts. Commands have none. */
  watch?: DatabaseWatch;
  /** False behind a pooler without prepared statements. */
  preparesStatements?: boolean;
  /** Whether PostgreSQL enforces the scope of statements, see `row-security.ts`. Default: false. */
  rowSecurity?: boolean;
  log?: DatabaseLog;
}

/** Settings of each connection of a server, in milliseconds. */
export const serverLimits = {
  statement_timeout: 30_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 60_000,
};
/**
 * PostgreSQL checks at this interval whether the client of a running statement is still connected, and else ends it: less
 * than the silence after which `DatabaseWatch` closes connections. A statement that was answered with 503 then writes
 * nothing later. Not a startup parameter, which poolers refuse.
 */
const endAbandoned = 'set client_connection_check_interval = 1000';
/** Maximum time that a request waits for a free connection. `DatabaseWatch` limits the time to connect. */
const connectionTimeoutMillis = 3_000;

function options(database: DatabaseOptions): Options {
  const { preparesStatements = true, rowSecurity = false, migrateInOne = false, log } = database;
  return {
    dbName: addressOf(database.url).database,
    entities: [...entities],
    extensions: [Migrator],
    debug: false,
    ...(database.schema !== undefined && { schema: database.schema }),
    discovery: { warnWhenNoEntities: false },
    driverOptions: () => new PooledDialect(poolOf(database), { preparesStatements, rowSecurity, log }),
    forceUtcTimezone: true,
    migrations: {
      migrationsList: migrations,
      tableName: 'migrations',
      snapshot: false,
      silent: true,
      transactional: true,
      allOrNothing: migrateInOne,
    },
  };
}

function poolOf({ url, poolSize = 10, watch }: DatabaseOptions): Pool {
  const pool = new Pool({
    ...addressOf(url),
    max: poolSize,
    types: ormTypes(),
    application_name: 'latchkey',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    verify: configure,
    ...(watch && { ...serverLimits, connectionTimeoutMillis, Client: watch.client() }),
  });
  // A dropped connection has already left the pool; an `error` event without a listener would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  watch?.join(pool);
  return pool;
}

/** Runs once on each new connection. Systems without such checks refuse the setting (22023). */
function configure(client: PoolClient, done: (error?: Error) => void): void {
  client.query(endAbandoned, (error: (Error & { code?: string }) | null) =>
    done(error === null || error.code === '22023' ? undefined : error),
  );
}

/** Leaves dates and timestamps as text, which the ORM parses. */
function ormTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = types.builtins;
  for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL]) overrides.setTypeParser(type, String);
  return overrides;
}

/** Address, credentials and TLS settings of a URL, as `pg` parses them. Other parameters are ignored. */
function addressOf(url: string) {
  const { host, port, user, password, database, ssl } = new Client({ connectionString: url });
  return { host, port, user, password, database, ssl };
}

/**
 * The schema that holds the tables: the first of the role's or database's `search_path`. The ORM looks for its table of
 * migrations in its configured schema.
 */
async function schemaOf(url: string): Promise<string> {
  const client = new Client(addressOf(url));
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string | null }>('select current_schema() as name');
    const name = rows[0]?.name;
    if (!name) throw new Error('no schema of search_path exists: create it, or change search_path');
    return name;
  } finally {
    await client.end();
  }
}

/** Whether the database has tables. */
export async function isFilled(url: string): Promise<boolean> {
  const client = new Client(addressOf(url));
  await client.connect();
  try {
    const { rowCount } = await client.query(
      'select from pg_class where relnamespace = current_schema()::regnamespace limit 1',
    );
    return rowCount !== 0;
  } finally {
    await client.end();
  }
}

/** Like {@link openDatabase}, for migrations. */
export async function openForMigrations(database: DatabaseOptions): Promise<MikroORM> {
  return openDatabase({ ...database, schema: await schemaOf(database.url) });
}

export async function openDatabase(database: DatabaseOptions): Promise<MikroORM> {
  return MikroORM.init(options(database));
}

/**
 * Advisory lock: exclusive for migrations and restores, shared for backups. Not the number of the previous release, whose
 * processes wait for theirs in a statement: a migration would wait for that statement, and the statement for it.
 */
export const migrationLock = 7_316_904_556;

/** Removes the timeouts for this transaction: behind a pooler they may be set on the role. */
export async function withoutLimits(em: EntityManager): Promise<void> {
  for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
    await em.execute(`set local ${limit} = 0`);
  }
}

const lockPauseMs = 100;

/**
 * Runs `work` in a transaction with {@link migrationLock}. Waits between transactions, not in one: `create index
 * concurrently` waits until every transaction ends that it sees in a statement.
 */
export async function withMigrationLock(orm: MikroORM, work: (em: EntityManager) => Promise<void>): Promise<void> {
  const attempt = () =>
    orm.em.fork().transactional(async (em) => {
      await withoutLimits(em);
      const statement = 'select pg_try_advisory_xact_lock(?) as taken';
      const [lock] = await em.execute<{ taken: boolean }[]>(statement, [migrationLock]);
      if (lock?.taken) await work(em);
      return lock?.taken;
    });
  while (!(await attempt())) await setTimeout(lockPauseMs);
}

/** Applies pending migrations. If several processes call it, one migrates and the others wait. */
export async function migrate(url: string): Promise<void> {
  const orm = await openForMigrations({ url, poolSize: 3 });
  try {
    await withMigrationLock(orm, async (em) => {
      await orm.migrator.up();
      await grantTenantRole(em);
    });
  } finally {
    await orm.close(true);
  }
}
