import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folder `server`, from its sources and from its bundle. */
export const packageFolder = nearest(import.meta.dirname);

function nearest(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : nearest(dirname(folder));
}
