import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '../files/sync-folder.ts';
import { type Account, accountFor, canEnter, firstForeign, hasName, identity, isOwnFolder } from './account.ts';
import { type Binaries, findBinaries, openSystemFolder } from './binaries.ts';
import { hasEarlier } from './earlier.ts';
import { EmbeddedPostgresError, refusal } from './error.ts';

/** Owns the database and nothing else; only the supervisor signs in as `postgres`. */
export const ROLE = 'latchkey';
export const DATABASE = 'latchkey';
/** Only part of the socket's name: PostgreSQL does not listen on TCP. */
export const PORT = 5432;

const SOCKET_PATH_LIMIT = 100;
const ABANDONED_AFTER_MS = 10 * 60_000;

/** A database cluster on disk, running or not. */
export interface Cluster {
  /** The folder with PG_VERSION, with links resolved. */
  folder: string;
  socketFolder: string;
  logFile: string;
  password: string;
  account: Account;
  binaries: Binaries;
}

export interface ClusterOptions {
  dataDir: string;
  /** False: no fsync, for disposable databases. */
  durable: boolean;
  /** Folder for the files if this process is root and PostgreSQL's user cannot enter `dataDir`. */
  systemFolder: string;
  onProgress: (line: string) => void;
  /** The package with PostgreSQL's programs, if not the installed one. */
  programs?: string | undefined;
}

/** Opens the cluster of `dataDir`, or creates it. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const dataDir = resolve(options.dataDir);
  makeDataFolder(dataDir);
  const published = join(dataDir, 'postgres');
  const account = accountFor(published);
  const binaries = await findBinaries(account, options.systemFolder, options.onProgress, options.programs);
  const isNew = !isPublished(published);
  const password = passwordOf(dataDir, isNew);
  if (isNew) await createCluster(published, password, account, binaries, options);
  checkCluster(published, account, binaries);
  const folder = realpathSync(published);
  const socketFolder = openSocketFolder(dirname(folder), account);
  return { folder, socketFolder, logFile: join(dataDir, 'postgres.log'), password, account, binaries };
}

function makeDataFolder(dataDir: string): void {
  const isRoot = process.getuid?.() === 0;
  try {
    const made = mkdirSync(dataDir, { recursive: true });
    // 0711: the database's account must reach its own folder. Secret files have stricter modes.
    if (made !== undefined || readdirSync(dataDir).length === 0) chmodSync(dataDir, isRoot ? 0o711 : 0o700);
    rmSync(mkdtempSync(join(dataDir, '.writable-')), { recursive: true });
  } catch (cause) {
    throw refusal('write to', dataDir, cause);
  }
}

function isPublished(cluster: string): boolean {
  const entry = lstatSync(cluster, { throwIfNoEntry: false });
  if (entry === undefined) {
    if (!existsSync(join(upgradeFolder(dirname(cluster)), 'postgres'))) return false;
    throw new EmbeddedPostgresError(
      `An upgrade of ${cluster} was interrupted: run \`npm run database:upgrade\` to complete it.`,
    );
  }
  if (entry.isSymbolicLink() && !existsSync(cluster)) {
    throw new EmbeddedPostgresError(
      `The database folder ${readlinkSync(cluster)} is missing: restore it, or remove ${cluster} to start with an empty database.`,
    );
  }
  return readdirSync(cluster).length > 0;
}

/** Folder in which an upgrade builds the new cluster. */
export function upgradeFolder(dataDir: string): string {
  return join(dataDir, 'postgres.upgrade');
}

/** The major version that wrote the cluster, for example `18`. */
export function versionOf(cluster: string): string {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw refusal('read the database in', cluster, cause);
    throw new EmbeddedPostgresError(`${cluster} contains no database: empty it, or set DATA_DIR to another folder.`);
  }
}

