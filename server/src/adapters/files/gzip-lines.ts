import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { linesOf } from './lines.ts';

/** The file ends within a line, or within its compressed data. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';

  constructor() {
    super('is truncated');
  }
}

/**
 * The lines of a compressed file. Destroys `file` even if the reader of the lines stops early. Throws {@link CutOffError}, and
 * the errors of the file and of zlib.
 */
export async function* gzipLines(file: Readable): AsyncGenerator<string> {
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  let rest: string;
  try {
    rest = yield* linesOf(file.pipe(gunzip).setEncoding('utf8') as AsyncIterable<string>);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' ? new CutOffError() : error;
  } finally {
    file.destroy();
    gunzip.destroy();
  }
  if (rest !== '') throw new CutOffError();
}
