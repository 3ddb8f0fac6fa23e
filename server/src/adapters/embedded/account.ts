import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** The system user that PostgreSQL runs as: it refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
  /** True if this process is root and drops its privileges to become that user. */
  dropped: boolean;
}

/** `nobody` on all common systems. */
const NOBODY = 65534;

/** This user; for root, the owner of an existing cluster, or `nobody` for a new one. */
export function accountFor(cluster: string): Account {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid, dropped: false };
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, dropped: true };
  return { uid: NOBODY, gid: NOBODY, dropped: true };
}

/** Whether the account has a user name, which initdb requires. */
export function hasName(account: Account): boolean {
  try {
    if (!account.dropped) return userInfo().username !== '';
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return lines.some((line) => line.split(':')[2] === String(account.uid));
  } catch {
    return false;
  }
}

/** `spawn` options that start a program as the account. */
export function identity(account: Account): { uid?: number; gid?: number } {
  return account.dropped ? { uid: account.uid, gid: account.gid } : {};
}

/** Whether the account can enter the folder, by its modes and those of all its parents. */
export function canEnter(folder: string, account: Account): boolean {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (!maySearch(statSync(at), account)) return false;
    if (dirname(at) === at) return true;
  }
}

function maySearch(stat: Stats, account: Account): boolean {
  if (stat.uid === account.uid) return (stat.mode & 0o100) !== 0;
  if (stat.gid === account.gid) return (stat.mode & 0o010) !== 0;
  return (stat.mode & 0o001) !== 0;
}

/**
 * Whether this is a folder, not a link, that belongs to `owner` and that others cannot write to (nor read, if
 * `closed`).
 */
export function isOwnFolder(folder: string, owner: number, { closed = false } = {}): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory() || stat.uid !== owner) return false;
  return (stat.mode & (closed ? 0o077 : 0o022)) === 0;
}

/** Any process may leave it behind; a start replaces it. */
const pidFile = 'postmaster.pid';

/** The first file or folder within `folder`, at any depth, that belongs to another user. */
export function firstForeign(folder: string, account: Account): string | undefined {
  for (const entry of entriesOf(folder).filter((name) => name !== pidFile)) {
    const path = join(folder, entry);
    // A running database removes files.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (stat.uid !== account.uid) return path;
    const inner = stat.isDirectory() ? firstForeign(path, account) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