function checkCluster(cluster: string, account: Account, { majorVersion }: Binaries): void {
  const version = versionOf(cluster);
  if (version !== majorVersion) {
    const advice = hasEarlier(version)
      ? 'run `npm run database:upgrade`, which moves the data through a backup and keeps the old folder'
      : 'start the release of Latchkey that created it';
    throw new EmbeddedPostgresError(
      `${cluster} was written by PostgreSQL ${version} and this is ${majorVersion}: ${advice}.`,
    );
  }
  const owner = statSync(cluster).uid;
  if (owner !== account.uid) {
    const advice = account.dropped
      ? `\`chown -R ${account.uid}:${account.gid} ${realpathSync(cluster)}\``
      : 'start as that user';
    throw new EmbeddedPostgresError(`${cluster} belongs to user ${owner}, not to ${account.uid}: ${advice}.`);
  }
  const foreign = firstForeign(realpathSync(cluster), account);
  if (foreign !== undefined) {
    throw new EmbeddedPostgresError(
      `${foreign} does not belong to user ${account.uid}, as which PostgreSQL runs: \`chown -R ${account.uid}:${account.gid} ${realpathSync(cluster)}\`.`,
    );
  }
  if (!canEnter(dirname(realpathSync(cluster)), account)) {
    throw new EmbeddedPostgresError(
      `PostgreSQL runs as user ${account.uid}, which cannot enter ${dirname(realpathSync(cluster))}: open the folders above it with \`chmod o+x\`.`,
    );
  }
}

/** Created before the cluster, so that two concurrent processes both know the winner's password. */
function passwordOf(dataDir: string, mayCreate: boolean): string {
  const file = join(dataDir, 'postgres.password');
  try {
    if (mayCreate && !existsSync(file)) {
      const fresh = `${file}.${randomBytes(6).toString('hex')}`;
      writeFileSync(fresh, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
      try {
        linkSync(fresh, file);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      } finally {
        rmSync(fresh);
      }
    }
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw refusal('keep the database password in', file, cause);
    throw new EmbeddedPostgresError(
      `${file} is missing: restore it from a backup; the database cannot be opened without it.`,
    );
  }
}

/**
 * Creates the cluster with role and database in a temporary folder, then renames it: a crash leaves nothing incomplete,
 * and of two concurrent processes one wins and the other uses its cluster.
 */
async function createCluster(
  published: string,
  password: string,
  account: Account,
  binaries: Binaries,
  { durable, systemFolder, onProgress }: ClusterOptions,
): Promise<void> {
  if (!hasName(account)) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run as user ${account.uid}, which has no name here: add one with \`useradd --system --uid ${account.uid} latchkey\`, or set DATABASE_URL.`,
    );
  }
  const dataDir = dirname(published);
  const isOpen = canEnter(dataDir, account);
  const home = isOpen ? dataDir : openHomeOutside(dataDir, systemFolder);
  onProgress(
    isOpen
      ? `Creating the database in ${published}`
      : `PostgreSQL runs as a different user than root, which cannot enter ${dataDir}: creating the database in ${home}`,
  );
  removeAbandoned(home, account);
  const work = mkdtempSync(join(home, 'postgres.new-'));
  try {
    writeFileSync(join(work, 'password'), password, { mode: 0o600 });
    for (const path of [join(work, 'password'), work]) chownSync(path, account.uid, account.gid);
    await initialize(work, password, account, binaries, durable);
    if (isOpen) renameSync(join(work, 'data'), published);
    else {
      renameSync(join(work, 'data'), join(home, 'postgres'));
      symlinkSync(join(home, 'postgres'), published);
    }
    if (durable) [home, dataDir].forEach(syncFolder);
  } catch (cause) {
    if (!isOpen) removeAs(account, join(home, 'postgres'));
    const isPublished = ['EEXIST', 'ENOTEMPTY'].includes((cause as NodeJS.ErrnoException).code ?? '');
    if (!isPublished) throw refusal('create the database in', home, cause);
  } finally {
    removeAs(account, work);
    if (!isOpen && !existsSync(join(home, 'postgres'))) rmSync(home, { recursive: true, force: true });
  }
}

/** A new folder for each new database: after `rm -r data`, the old one must not return without its keys. */
function openHomeOutside(dataDir: string, systemFolder: string): string {
  try {
    openSystemFolder(systemFolder);
    const home = mkdtempSync(join(systemFolder, `${shortHash(realpathSync(dataDir))}-`));
    chmodSync(home, 0o711);
    writeFileSync(join(home, 'belongs-to'), `${dataDir}\n`, { mode: 0o600 });
    return home;
  } catch (cause) {
    throw refusal('create a folder in', systemFolder, cause);
  }
}

