import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** What the scripts remember between runs; goes away with node_modules, which it speaks of. */
export const memory = join(root, 'node_modules', '.cache', 'latchkey');

const binaries = join(root, 'node_modules', '.bin');
/** Where the Node of the lockfile is. npm 11 links it into `.bin`, npm 10 does not. */
const nodeFolder = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');

export function tool(name) {
  return join(binaries, name);
}

/** The environment in which tools find each other, and the Node that comes with the project. */
export function toolEnvironment(extra = {}) {
  return { ...process.env, PATH: [nodeFolder, binaries, process.env.PATH ?? ''].join(delimiter), ...extra };
}

/** The environment without the project's own tools: for npm, which may replace them while it runs. */
export function systemEnvironment() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => ![binaries, nodeFolder].includes(folder));
  return { ...process.env, PATH: path.join(delimiter) };
}

/** The Node that comes with the project, or this one where that does not run (or did not install) here. */
export function projectNode() {
  const own = join(nodeFolder, 'node');
  return existsSync(own) && spawnSync(own, ['--version']).status === 0 ? own : process.execPath;
}

/** A line of progress; errors and progress go to stderr, so that stdout is the program's. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Ends the script with one clear line. */
export function fail(line, code = 1) {
  say(line);
  process.exit(code);
}

/** For the server, whose requests take milliseconds: V8's heap is to grow less before it is collected (decisions/0082). */
export const memoryOptions = ['--max-semi-space-size=4', '--heap-growing-percent=60'];

export function requireNode20() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) fail(`Node ${process.versions.node} is too old: install Node 20 or newer, and start again.`);
}
