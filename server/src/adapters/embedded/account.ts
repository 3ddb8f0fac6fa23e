import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/** The system user that PostgreSQL runs as: it refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
  /** True where this process must give its rights away to become that user. */
  dropped: boolean;
}

/** `nobody` on every common system: a user that owns nothing. */
const NOBODY = 65534;

/**
 * Who runs the database: this user, or, where this is root, the owner of the cluster that is there already,
 * and `nobody` for a new one.
 */
export function accountFor(cluster: string): Account {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid, dropped: false };
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, dropped: true };
  return { uid: NOBODY, gid: NOBODY, dropped: true };
}

/** Whether the system knows that account by a name: initdb does not work for one that it does not. */
export function hasName(account: Account): boolean {
  try {
    if (!account.dropped) return userInfo().username !== '';
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return lines.some((line) => line.split(':')[2] === String(account.uid));
  } catch {
    return false;
  }
}

/** What `spawn` needs to start a program as that account. */
export function identity(account: Account): { uid?: number; gid?: number } {
  return account.dropped ? { uid: account.uid, gid: account.gid } : {};
}

/** Whether that account can enter the folder, by the mode of each folder on the way to it. */
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

/** Whether this is a real folder of that owner which nobody else can write to (nor read, when `closed`). */
export function isOwnFolder(folder: string, owner: number, { closed = false } = {}): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory() || stat.uid !== owner) return false;
  return (stat.mode & (closed ? 0o077 : 0o022)) === 0;
}
