import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasName } from './account.ts';
import { type EmbeddedPostgres, EmbeddedPostgresError, type StartOptions, startEmbeddedPostgres } from './postgres.ts';
import { isPostmaster, readPostmaster } from './postmaster.ts';

const isRoot = process.getuid?.() === 0;

let base: string;
let dataDir: string;
let started: EmbeddedPostgres[];
let children: ChildProcess[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lk-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'data');
  started = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const database of started) await database.stop();
  rmSync(base, { recursive: true, force: true });
});

/** A cleanly stopped database, for tests that do not need to create one. */
const seed = mkdtempSync(join(tmpdir(), 'lk-seed-'));
/** In place of /var/lib/latchkey; shared, because root in a closed clone copies PostgreSQL there first. */
const systemFolder = mkdtempSync(join(tmpdir(), 'lk-system-'));

beforeAll(async () => {
  chmodSync(systemFolder, 0o755);
  await (await startEmbeddedPostgres({ dataDir: seed, durable: false, systemFolder })).stop();
});

afterAll(() => {
  for (const folder of [seed, systemFolder]) rmSync(folder, { recursive: true });
});

function createdBefore(): void {
  execFileSync('cp', ['-a', seed, dataDir]);
}

async function start(options: Partial<StartOptions> = {}): Promise<EmbeddedPostgres> {
  const database = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    systemFolder,
    ...options,
  });
  started.push(database);
  return database;
}