function removeAbandoned(home: string, account: Account): void {
  for (const name of readdirSync(home).filter((entry) => entry.startsWith('postgres.new-'))) {
    const path = join(home, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > ABANDONED_AFTER_MS) removeAs(account, path);
  }
}

/** Runs as the account: root could be led out of the folder by a link created during the removal. */
function removeAs(account: Account, folder: string): void {
  if (!existsSync(folder)) return;
  spawnSync('/bin/rm', ['-rf', folder], { ...identity(account), cwd: '/', stdio: 'ignore' });
  if (existsSync(folder)) rmdirSync(folder);
}

/** Removes a data folder with its cluster, also one that root has put outside of it. The database must have been stopped. */
export function removeDataFolder(dataDir: string): void {
  const published = join(dataDir, 'postgres');
  if (existsSync(published)) {
    const account = accountFor(published);
    const [folder, isLink] = [realpathSync(published), lstatSync(published).isSymbolicLink()];
    for (const path of [folder, join(dirname(folder), 'postgres.run')]) removeAs(account, path);
    if (isLink) rmSync(dirname(folder), { recursive: true });
  }
  rmSync(dataDir, { recursive: true });
}

async function initialize(
  work: string,
  password: string,
  account: Account,
  binaries: Binaries,
  durable: boolean,
): Promise<void> {
  const folder = join(work, 'data');
  // The builtin provider sorts the same on every machine: a new system library cannot corrupt an index.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const auth = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(work, 'password')}`];
  const sync = durable ? [] : ['--no-sync'];
  await run(binaries.initdb, [`--pgdata=${folder}`, ...auth, '--no-instructions', ...locale, ...sync], account);
  // For tests, which create databases.
  const rights = durable ? '' : 'CREATEDB';
  await run(
    binaries.postgres,
    ['--single', '-D', folder, '-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`, 'postgres'],
    account,
    `CREATE ROLE ${ROLE} LOGIN ${rights} PASSWORD '${password}';\nCREATE DATABASE ${DATABASE} OWNER ${ROLE};\n`,
  );
}

function run(program: string, args: string[], account: Account, input = ''): Promise<void> {
  const env = { TZ: 'UTC', LC_ALL: 'C' };
  return new Promise((done, fail) => {
    const child = execFile(program, args, { ...identity(account), cwd: '/', env }, (error, _stdout, stderr) => {
      if (error === null) return done();
      const lines = stderr.split('\n').filter((line) => line.trim() !== '');
      const line = lines.find((each) => /FATAL|PANIC|ERROR|error:/.test(each)) ?? lines.at(-1) ?? error.message;
      const code = stderr.includes('No space left on device') ? 'ENOSPC' : undefined;
      fail(Object.assign(new Error(line.trim(), { cause: error }), { code }));
    });
    // A program that exits immediately closes the pipe; its exit code is more useful than EPIPE.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** A socket's path is limited to 108 bytes (104 on macOS). Only the account may write to its folder. */
function openSocketFolder(home: string, account: Account): string {
  const temporary = [...new Set([tmpdir(), '/tmp'])]
    .filter((folder) => existsSync(folder))
    .map((folder) => realpathSync(folder));
  const candidates = [
    join(home, 'postgres.run'),
    ...temporary.map((folder) => join(folder, `latchkey-${shortHash(home)}`)),
  ];
  const folder = candidates.find(
    (path) => Buffer.byteLength(join(path, `.s.PGSQL.${PORT}`)) < SOCKET_PATH_LIMIT && canEnter(dirname(path), account),
  );
  if (folder === undefined) {
    throw new EmbeddedPostgresError(
      `The path ${home} is too long for the database's socket: set DATA_DIR to a shorter one.`,
    );
  }
  try {
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, account.uid, account.gid);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw refusal('create', folder, cause);
    // A concurrent process may have created it and not yet changed its owner.
    if (account.dropped && isOwnFolder(folder, 0, { closed: true })) chownSync(folder, account.uid, account.gid);
  }
  if (!isOwnFolder(folder, account.uid, { closed: true })) {
    throw new EmbeddedPostgresError(
      `${folder} is not a folder that only user ${account.uid} can enter: remove it and start again.`,
    );
  }
  return folder;
}

function shortHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}
