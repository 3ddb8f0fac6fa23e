import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, withHeartbeat } from './run.mjs';
import { fail, memory, print, root, systemEnvironment } from './workspace.mjs';

const stamp = join(memory, 'installed');

/** Installs the packages of package-lock.json, unless node_modules matches it. */
export async function ensureInstalled() {
  const wanted = lockfileHash();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  if (!matchesLockfile()) await install();
  mkdirSync(memory, { recursive: true });
  writeFileSync(stamp, wanted);
}

/** Includes the platform: a folder shared with another system has the wrong binaries. */
function lockfileHash() {
  const lockfile = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lockfile).update(`${process.platform}-${process.arch}`).digest('hex');
}

/** Whether all packages are installed, for example by a manual `npm ci`. */
function matchesLockfile() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link) return true;
    if (installed[path] === undefined) return (entry.optional || entry.peer) && !isForThisMachine(entry);
    return installed[path].version === entry.version && existsSync(join(root, path));
  });
}

/** Whether the package is specific to this platform: such optional packages are required. */
function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined || cpu === undefined) return false;
  const isGlibc = process.platform === 'linux' && process.report?.getReport().header.glibcVersionRuntime !== undefined;
  const isLibc = libc === undefined || libc.includes(isGlibc ? 'glibc' : 'musl');
  return os.includes(process.platform) && cpu.includes(process.arch) && isLibc;
}

async function install() {
  print('Installing dependencies (about a minute the first time) …');
  const args = ['ci', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const options = { env: { ...systemEnvironment(), NODE_ENV: '' } };
  const work = npm ? run('node', [npm, ...args], options) : run('npm', args, options);
  const { code, seconds } = await withHeartbeat('still installing', work, print);
  if (code === 127) fail('npm not found: install Node 20 or newer with npm, and try again.');
  if (code !== 0)
    fail(`Installing dependencies failed (npm ci exited with ${code}): fix the errors above, and try again.`);
  print(`Installed in ${seconds.toFixed(0)} s.`);
}
