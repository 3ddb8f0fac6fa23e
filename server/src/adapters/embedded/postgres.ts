import type { ChildProcess } from 'node:child_process';
import { copyFileSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, DATABASE, openCluster, PORT, ROLE } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import {
  disown,
  hasEnded,
  isPostmaster,
  type Postmaster,
  readPostmaster,
  shutDown,
  spawnPostmaster,
} from './postmaster.ts';

export { EmbeddedPostgresError } from './error.ts';

/** A PostgreSQL of our own, reached through a Unix socket that only its account and root can open. */
export interface EmbeddedPostgres {
  connection: {
    /** The folder of the socket. */
    host: string;
    user: string;
    password: string;
    database: string;
  };
  /** The same, for drivers that take a URL. Holds the password. */
  url: string;
  /** True where it was running already: after a kill -9 of the server, or beside a process that uses it now. */
  adopted: boolean;
  pid: number;
  /**
   * Leaves the database. The last process that leaves shuts it down, and waits until it is gone.
   * Close your own connections first: what they have not committed is rolled back.
   */
  stop(): Promise<void>;
}

export interface StartOptions {
  dataDir: string;
  onProgress?: (line: string) => void;
  /** False: no fsync, for databases that are thrown away. Default true. */
  durable?: boolean;
  /** True: refuse where another process that said so uses this folder. The server says so, a tool beside it does not. */
  exclusive?: boolean;
  /** Where root puts what another user must reach when `dataDir` is closed to it. Default `/var/lib/latchkey`. */
  systemFolder?: string;
}

const START_DEADLINE_MS = 120_000;
const SLOW_START_MS = 3_000;
/** A process that was killed is still seen by its database for a moment. */
const LINGERING_MS = 2_000;
const POLL_MS = 10;
const LOG_LIMIT_BYTES = 1_000_000;
const LOG_CHECK_MS = 60_000;

/** Advisory locks in the database `postgres`, which the application never sees: who uses the cluster, and who alone. */
const IN_USE = 1;
const EXCLUSIVE = 2;

/**
 * Starts the database of `dataDir`, creating it where there is none, or adopts the one that runs. It lives in a
 * session of its own: it survives this process, and Ctrl-C does not reach it. Should it end while it is used
 * (killed for want of memory, say), it is started again.
 *
 * @throws EmbeddedPostgresError one line that says what is wrong and how to mend it
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  const supervisor = new Supervisor(
    options,
    await openCluster({
      dataDir: options.dataDir,
      durable: options.durable ?? true,
      systemFolder: options.systemFolder ?? '/var/lib/latchkey',
      onProgress: options.onProgress ?? (() => undefined),
    }),
  );
  return supervisor.start();
}

/** A sign-in as superuser that stays open: it holds the locks, and its end tells that the database is gone. */
interface Hold {
  postmaster: Postmaster;
  client: pg.Client;
  isOurChild: boolean;
}

/** What pg has and its types lack. */
interface Unreferenced {
  ref(): void;
  unref(): void;
}

class Supervisor {
  readonly #options: StartOptions;
  readonly #cluster: Cluster;
  #stopping: Promise<void> | undefined;

  constructor(options: StartOptions, cluster: Cluster) {
    this.#options = options;
    this.#cluster = cluster;
  }

