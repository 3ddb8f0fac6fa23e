import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, withHeartbeat } from './run.mjs';
import { fail, memory, root, say, systemEnvironment } from './workspace.mjs';

const stamp = join(memory, 'installed');

/** Installs what package-lock.json names, unless node_modules holds just that. */
export async function ensureInstalled() {
  const wanted = lockfileHash();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  if (!matchesLockfile()) await install();
  mkdirSync(memory, { recursive: true });
  writeFileSync(stamp, wanted);
}

/** The machine is part of it: a folder shared with another system holds the wrong binaries. */
function lockfileHash() {
  const lockfile = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lockfile).update(`${process.platform}-${process.arch}`).digest('hex');
}

/** Whether an `npm ci` or `npm install` by hand has put each wanted package there already. */
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

/** Whether it is made for this system and no other: of the optional packages, those cannot be done without. */
function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined || cpu === undefined) return false;
  const isGlibc = process.platform === 'linux' && process.report?.getReport().header.glibcVersionRuntime !== undefined;
  const isLibc = libc === undefined || libc.includes(isGlibc ? 'glibc' : 'musl');
  return os.includes(process.platform) && cpu.includes(process.arch) && isLibc;
}

async function install() {
  say('Installing the dependencies (the first time this takes a minute or so) …');
  const args = ['ci', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const options = { env: { ...systemEnvironment(), NODE_ENV: '' } };
  const work = npm ? run('node', [npm, ...args], options) : run('npm', args, options);
  const { code, seconds } = await withHeartbeat('still installing', work, say);
  if (code === 127) fail('npm is not there: install Node 20 or newer with npm, and start again.');
  if (code !== 0)
    fail(
      `The dependencies could not be installed (npm ci ended with ${code}): mend what npm says above, and start again.`,
    );
  say(`Installed in ${seconds.toFixed(0)} s.`);
}
