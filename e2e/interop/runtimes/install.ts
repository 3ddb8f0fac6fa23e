import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../../test-results/interop', import.meta.url));

/** Packages could not be installed. */
export class NotInstalled extends Error {}

/**
 * Installs packages from the npm registry into a folder that later runs reuse; Next.js compiles no JSX in `node_modules`.
 * Throws {@link NotInstalled}.
 */
export async function installed(
  name: string,
  packages: Record<string, string>,
  options: string[] = [],
): Promise<string> {
  const folder = join(cache, name);
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: packages });
  const done = join(folder, 'done');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error', ...options];
  try {
    await run('npm', args, { cwd: folder, timeout: 300_000 });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const [line = 'npm install did not end within five minutes'] = stderr.trim().split('\n').filter(Boolean);
    throw new NotInstalled(`npm cannot install ${Object.keys(packages).join(', ')}: ${line}`);
  }
  writeFileSync(done, manifest);
  return folder;
}
