import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, withHeartbeat } from './run.mjs';
import { fail, memory, print, root, systemEnvironment } from './workspace.mjs';

/** Workspaces with what building and serving need. The tools and the other packages are for development. */
const serving = ['server', 'console', 'shared/browser', 'shared/contracts', 'shared/node', 'shared/react'];

/**
 * Installs the packages of package-lock.json, unless node_modules matches it.
 * @param {{ forServing?: boolean }} [options] forServing: only what `npm start` needs; about half
 */
export async function ensureInstalled({ forServing = false } = {}) {
  const wanted = lockfileHash();
  if (isStamped('installed', wanted) || (forServing && isStamped('installed-serving', wanted))) return;
  if (matchesLockfile()) return writeStamp('installed', wanted);
  if (forServing) await install(['ci', ...serving.flatMap((folder) => ['--workspace', folder])]);
  // Adds what is missing: a server may run from this folder, which `npm ci` would empty.
  else if (isStamped('installed-serving', wanted)) await install(['install', '--no-save']);
  else await install(['ci']);
  writeStamp(forServing ? 'installed-serving' : 'installed', wanted);
}

function isStamped(name, wanted) {
  const stamp = join(memory, name);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

function writeStamp(name, wanted) {
  mkdirSync(memory, { recursive: true });
  writeFileSync(join(memory, name), wanted);
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

async function install(command) {
  print('Installing dependencies (about a minute the first time) …');
  const args = [...command, '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const options = { env: { ...systemEnvironment(), NODE_ENV: '' } };
  const work = npm ? run('node', [npm, ...args], options) : run('npm', args, options);
  const { code, seconds } = await withHeartbeat('still installing', work, print);
  if (code === 127) fail('npm not found: install Node 20 or newer with npm, and try again.');
  if (code !== 0)
    fail(
      `Installing dependencies failed (npm ${command[0]} exited with ${code}): fix the errors above, and try again.`,
    );
  print(`Installed in ${seconds.toFixed(0)} s.`);
}