async function query<Row>({ url }: EmbeddedPostgres, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Another process that starts the database, prints its pid, and waits. */
async function startElsewhere(): Promise<{ process: ChildProcess; pid: number; adopted: boolean }> {
  const module = fileURLToPath(new URL('postgres.ts', import.meta.url));
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(module)});
    const { pid, adopted } = await startEmbeddedPostgres(${JSON.stringify({ dataDir, durable: false, systemFolder })});
    console.log(JSON.stringify({ pid, adopted }));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { process: child, ...(JSON.parse(line) as { pid: number; adopted: boolean }) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a first start', () => {
  it('creates a database that only its role can reach, over a private socket', async () => {
    const database = await start();
    expect(database.adopted).toBe(false);
    const rows = await query(
      database,
      `select current_user as user, current_database() as database, rolsuper as super,
         current_setting('listen_addresses') as addresses
       from pg_roles where rolname = current_user`,
    );
    expect(rows).toEqual([{ user: 'latchkey', database: 'latchkey', super: false, addresses: '' }]);
    expect(statSync(database.connection.host).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    await expect(query({ ...database, url: database.url.replace(/:[^:@]+@/, ':wrong@') }, 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('syncs commits to disk, unless the database is disposable', async () => {
    createdBefore();
    const database = await start({ durable: true });
    expect(await query(database, `select current_setting('fsync') as fsync`)).toEqual([{ fsync: 'on' }]);
  });

  it.runIf(isRoot)('drops root privileges', async () => {
    createdBefore();
    const database = await start();
    expect(statSync(`/proc/${database.pid}`).uid).toBe(65534);
  });

  it('accepts a folder whose path is too long for a socket', async () => {
    dataDir = join(base, 'a folder, with "quotes" and a long name'.repeat(3), 'data');
    const database = await start();
    expect(await query(database, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(Buffer.byteLength(database.connection.host)).toBeLessThan(86);
    rmSync(database.connection.host, { recursive: true });
  });

  it('twice concurrently creates one database, which both use', async () => {
    const [one, other] = await Promise.all([startElsewhere(), startElsewhere()]);
    expect(one.pid).toBe(other.pid);
    expect([one.adopted, other.adopted].sort()).toEqual([false, true]);
    expect(readdirSync(dataDir).filter((name) => name.includes('.new-'))).toEqual([]);
    const database = await start();
    await Promise.all([kill(one.process), kill(other.process)]);
    await expect.poll(async () => (await query(database, 'select 1 as one')).length).toBe(1);
  });
});

describe('a later start', () => {
  beforeEach(createdBefore);

  it('finds committed data', async () => {
    const before = await start();
    await query(before, 'create table kept as select 7 as value');
    await before.stop();
    const after = await start();
    expect(after.adopted).toBe(false);
    expect(await query(after, 'select value from kept')).toEqual([{ value: 7 }]);
  });

  it('adopts the database that a killed server left running', async () => {
    const first = await startElsewhere();
    await kill(first.process);
    const database = await start();
    expect(database.adopted).toBe(true);
    expect(database.pid).toBe(first.pid);
  });

  it('recovers a database that was also killed', async () => {
    const first = await startElsewhere();
    await kill(first.process);
    process.kill(first.pid, 'SIGKILL');
    const database = await start();
    expect(database.adopted).toBe(false);
    expect(await query(database, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('ignores a stale pid that belongs to another program', async () => {
    const before = await start();
    const folder = join(dataDir, 'postgres');
    const text = readPostmaster(folder)?.text ?? '';
    await before.stop();
    // Runs as the database's account, so that PostgreSQL would consider it a live postmaster.
    const { uid, gid } = statSync(folder);
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', cwd: '/', ...(isRoot ? { uid, gid } : {}) });
    children.push(stranger);
    writeFileSync(join(folder, 'postmaster.pid'), text.replace(/^\d+/, String(stranger.pid)));
    const database = await start();
    expect(database.pid).not.toBe(stranger.pid);
    await database.stop();
    expect(stranger.exitCode).toBe(null);
  });

  it('restarts the database if it is killed under a running server', async () => {
    const lines: string[] = [];
    const database = await start({ onProgress: (line) => lines.push(line) });
    const { pid } = database;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => database.pid).not.toBe(pid);
    expect(await query(database, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(lines).toContain('The embedded database ended unexpectedly: restarting it');
  });
});

describe('stop', () => {
  beforeEach(createdBefore);

  it('leaves no process and no socket behind', async () => {
    const database = await start();
    const { pid, connection } = database;
    await database.stop();
    expect(isPostmaster(pid, join(dataDir, 'postgres'))).toBe(false);
    expect(readdirSync(connection.host)).toEqual([]);
  });

  it('by one process does not stop the database that another one uses', async () => {
    const server = await start();
    const tool = await start();
    await tool.stop();
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(isPostmaster(server.pid, join(dataDir, 'postgres'))).toBe(false);
  });

  it('stops an adopted database as well', async () => {
    const first = await startElsewhere();
    await kill(first.process);
    const database = await start();
    await database.stop();
    expect(isPostmaster(first.pid, join(dataDir, 'postgres'))).toBe(false);
  });
});

describe('errors in one line', () => {
  async function refusal(options: Partial<StartOptions> = {}): Promise<string> {
    const error = await start(options).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(EmbeddedPostgresError);
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    return message;
  }

  it('a database of another major version', async () => {
    createdBefore();
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    expect(await refusal()).toMatch(/was written by PostgreSQL 17 and this is 18: run `npm run database:upgrade`/);
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '19\n');
    expect(await refusal()).toContain('start the release of Latchkey that created it');
  });

  it.runIf(isRoot)('a file of another user deep in the cluster', async () => {
    createdBefore();
    const file = join(dataDir, 'postgres', 'base', '1', 'PG_VERSION');
    chownSync(file, 0, 0);
    expect(await refusal()).toMatch(/base\/1\/PG_VERSION does not belong to user \d+, .*`chown -R/);
  });

  it('a folder with other contents', async () => {
    createdBefore();
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    mkdirSync(join(dataDir, 'postgres', 'photos'), { recursive: true });
    expect(await refusal()).toContain('contains no database');
  });

  it('a lost password', async () => {
    createdBefore();
    rmSync(join(dataDir, 'postgres.password'));
    expect(await refusal()).toContain('postgres.password is missing');
  });

  it('a file instead of the folder', async () => {
    writeFileSync(dataDir, '');
    expect(await refusal()).toContain('set DATA_DIR to another folder');
  });

  it('a second server on the same folder', async () => {
    createdBefore();
    await start({ exclusive: true });
    expect(await refusal({ exclusive: true })).toContain('Another Latchkey uses the data folder');
  });

  it('a process that needs the folder for itself, while another uses it; one that starts later waits', async () => {
    createdBefore();
    const tool = await start();
    expect(await refusal({ exclusive: 'alone' })).toContain('Another Latchkey uses the data folder');
    await tool.stop();
    const alone = await start({ exclusive: 'alone' });
    let isStarted = false;
    const next = startEmbeddedPostgres({ dataDir, durable: false, systemFolder }).finally(() => (isStarted = true));
    expect(await query(alone, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(isStarted).toBe(false);
    await alone.stop();
    started.push(await next);
  });

  it('a setting that PostgreSQL refuses, with its message', async () => {
    createdBefore();
    writeFileSync(join(dataDir, 'postgres', 'postgresql.conf'), 'shared_buffers = nonsense\n');
    expect(await refusal()).toContain('did not start (');
  });
});

it.runIf(isRoot)('an account without a name is recognized: PostgreSQL does not create a database for it', () => {
  expect(hasName({ uid: 65_534, gid: 65_534, dropped: true })).toBe(true);
  expect(hasName({ uid: 4_000_000_000, gid: 65_534, dropped: true })).toBe(false);
});

describe.runIf(isRoot)('root in a folder that is closed to others', () => {
  beforeEach(() => {
    chmodSync(base, 0o700);
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'something'), '');
  });

  it('puts the database into a folder that its account can enter, reports it, and finds it again', async () => {
    const lines: string[] = [];
    const before = await start({ onProgress: (line) => lines.push(line) });
    expect(lines.at(-1)).toContain(`cannot enter ${dataDir}: creating the database in ${systemFolder}/`);
    await query(before, 'create table kept as select 7 as value');
    await before.stop();
    const after = await start();
    expect(await query(after, 'select value from kept')).toEqual([{ value: 7 }]);
    expect(lstatSync(join(dataDir, 'postgres')).isSymbolicLink()).toBe(true);
  });

  it('does not restore an old database after its data folder was removed', async () => {
    const before = await start();
    await query(before, 'create table kept as select 7 as value');
    await before.stop();
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'something'), '');
    await expect(query(await start(), 'select value from kept')).rejects.toThrow('does not exist');
  });

  it('refuses if that database is missing, and creates no empty one', async () => {
    await (await start()).stop();
    rmSync(readlinkSync(join(dataDir, 'postgres')), { recursive: true });
    await expect(start()).rejects.toThrow(/is missing: restore it/);
  });

  it('refuses a system folder that others can write to', async () => {
    const open = join(base, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    await expect(start({ systemFolder: open })).rejects.toThrow('is writable by users other than root');
  });
});
