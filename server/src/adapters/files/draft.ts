import {
  closeSync,
  createWriteStream,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { syncFolder } from './sync-folder.ts';

const suffix = '.partial';
/** A running backup writes at least this often. */
const abandonedAfterMs = 3_600_000;

/**
 * A file that is written as `<path>.partial` and gets its name when it is complete. Replaces the draft of an interrupted
 * run: the caller makes sure that this machine has no other run with this name.
 */
export class Draft {
  readonly stream: Writable;
  readonly #path: string;
  readonly #inode: number;

  /** Throws the system's error if the file cannot be created. */
  constructor(path: string) {
    this.#path = path;
    rmSync(path + suffix, { force: true });
    const descriptor = openSync(path + suffix, 'wx', 0o600);
    this.#inode = fstatSync(descriptor).ino;
    this.stream = createWriteStream(path + suffix, { fd: descriptor });
  }

  /**
   * Syncs the finished file to disk and gives it its name. False if another file has the name, or another run has replaced
   * the draft.
   */
  publish(): boolean {
    if (!this.#isOurs() || existsSync(this.#path)) return false;
    const descriptor = openSync(this.#path + suffix, 'r+');
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(this.#path + suffix, this.#path);
    // Older backups are removed after this.
    syncFolder(dirname(this.#path));
    return true;
  }

  /** Removes the file unless it was published. */
  close(): void {
    this.stream.destroy();
    if (this.#isOurs()) rmSync(this.#path + suffix);
  }

  #isOurs(): boolean {
    return statSync(this.#path + suffix, { throwIfNoEntry: false })?.ino === this.#inode;
  }
}

/** Removes drafts of runs that were killed. Returns their names. */
export function removeAbandoned(folder: string, isName: (name: string) => boolean): string[] {
  const abandoned = readdirSync(folder).filter((name) => {
    if (!name.endsWith(suffix) || !isName(name.slice(0, -suffix.length))) return false;
    const written = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    return written !== undefined && written < Date.now() - abandonedAfterMs;
  });
  for (const name of abandoned) rmSync(join(folder, name), { force: true });
  return abandoned;
}
