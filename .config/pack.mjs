/**
 * `node .config/pack.mjs <browser|node> <folder>`: packs `shared/<name>` as published, and prints the tarball's path.
 * Packs a copy, so that concurrent tests see no changes in the workspace.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './lib/workspace.mjs';

const [name, folder] = process.argv.slice(2);
const workspace = mkdtempSync(join(tmpdir(), 'latchkey-pack-'));
try {
  cpSync(join(root, '.config/tsconfig.base.json'), join(workspace, '.config/tsconfig.base.json'));
  for (const part of ['contracts', name]) {
    cpSync(join(root, 'shared', part), join(workspace, 'shared', part), {
      recursive: true,
      filter: (path) => !/\/(dist|node_modules)$/.test(path),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(workspace, 'node_modules'));
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const args = ['pack', '--silent', '--json', '--pack-destination', folder];
  const printed = execFileSync('npm', args, { cwd: join(workspace, 'shared', name), env, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(printed.slice(printed.search(/^\[/m)));
  console.log(join(folder, filename.replace('@', '').replace('/', '-')));
} finally {
  rmSync(workspace, { recursive: true });
}
