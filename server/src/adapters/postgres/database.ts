import { setTimeout } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, type MetadataStorage, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Client, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { entities } from '../../domain/nouns.ts';
import { migrations } from '../../migrations/index.ts';
import { adoptBaseline } from './baseline.ts';
import { closedBy, placeOf } from './connection.ts';
import { type DatabaseLog, PooledDialect } from './driver.ts';
import { grantTenantRole } from './row-security.ts';
import type { DatabaseWatch } from './watch.ts';

/** Connection to PostgreSQL (14 or newer): a URL, whose `host` parameter may name a directory of Unix sockets. */
export interface DatabaseOptions {
  url: string;
  poolSize?: number;
  /** False: for statements alone, without entities. */
  hasEntities?: boolean;
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
  /** Closes the connections when it aborts. Not together with `watch`. */
  closing?: AbortSignal | undefined;
  /** Maximum milliseconds until a statement of a server is answered: PostgreSQL ends it earlier, unless its connection is dead. */
  answerWithinMs?: number;
  /** Name of the connections in `pg_stat_activity`. Default: `latchkey`. */
  name?: string;
}

/** Settings of each connection of a server, in milliseconds. */
export const serverLimits = {
  statement_timeout: 30_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 60_000,
};
/**
 * PostgreSQL checks at this interval whether the client of a running statement is still connected, and otherwise ends
 * it: less than the silence after which `DatabaseWatch` closes connections. A statement that was answered with 503 then
 * writes nothing later. Not a startup parameter, which poolers refuse.
 */
const endAbandoned = 'set client_connection_check_interval = 1000';
/** Maximum time that a request waits for a free connection. `DatabaseWatch` limits the time to connect. */
const connectionTimeoutMillis = 3_000;

function options(database: DatabaseOptions): Options {
  const { preparesStatements = true, rowSecurity = false, migrateInOne = false, log } = database;
  return {
    dbName: addressOf(database.url).database,
    extensions: [Migrator],
    debug: false,
    ...(database.schema !== undefined && { schema: database.schema }),
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

function poolOf(options: DatabaseOptions): Pool {
  const { url, poolSize = 10, watch, closing, name = 'latchkey', answerWithinMs = 35_000 } = options;
  const pool = new Pool({
    ...addressOf(url),
    max: poolSize,
    types: ormTypes(),
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    verify: configure,
    Client: closedBy(closing),
    ...(watch && {
      ...serverLimits,
      query_timeout: answerWithinMs,
      connectionTimeoutMillis,
      Client: watch.client(),
    }),
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

/** Runs `work` on a connection of its own. */
async function connected<T>(
  url: string,
  closing: AbortSignal | undefined,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new (closedBy(closing))({ ...addressOf(url), application_name: 'latchkey' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * The schema that holds the tables: the first of the role's or database's `search_path`. The ORM looks for its table of
 * migrations in its configured schema.
 */
function schemaOf(url: string, closing: AbortSignal | undefined): Promise<string> {
  return connected(url, closing, async (client) => {
    const { rows } = await client.query<{ name: string | null }>('select current_schema() as name');
    const name = rows[0]?.name;
    if (!name) throw new Error('no schema of search_path exists: create it, or change search_path');
    return name;
  });
}

/** Whether the database has tables. */
export function isFilled(url: string): Promise<boolean> {
  return connected(url, undefined, async (client) => {
    const { rowCount } = await client.query(
      'select 1 from pg_class where relnamespace = current_schema()::regnamespace limit 1',
    );
    return rowCount !== 0;
  });
}

/** Throws with the reason if the database accepts no writes. */
export async function mustBeWritable(url: string, closing?: AbortSignal): Promise<void> {
  const { standby, readonly } = await connected(url, closing, async (client) => {
    const { rows } = await client.query<{ standby: boolean; readonly: boolean }>(
      `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as readonly`,
    );
    return rows[0] ?? { standby: false, readonly: false };
  });
  const where = placeOf(url);
  if (standby) throw new Error(`${where} is a standby, which only reads: DATABASE_URL must name the primary`);
  if (readonly) {
    throw new Error(
      `${where} is read-only: turn off default_transaction_read_only of the server, the database or the user`,
    );
  }
}

/** Like {@link openDatabase}, for migrations. */
export async function openForMigrations(database: DatabaseOptions): Promise<MikroORM> {
  return openDatabase({ name: migrationsName, ...database, schema: await schemaOf(database.url, database.closing) });
}

/** The metadata of {@link entities}, the same for each database. Only their discovery writes it (decisions/0381). */
let discovered: MetadataStorage | undefined;

/** Discovers the entities if they are not known yet; {@link openDatabase} then takes less time. */
export function discoverEntities(): MetadataStorage {
  discovered ??= new MikroORM({ ...options({ url: 'postgresql:///unused' }), entities: [...entities] }).getMetadata();
  return discovered;
}

export async function openDatabase(database: DatabaseOptions): Promise<MikroORM> {
  const { hasEntities = true } = database;
  const known = hasEntities ? discoverEntities() : [];
  return new MikroORM({
    ...options(database),
    entities: [],
    discovery: {
      warnWhenNoEntities: false,
      afterDiscovered: (storage) => {
        for (const meta of known) storage.set(meta.class, meta);
      },
    },
  });
}

/** Advisory lock: exclusive for migrations and restores, shared for backups. */
export const migrationLock = 7_316_904_556;

/** Name of the connections that migrate, in `pg_stat_activity`. */
export const migrationsName = 'latchkey-migrations';

/** Removes the timeouts for this transaction: behind a pooler they may be set on the role. */
export async function withoutLimits(em: EntityManager): Promise<void> {
  for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
    await em.execute(`set local ${limit} = 0`);
  }
}

const lockPauseMs = 100;
/** Minimum time between two lines of progress. */
const progressMs = 1_000;

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

/**
 * Applies pending migrations, and prints their names. If several processes call it, one migrates and the others wait.
 */
export async function migrate(
  url: string,
  print: (line: string) => void = () => undefined,
  closing?: AbortSignal,
): Promise<void> {
  const orm = await openForMigrations({ url, poolSize: 3, hasEntities: false, closing });
  try {
    await withMigrationLock(orm, async (em) => {
      await orm.em.fork().transactional(adoptBaseline);
      const pending = await orm.migrator.getPending();
      const beganAt = performance.now();
      const noun = pending.length === 1 ? 'migration' : 'migrations';
      if (pending.length > 0) print(`Migrating the database: ${pending.length} ${noun}`);
      let printedAt = beganAt;
      orm.migrator.on('migrating', ({ name }) => {
        if (performance.now() - printedAt < progressMs) return;
        printedAt = performance.now();
        const at = pending.findIndex((one) => one.name === name);
        print(`Migration ${at + 1} of ${pending.length}: ${name}`);
      });
      await orm.migrator.up();
      await grantTenantRole(em);
      if (pending.length > 0) print(`Migrated in ${((performance.now() - beganAt) / 1000).toFixed(1)} s`);
    });
  } finally {
    await orm.close(true);
  }
}
