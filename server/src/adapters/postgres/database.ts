import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Client, Pool, TypeOverrides, types } from 'pg';
import { entities } from '../../domain/entities.ts';
import { migrations } from '../../migrations/index.ts';
import { PooledDialect } from './driver.ts';
import type { DatabaseWatch } from './watch.ts';

/** How to reach PostgreSQL (14 or newer): a URL, whose `host` parameter may name a directory of Unix sockets. */
export interface DatabaseOptions {
  url: string;
  poolSize?: number;
  /** Several migrations in one transaction, which can then be the caller's. Default: each in its own. */
  migrateInOne?: boolean;
  /** For a server: cuts the connections when the database goes away. With it nothing waits for ever; commands may. */
  watch?: DatabaseWatch;
  /** False behind a pooler that keeps no prepared statements. */
  preparesStatements?: boolean;
}

/**
 * What a server begins each connection with: a statement that takes too long or waits too long for a lock is refused; a
 * transaction whose owner has vanished lets go of its locks.
 */
export const serverLimits = {
  statement_timeout: 30_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 60_000,
};
/** What the pool of a server waits for a free connection; how long a new one may take is the watch's affair. */
const connectionTimeoutMillis = 3_000;

function options(database: DatabaseOptions): Options {
  const { preparesStatements = true, migrateInOne = false } = database;
  return {
    dbName: addressOf(database.url).database,
    entities: [...entities],
    extensions: [Migrator],
    debug: false,
    discovery: { warnWhenNoEntities: false },
    driverOptions: () => new PooledDialect(poolOf(database), preparesStatements),
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
    types: typesOfOrm(),
    application_name: 'latchkey',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(watch && { ...serverLimits, connectionTimeoutMillis, Client: watch.client() }),
  });
  // A dropped connection has already left the pool; without listeners the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  watch?.join(pool);
  return pool;
}

/** Leaves dates and instants as text, which the ORM parses. */
function typesOfOrm(): TypeOverrides {
  const overrides = new TypeOverrides();
  const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = types.builtins;
  for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL]) overrides.setTypeParser(type, String);
  return overrides;
}

/** The address, credentials and TLS settings in a URL as `pg` reads them. Its other parameters are ignored. */
function addressOf(url: string) {
  const { host, port, user, password, database, ssl } = new Client({ connectionString: url });
  return { host, port, user, password, database, ssl };
}

export async function openDatabase(database: DatabaseOptions): Promise<MikroORM> {
  return MikroORM.init(options(database));
}

/** A number of our own, so that only one process migrates at a time. A backup shares it, a restore takes it. */
export const migrationLock = 7_316_904_551;

/** For this transaction: behind a pooler the limits of a server may be the role's own, and some work has to outlast them. */
export async function withoutLimits(em: EntityManager): Promise<void> {
  for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
    await em.execute(`set local ${limit} = 0`);
  }
}

/** Brings the schema up to date; several processes may try at once, one does it and the others wait. */
export async function migrate(url: string): Promise<void> {
  const orm = await openDatabase({ url, poolSize: 3 });
  try {
    await orm.em.fork().transactional(async (em) => {
      await withoutLimits(em);
      await em.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
      await orm.migrator.up();
    });
  } finally {
    await orm.close(true);
  }
}
