import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useAsTemplate } from './data-folder.ts';
import { startLatchkey } from './latchkey.ts';

/**
 * Starts and stops one server before all tests. Its data folder is the template of later ones: creating and migrating a
 * database takes longer than the rest of a start. A later server updates the base address of the built-in clients, and
 * reuses the modules that the first one has compiled.
 */
export default async function makeTemplate(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-template-'));
  const compiled = mkdtempSync(join(tmpdir(), 'latchkey-compiled-'));
  const remove = () => {
    for (const path of [folder, compiled]) rmSync(path, { recursive: true, force: true });
  };
  process.env['NODE_COMPILE_CACHE'] = compiled;
  try {
    const latchkey = await startLatchkey({ DATA_DIR: folder, SETUP_LINK_AT_START: 'false' });
    await latchkey.stop();
    useAsTemplate(folder);
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
