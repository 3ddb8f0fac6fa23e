import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.mjs';
import { projectNode, root, tool } from './workspace.mjs';

/** Packages that the instance serves; all have the same version. */
export const packageNames = ['browser', 'node', 'react'];

/** SHA-256 of a packed package's files; the dates in its archive do not change it. */
export function contentOf(name) {
  const packed = join(root, 'shared/dist');
  const [tarball] = readdirSync(packed).filter((file) => file.startsWith(`latchkey-${name}-`));
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-content-'));
  try {
    execFileSync('tar', ['xzf', join(packed, tarball), '-C', folder]);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const hash = createHash('sha256');
    for (const path of files.map(({ name: file, parentPath }) => join(parentPath, file)).sort())
      hash.update(path.slice(folder.length)).update('\0').update(readFileSync(path));
    return hash.digest('hex');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Builds and packs the packages, and records their content in `shared/versions.json` under their version. */
export async function recordPackages(version) {
  for (const args of [
    [tool('tsc'), ['-b']],
    [projectNode(), [join(root, '.config/pack.mjs')]],
  ]) {
    if ((await run(...args)).code !== 0) throw new Error('The packages failed to build: fix the errors above.');
  }
  const content = Object.fromEntries(packageNames.map((name) => [name, contentOf(name)]));
  writeFileSync(join(root, 'shared/versions.json'), `${JSON.stringify({ version, content }, null, 2)}\n`);
}
