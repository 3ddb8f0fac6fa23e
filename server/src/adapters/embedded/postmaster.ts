import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, fchownSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identity } from './account.ts';
import { type Cluster, PORT } from './cluster.ts';
import { EmbeddedPostgresError, refusal } from './error.ts';

const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const POLL_MS = 10;

/** Content of `postmaster.pid`, of a running PostgreSQL or left by a killed one. */
export interface Postmaster {
  pid: number;
  socketFolder: string;
  status: 'starting' | 'stopping' | 'ready' | '';
  /** The file as read. */
  text: string;
}

export function readPostmaster(folder: string): Postmaster | undefined {
  try {
    const text = readFileSync(join(folder, 'postmaster.pid'), 'utf8');
    const lines = text.split('\n').map((line) => line.trim());
    const pid = Number(lines[0]);
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    return { pid, socketFolder: lines[4] ?? '', status: (lines[7] ?? '') as Postmaster['status'], text };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw refusal('read the state of the database in', folder, cause);
  }
}

/** Whether the process is the PostgreSQL of this folder, rather than another with a reused pid. */
export function isPostmaster(pid: number, folder: string): boolean {
  try {
    // Every user can read the command line, but not the open files.
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${folder}\0`);
    return execFileSync('ps', ['-ww', '-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).includes(
      `-D ${folder} `,
    );
  } catch {
    return false;
  }
}

/**
 * Replaces the pid in a stale `postmaster.pid` by our own. PostgreSQL refuses to start if that pid belongs to another
 * process or a zombie, but ignores its parent's. The rest of the file stays: PostgreSQL uses it to detect backends that are
 * still alive.
 */
export function replacePid({ folder, socketFolder, account }: Cluster, { pid, text }: Postmaster): void {
  if (pid === process.pid || readPostmaster(folder)?.text !== text) return;
  const file = join(folder, 'postmaster.pid');
  const socketLock = join(socketFolder, `.s.PGSQL.${PORT}.lock`);
  try {
    rmSync(`${file}.new`, { force: true });
    // Root follows no link in this folder: the database's account can write to it.
    const descriptor = openSync(`${file}.new`, 'wx', 0o600);
    try {
      fchownSync(descriptor, account.uid, account.gid);
      writeSync(descriptor, text.replace(/^.*/, String(process.pid)));
    } finally {
      closeSync(descriptor);
    }
    renameSync(`${file}.new`, file);
    if (existsSync(socketLock) && readFileSync(socketLock, 'utf8').startsWith(`${pid}\n`)) rmSync(socketLock);
  } catch (cause) {
    throw refusal('repair', file, cause);
  }
}

/** Starts PostgreSQL in its own session with its output in a file, so that it does not depend on this process. */
export function spawnPostmaster(cluster: Cluster, durable: boolean): ChildProcess {
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: `"${cluster.socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: '100',
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    // Its workers run as superuser and would prevent tests from dropping their databases.
    autovacuum: durable ? 'on' : 'off',
    // Neither helps short transactions, and parallel workers need more /dev/shm than containers have.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    // Statement errors are logged by the server, without values; here only PostgreSQL's lifecycle is logged.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_error_verbosity: 'terse',
    logging_collector: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(cluster.logFile, 'a', 0o600);
  try {
    const child = spawn(cluster.binaries.postgres, ['-D', cluster.folder, ...args], {
      ...identity(cluster.account),
      cwd: '/',
      env: { TZ: 'UTC', LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', log, log],
    });
    // A failed start shows in the missing pid; an unhandled `error` event would end the server.
    child.on('error', () => undefined);
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

export function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Fast shutdown; after ten seconds an immediate one, from which the next start recovers. */
export async function shutDown(pid: number, folder: string): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    if (!isPostmaster(pid, folder)) return;
    process.kill(pid, signal);
    for (const deadline = Date.now() + waitMs; Date.now() < deadline; await pause(POLL_MS)) {
      if (!isPostmaster(pid, folder)) return;
    }
  }
  throw new EmbeddedPostgresError(
    `The database in ${folder} does not stop: end process ${pid} with \`kill -QUIT ${pid}\`.`,
  );
}
