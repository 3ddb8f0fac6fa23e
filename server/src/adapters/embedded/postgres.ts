import type { ChildProcess } from 'node:child_process';
import { copyFileSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { tenantRole } from '../postgres/row-security.ts';
import { type Cluster, DATABASE, openCluster, PORT, ROLE } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import {
  hasEnded,
  isPostmaster,
  type Postmaster,
  readPostmaster,
  replacePid,
  shutDown,
  spawnPostmaster,
} from './postmaster.ts';

export { EmbeddedPostgresError } from './error.ts';

/** A PostgreSQL that Latchkey runs, on a Unix socket that only its account and root can open. */
export interface EmbeddedPostgres {
  connection: {
    /** The folder of the socket. */
    host: string;
    user: string;
    password: string;
    database: string;
  };
  /** The connection as a URL, with the password. */
  url: string;
  /** True if it was already running: after a kill -9 of the server, or used by another process. */
  adopted: boolean;
  pid: number;
  /**
   * Releases the database. The last process shuts it down and waits until it has ended.
   * Close connections first: uncommitted transactions are rolled back.
   */
  stop(): Promise<void>;
}

export interface StartOptions {
  dataDir: string;
  onProgress?: (line: string) => void;
  /** False: no fsync, for disposable databases. Default true. */
  durable?: boolean;
  /**
   * True (servers): refuse if another exclusive process uses the folder. False (commands). `alone`: refuse if any
   * process uses it; a process that starts later waits.
   */
  exclusive?: boolean | 'alone';
  /**
   * Folder for the files if this process is root and PostgreSQL's user cannot enter `dataDir`. Default
   * `/var/lib/latchkey`.
   */
  systemFolder?: string;
  /** The package with PostgreSQL's programs, if not the installed one. */
  programs?: string | undefined;
}

const START_DEADLINE_MS = 120_000;
const SLOW_START_MS = 3_000;
/** PostgreSQL needs a moment to notice that a client process was killed. */
const LINGERING_MS = 2_000;
const POLL_MS = 10;
const LOG_LIMIT_BYTES = 1_000_000;
const LOG_CHECK_MS = 60_000;

/** Advisory locks in the database `postgres`: held shared by every user of the cluster, and by the exclusive one. */
const IN_USE = 1;
const EXCLUSIVE = 2;

/**
 * Starts the database of `dataDir`, or adopts a running one; creates it if it does not exist. It runs in its own session:
 * it survives this process, and Ctrl-C does not reach it. If it ends while in use (e.g. killed by the OOM killer), it is
 * restarted.
 *
 * @throws EmbeddedPostgresError one line with the cause and the remedy
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  const supervisor = new Supervisor(
    options,
    await openCluster({
      dataDir: options.dataDir,
      durable: options.durable ?? true,
      systemFolder: options.systemFolder ?? '/var/lib/latchkey',
      onProgress: options.onProgress ?? (() => undefined),
      programs: options.programs,
    }),
  );
  return supervisor.start();
}

/** A superuser connection that stays open: it holds the locks, and its end means that the database has ended. */
interface Hold {
  postmaster: Postmaster;
  client: pg.Client;
  isOurChild: boolean;
}

/** Part of pg that its types omit. */
interface Unreferenced {
  ref(): void;
  unref(): void;
}

/** The role of row security, which the database's owner may not create (`adapters/postgres/row-security.ts`). */
const tenantRoleExists = `do $body$ begin
  create role ${tenantRole} nologin;
exception when duplicate_object or unique_violation then null;
end $body$;
grant ${tenantRole} to ${ROLE}`;

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
        this.#report('The embedded database ended unexpectedly: restarting it');
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

  /** Starts or adopts the cluster, and takes the locks that prevent others from stopping it. */
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
          const reason = failureInLog(this.#cluster.logFile, logStart);
          // Backends of a killed postmaster need a moment to exit.
          if (!reason.includes('still in use') || Date.now() > begin + LINGERING_MS) throw this.#failure(reason);
          child = undefined;
        }
        if (child === undefined) {
          if (postmaster !== undefined) replacePid(this.#cluster, postmaster);
          logStart = statSync(this.#cluster.logFile, { throwIfNoEntry: false })?.size ?? 0;
          child = spawnPostmaster(this.#cluster, this.#options.durable ?? true);
        }
      }
      if (!isSlow && Date.now() > begin + SLOW_START_MS) {
        isSlow = true;
        this.#report('Waiting for the database, which is recovering from a crash or shutting down');
      }
      await pause(POLL_MS);
    }
    const reason = failureInLog(this.#cluster.logFile, logStart);
    throw this.#failure(`not ready after ${START_DEADLINE_MS / 1000} seconds: ${reason}`);
  }

  /** Undefined if PostgreSQL does not answer yet, or is that of another folder. */
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
    // The supervisor listens to the `end` that follows an error.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
      if (rows[0]?.folder === folder) return client;
      await client.end();
    } catch (cause) {
      if ((cause as pg.DatabaseError).code === '28P01') {
        throw new EmbeddedPostgresError(
          `The running database in ${folder} rejects the password in ${this.#options.dataDir}/postgres.password: restore that file.`,
        );
      }
      await client.end().catch(() => undefined);
    }
    return undefined;
  }

  /** False if the last user is shutting it down: a new one must be started. */
  async #claim(client: pg.Client): Promise<boolean> {
    try {
      const { exclusive } = this.#options;
      if (exclusive !== 'alone' && !(await tryLock(client, 'pg_try_advisory_lock_shared', IN_USE))) return false;
      const lock = { true: EXCLUSIVE, alone: IN_USE, false: null }[`${exclusive ?? false}`];
      const deadline = Date.now() + LINGERING_MS;
      while (lock !== null && !(await tryLock(client, 'pg_try_advisory_lock', lock))) {
        if (Date.now() > deadline) {
          await client.end();
          throw new EmbeddedPostgresError(
            `Another Latchkey uses the data folder ${this.#options.dataDir}: stop it, or set DATA_DIR to another folder.`,
          );
        }
        await pause(POLL_MS * 10);
      }
      await client.query(tenantRoleExists);
      // The connection does not keep the process alive.
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
        this.#report(error instanceof Error ? error.message : String(error));
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
    const advice = reason.includes('No space left')
      ? 'the disk is full; free some space'
      : `read ${this.#cluster.logFile}`;
    return new EmbeddedPostgresError(`The embedded database did not start (${reason}): ${advice}.`);
  }

  #report(line: string): void {
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

/** Takes the users' lock exclusively, so that no process adopts a database that is about to stop. */
async function isLastUser(client: pg.Client): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [IN_USE]);
    return await tryLock(client, 'pg_try_advisory_lock', IN_USE);
  } catch {
    // It does not answer, so no other process uses it.
    return true;
  }
}

/** Rotates the log: keeps a copy and truncates the file, to which PostgreSQL appends. */
function trim(logFile: string): void {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) < LOG_LIMIT_BYTES) return;
  try {
    copyFileSync(logFile, `${logFile}.1`);
    truncateSync(logFile);
  } catch (error) {
    // A full disk: drop the log rather than fail.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') truncateSync(logFile);
  }
}

function failureInLog(logFile: string, from: number): string {
  try {
    const lines = readFileSync(logFile)
      .subarray(from)
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const line = lines.findLast((each) => /\b(FATAL|PANIC)\b/.test(each)) ?? lines.at(-1) ?? 'no output';
    return line.replace(/^.*?\b(FATAL|PANIC):\s*/, '').trim();
  } catch {
    return 'no log';
  }
}
