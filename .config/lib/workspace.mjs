import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** State of the scripts between runs; removed with node_modules. */
export const memory = join(root, 'node_modules', '.cache', 'latchkey');

/** Compiled code of the server for its next start; removed by a build. */
export const compiled = join(memory, 'compiled');

const binaries = join(root, 'node_modules', '.bin');
/** Folder of the lockfile's Node. npm 11 links it into `.bin`, npm 10 does not. */
const nodeFolder = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');

export function tool(name) {
  return join(binaries, name);
}

/** Environment with the workspace's tools and Node first in PATH. */
export function toolEnvironment(extra = {}) {
  return { ...process.env, PATH: [nodeFolder, binaries, process.env.PATH ?? ''].join(delimiter), ...extra };
}

/** Environment without the workspace's tools: for npm, which may replace them while running. */
export function systemEnvironment() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => ![binaries, nodeFolder].includes(folder));
  return { ...process.env, PATH: path.join(delimiter) };
}

/** The workspace's Node, or the current one if that is not installed or does not run. */
export function projectNode() {
  const own = join(nodeFolder, 'node');
  return existsSync(own) && spawnSync(own, ['--version']).status === 0 ? own : process.execPath;
}

/** Prints a line to stderr; stdout is reserved for the program. */
export function print(line) {
  process.stderr.write(`${line}\n`);
}

/** Prints a line and exits. */
export function fail(line, code = 1) {
  print(line);
  process.exit(code);
}

/** V8 flags of the server: less heap growth before a collection, since requests are short (decisions/0082). */
export const memoryOptions = ['--max-semi-space-size=4', '--heap-growing-percent=40'];

export function requireNode20() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) fail(`Node ${process.versions.node} is too old: install Node 20 or newer, and try again.`);
}
