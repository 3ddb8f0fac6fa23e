import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { syncFolder } from './sync-folder.ts';

/** `first` seals, both open. `second` exists only during a rotation. */
export interface MasterKeys {
  first: Uint8Array;
  second: Uint8Array | undefined;
}

/** The file of the master key is invalid. The message is one line. */
class MasterKeyError extends OperatorError {
  override readonly name = 'MasterKeyError';
}

const fileName = 'master.key';
const nextName = 'master.key.next';

/**
 * The master key of an embedded instance: created once in its data folder, mode 0600, atomically. Two processes that
 * start at the same time get the same key. `second` is the next key of an interrupted rotation.
 */
export function masterKeysOf(dataDir: string): MasterKeys {
  mkdirSync(dataDir, { recursive: true });
  return { first: makeOnce(dataDir, fileName), second: read(join(dataDir, nextName)) };
}

/** As {@link masterKeysOf}, but undefined if there is no key yet. */
export function existingMasterKeysOf(dataDir: string): MasterKeys | undefined {
  const first = read(join(dataDir, fileName));
  return first && { first, second: read(join(dataDir, nextName)) };
}

/** The key of the next rotation: created once, and the same one after a crash. */
export function nextMasterKeyOf(dataDir: string): Uint8Array {
  return makeOnce(dataDir, nextName);
}

/**
 * Replaces the current key with the next one. Keeps the current key in a separate file, for older backups, and returns
 * its path.
 */
export function promoteNextMasterKey(dataDir: string, presentName: string): string {
  const kept = join(dataDir, `${fileName}.${presentName}`);
  if (!existsSync(kept)) linkSync(join(dataDir, fileName), kept);
  renameSync(join(dataDir, nextName), join(dataDir, fileName));
  syncFolder(dataDir);
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
  // Also if an earlier run created it: data encrypted with the key may be on another disk, and stored sooner.
  syncFolder(dataDir);
  return read(file) as Uint8Array;
}

function read(file: string): Uint8Array | undefined {
  if (!existsSync(file)) return undefined;
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32)
    throw new MasterKeyError(`${file} does not contain 32 bytes in base64: restore the correct file.`);
  return new Uint8Array(key);
}
