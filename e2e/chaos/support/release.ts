import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Release } from '../../upgrade/releases.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The server of an earlier release, built with the dependencies of this one. */
export interface BuiltRelease {
  /** Its program. */
  main: string;
  remove(): void;
}

/** Builds a release from the history of the repository. @returns a short reason if it cannot be built */
export async function buildRelease({ name, commit }: Release): Promise<BuiltRelease | string> {
  const known = await run('git', ['-C', root, 'cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (!known) return `release ${name} (${commit.slice(0, 8)}) is not in this clone: run git fetch --unshallow`;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'release.tar');
    await run('git', ['-C', root, 'archive', '--output', archive, commit]);
    await run('tar', ['-xf', archive, '-C', folder]);
    linkDependencies(folder);
    // Without types, which the gates of the release checked.
    await run(process.execPath, [join(folder, 'server/build.mjs')], { cwd: folder });
    return { main: join(folder, 'server/dist/main.js'), remove };
  } catch (error) {
    remove();
    const { stdout, message } = error as { stdout?: string; message: string };
    throw new Error(`release ${name} does not build: ${stdout || message}`);
  }
}

/** Packages from this checkout; workspaces from the release. */
function linkDependencies(folder: string): void {
  const from = join(root, 'node_modules');
  for (const name of readdirSync(from)) {
    if (name !== '@latchkey' && name !== '.cache') link(join(from, name), join(folder, 'node_modules', name));
  }
  for (const name of readdirSync(join(from, '@latchkey'))) {
    const target = join(from, '@latchkey', name);
    if (!lstatSync(target).isSymbolicLink()) continue;
    const own = join(folder, 'node_modules/@latchkey', readlinkSync(target));
    if (existsSync(own)) link(own, join(folder, 'node_modules/@latchkey', name));
  }
  for (const workspace of ['server', ...readdirSync(join(folder, 'shared')).map((name) => `shared/${name}`)]) {
    const packages = join(root, workspace, 'node_modules');
    if (existsSync(packages)) link(packages, join(folder, workspace, 'node_modules'));
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
