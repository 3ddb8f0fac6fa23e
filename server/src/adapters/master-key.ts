import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The master key of an embedded instance: made once in its data folder, mode 0600. Two processes that start at once
 * get the same one, and a crash leaves a whole file or none.
 */
export function masterKeyOf(dataDir: string): Uint8Array {
  const file = join(dataDir, 'master.key');
  mkdirSync(dataDir, { recursive: true });
  const draft = join(dataDir, `master.key.${process.pid}`);
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes in base64: put the right one back`);
  return new Uint8Array(key);
}
