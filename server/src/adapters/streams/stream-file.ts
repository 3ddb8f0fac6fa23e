import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchOutcome } from '../../domain/streams/batch.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
const newline = 0x0a;

/**
 * Appends lines to a file of `folder` and flushes them to disk. Opens the file for each batch, so that a rotation needs
 * no signal: after a rename the next batch starts a new file. A line that a crash has truncated stays a separate line.
 * Never throws.
 */
export async function appendLines(folder: string, name: string, lines: Buffer): Promise<BatchOutcome> {
  try {
    const file = await open(join(folder, name), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      const isCut = size > 0 && last[0] !== newline;
      await file.appendFile(isCut ? Buffer.concat([Buffer.from('\n'), lines]) : lines);
      await file.datasync();
    } finally {
      await file.close();
    }
    return { accepted: true };
  } catch (error) {
    return { error: (error as NodeJS.ErrnoException).code ?? (error as Error).message };
  }
}
