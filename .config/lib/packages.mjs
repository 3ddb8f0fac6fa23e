import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './workspace.mjs';

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