  async start(): Promise<EmbeddedPostgres> {
    const { password, logFile } = this.#cluster;
    trim(logFile);
    const trimming = setInterval(trim, LOG_CHECK_MS, logFile).unref();
    let held = await this.#take();
    const keep = (): void => {
      held.client.once('end', async () => {
        if (this.#stopping !== undefined) return;
        this.#tell('The embedded database went away: starting it again');
        const again = await this.#retake();
        if (again === undefined) return;
        held = again;
        keep();
      });
    };
    keep();
    const host = held.postmaster.socketFolder;
    return {
      connection: { host, user: ROLE, password, database: DATABASE },
      url: `postgresql://${ROLE}:${password}@${encodeURIComponent(host)}:${PORT}/${DATABASE}`,
      adopted: !held.isOurChild,
      get pid() {
        return held.postmaster.pid;
      },
      stop: () => {
        clearInterval(trimming);
        this.#stopping ??= this.#leave(held);
        return this.#stopping;
      },
    };
  }

  /** Starts or adopts the cluster, and takes the locks that keep others from stopping it under us. */
  async #take(): Promise<Hold> {
    const { folder } = this.#cluster;
    const begin = Date.now();
    let child: ChildProcess | undefined;
    let logStart = 0;
    let isSlow = false;
    while (Date.now() < begin + START_DEADLINE_MS) {
      const postmaster = readPostmaster(folder);
      const client = postmaster?.status === 'ready' ? await this.#signIn(postmaster) : undefined;
      if (postmaster !== undefined && client !== undefined) {
        if (await this.#claim(client)) return { postmaster, client, isOurChild: postmaster.pid === child?.pid };
        await client.end();
      } else if (postmaster === undefined || !isPostmaster(postmaster.pid, folder)) {
        if (child !== undefined && hasEnded(child)) {
          const reason = whatItSaid(this.#cluster.logFile, logStart);
          // Backends of a killed postmaster need a moment to see that they are orphans.
          if (!reason.includes('still in use') || Date.now() > begin + LINGERING_MS) throw this.#failure(reason);
          child = undefined;
        }
        if (child === undefined) {
          if (postmaster !== undefined) disown(this.#cluster, postmaster);
          logStart = statSync(this.#cluster.logFile, { throwIfNoEntry: false })?.size ?? 0;
          child = spawnPostmaster(this.#cluster, this.#options.durable ?? true);
        }
      }
      if (!isSlow && Date.now() > begin + SLOW_START_MS) {
        isSlow = true;
        this.#tell('Waiting for the database, which recovers from an unclean end or is shutting down');
      }
      await pause(POLL_MS);
    }
    throw new EmbeddedPostgresError(
      `The database in ${folder} did not get ready in ${START_DEADLINE_MS / 1000} seconds: read ${this.#cluster.logFile}.`,
    );
  }

  /** Undefined where nobody answers yet, or another database does. */
  async #signIn({ socketFolder }: Postmaster): Promise<pg.Client | undefined> {
    const { folder, password } = this.#cluster;
    const client = new pg.Client({
      host: socketFolder,
      port: PORT,
      user: 'postgres',
      password,
      database: 'postgres',
      application_name: 'latchkey supervisor',
      connectionTimeoutMillis: 5_000,
    });
    // The end that follows an error is what the supervisor listens to.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
      if (rows[0]?.folder === folder) return client;
      await client.end();
    } catch (cause) {
      if ((cause as pg.DatabaseError).code === '28P01') {
        throw new EmbeddedPostgresError(
          `The running database in ${folder} does not take the password in ${this.#options.dataDir}/postgres.password: restore that file.`,
        );
      }
      await client.end().catch(() => undefined);
    }
    return undefined;
  }

  /** False where the last user is about to shut it down: then a new one has to be started. */
  async #claim(client: pg.Client): Promise<boolean> {
    try {
      if (!(await tryLock(client, 'pg_try_advisory_lock_shared', IN_USE))) return false;
      const deadline = Date.now() + LINGERING_MS;
      while (this.#options.exclusive === true && !(await tryLock(client, 'pg_try_advisory_lock', EXCLUSIVE))) {
        if (Date.now() > deadline) {
          await client.end();
          throw new EmbeddedPostgresError(
            `Another Latchkey uses the data folder ${this.#options.dataDir}: stop it, or name another folder in DATA_DIR.`,
          );
        }
        await pause(POLL_MS * 10);
      }
      // To hold a lock is no reason for a process to stay.
      (client as pg.Client & Unreferenced).unref();
      return true;
    } catch (cause) {
      if (cause instanceof EmbeddedPostgresError) throw cause;
      return false;
    }
  }

  async #retake(): Promise<Hold | undefined> {
    while (this.#stopping === undefined) {
      try {
        return await this.#take();
      } catch (error) {
        this.#tell(error instanceof Error ? error.message : String(error));
        await pause(1_000, undefined, { ref: false });
      }
    }
    return undefined;
  }

  async #leave({ client, postmaster }: Hold): Promise<void> {
    (client as pg.Client & Unreferenced).ref();
    const isLast = await isLastUser(client);
    if (isLast) await shutDown(postmaster.pid, this.#cluster.folder);
    await client.end().catch(() => undefined);
  }

  #failure(reason: string): EmbeddedPostgresError {
    const mend = reason.includes('No space left')
      ? 'the disk is full; free some space'
      : `read ${this.#cluster.logFile}`;
    return new EmbeddedPostgresError(`The embedded database did not start (${reason}): ${mend}.`);
  }

  #tell(line: string): void {
    this.#options.onProgress?.(line);
  }
}

async function tryLock(
  client: pg.Client,
  take: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
  lock: number,
): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${take}($1) as taken`, [lock]);
  return rows[0]?.taken === true;
}

/** Takes the lock of all users for itself, so that nobody adopts what is about to end. */
async function isLastUser(client: pg.Client): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [IN_USE]);
    return await tryLock(client, 'pg_try_advisory_lock', IN_USE);
  } catch {
    // It does not answer; then nobody else is served by it either.
    return true;
  }
}

/** PostgreSQL appends to its log, so it can be emptied under it; the last megabyte is kept beside it. */
function trim(logFile: string): void {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) < LOG_LIMIT_BYTES) return;
  try {
    copyFileSync(logFile, `${logFile}.1`);
    truncateSync(logFile);
  } catch (error) {
    // A full disk must not end the server for the sake of a log.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') truncateSync(logFile);
  }
}

function whatItSaid(logFile: string, from: number): string {
  try {
    const lines = readFileSync(logFile)
      .subarray(from)
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const line = lines.findLast((each) => /\b(FATAL|PANIC)\b/.test(each)) ?? lines.at(-1) ?? 'it said nothing';
    return line.replace(/^.*?\b(FATAL|PANIC):\s*/, '').trim();
  } catch {
    return 'it left no log';
  }
}
