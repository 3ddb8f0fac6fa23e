import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The first seals; both open. There is a second only while the key is being changed. */
export interface MasterKeys {
  first: Uint8Array;
  second: Uint8Array | undefined;
}

/** A master key's file that is no good, told in one line. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

const fileName = 'master.key';
const nextName = 'master.key.next';

/**
 * The master key of an embedded instance: made once in its data folder, mode 0600. Two processes that start at once
 * get the same one, and a crash leaves a whole file or none. Beside it, one that a change was about to put in its place.
 */
export function masterKeysOf(dataDir: string): MasterKeys {
  mkdirSync(dataDir, { recursive: true });
  return { first: makeOnce(dataDir, fileName), second: read(join(dataDir, nextName)) };
}

/** The same without making one; undefined where there is none. */
export function existingMasterKeysOf(dataDir: string): MasterKeys | undefined {
  const first = read(join(dataDir, fileName));
  return first && { first, second: read(join(dataDir, nextName)) };
}

/** The key that is to take the place of the present one: made once, and the same again after a crash. */
export function nextMasterKeyOf(dataDir: string): Uint8Array {
  return makeOnce(dataDir, nextName);
}

/**
 * Puts the next key in the place of the present one, which stays beside it under a name of its own, for older backups.
 * Returns that file.
 */
export function promoteNextMasterKey(dataDir: string, presentName: string): string {
  const kept = join(dataDir, `${fileName}.${presentName}`);
  if (!existsSync(kept)) linkSync(join(dataDir, fileName), kept);
  renameSync(join(dataDir, nextName), join(dataDir, fileName));
  return kept;
}

function makeOnce(dataDir: string, name: string): Uint8Array {
  const file = join(dataDir, name);
  const draft = join(dataDir, `${name}.${process.pid}`);
  if (!existsSync(file)) {
    try {
      writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return read(file) as Uint8Array;
}

function read(file: string): Uint8Array | undefined {
  if (!existsSync(file)) return undefined;
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32) throw new MasterKeyError(`${file} does not hold 32 bytes in base64: put the right one back.`);
  return new Uint8Array(key);
}
