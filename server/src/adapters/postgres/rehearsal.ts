import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openForMigrations } from './database.ts';
import { grantTenantRole } from './row-security.ts';

/** Measurements of one migration on a copy of the data. */
export interface RehearsedMigration {
  name: string;
  milliseconds: number;
  /** Growth of the database. */
  bytes: number;
  /** The longest time for which it held a lock that writes wait for, by table; sampled every {@link sampleMs}. */
  locks: { table: string; milliseconds: number }[];
}

/** Locks are sampled this often: a shorter one may be missed. */
export const sampleMs = 10;

/** Runs pending migrations one by one, as the server does, and measures each. No other process may use the database. */
export async function* rehearseMigrations(url: string): AsyncGenerator<RehearsedMigration> {
  const watcher = new pg.Client({ connectionString: url, application_name: 'latchkey rehearsal' });
  await watcher.connect();
  const orm = await openForMigrations({ url, poolSize: 3, hasEntities: false });
  try {
    for (const { name } of await orm.migrator.getPending()) {
      const before = await sizeOf(watcher);
      const locks = new LockWatch(watcher);
      const startedAt = performance.now();
      await orm.migrator.up({ migrations: [name] }).finally(() => locks.stop());
      const milliseconds = performance.now() - startedAt;
      yield { name, milliseconds, bytes: (await sizeOf(watcher)) - before, locks: locks.longest() };
    }
    await orm.em.fork().transactional((em) => grantTenantRole(em));
  } finally {
    await orm.close(true);
    await watcher.end();
  }
}

async function sizeOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
  return Number(rows[0]?.bytes);
}

/** Modes that conflict with the lock of a write. */
const strong = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];

/** Samples the strong locks on tables that others can see. */
class LockWatch {
  readonly #since = new Map<string, number>();
  readonly #longest = new Map<string, number>();
  readonly #sampling: Promise<void>;
  #isStopped = false;

  constructor(client: pg.Client) {
    this.#sampling = this.#sample(client);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#sampling;
  }

  longest(): RehearsedMigration['locks'] {
    const found = [...this.#longest].map(([table, milliseconds]) => ({ table, milliseconds }));
    return found.sort((a, b) => b.milliseconds - a.milliseconds);
  }

  async #sample(client: pg.Client): Promise<void> {
    while (!this.#isStopped) {
      const { rows } = await client.query<{ key: string; table: string }>(
        `select distinct concat(l.pid, ' ', l.virtualtransaction, ' ', c.oid) as key, c.relname as table
         from pg_locks l join pg_class c on c.oid = l.relation
         where l.granted and l.mode = any($1) and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
           and l.database = (select oid from pg_database where datname = current_database())`,
        [strong],
      );
      const now = performance.now();
      for (const key of this.#since.keys()) if (!rows.some((row) => row.key === key)) this.#since.delete(key);
      for (const { key, table } of rows) {
        const since = this.#since.get(key) ?? now;
        this.#since.set(key, since);
        this.#longest.set(table, Math.max(this.#longest.get(table) ?? 0, now - since + sampleMs));
      }
      await pause(sampleMs);
    }
  }
}
