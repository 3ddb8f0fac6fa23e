import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Ignored, as in PostgreSQL: some file systems cannot sync folders, and some folders are writable but not readable. */
const ignored = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'EPERM'];

/** Returns once the names of the files in a folder survive a power failure: syncing a file stores only what is in it. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!ignored.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
