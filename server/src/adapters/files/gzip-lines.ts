import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The file ends within a line, or within its compressed data. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';

  constructor() {
    super('is truncated');
  }
}

/**
 * The lines of a compressed file. Splits at newlines only: Unicode's other line separators are ordinary text. Destroys `file`
 * also if the reader of the lines stops early. Throws {@link CutOffError}, and the errors of the file and of zlib.
 */
export async function* gzipLines(file: Readable): AsyncGenerator<string> {
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  let open = '';
  try {
    for await (const chunk of file.pipe(gunzip).setEncoding('utf8') as AsyncIterable<string>) {
      const whole = (open + chunk).split('\n');
      open = whole.pop() as string;
      yield* whole;
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' ? new CutOffError() : error;
  } finally {
    file.destroy();
    gunzip.destroy();
  }
  if (open !== '') throw new CutOffError();
}
