import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { memory, print, projectNode, root, tool } from './workspace.mjs';

/**
 * Parts to build, their sources and outputs, at the same time; one with `after` when that part is built. Sources are compared by
 * content hash: a checkout changes mtimes.
 */
const parts = [
  {
    name: 'server',
    sources: [
      'server/src',
      'server/tsconfig.json',
      'shared/contracts',
      'shared/browser',
      'tsconfig.json',
      '.config/tsconfig.base.json',
    ],
    result: 'server/dist/main.js',
    build: (options) => run(tool('tsc'), ['-b', 'server', 'shared/browser'], options),
  },
  {
    name: 'console',
    sources: ['console', 'shared/browser', 'shared/contracts/src', '.config/tsconfig.base.json'],
    result: 'console/dist/signin/index.html',
    build: (options) => run(tool('vite'), ['build', '--logLevel', 'warn'], { ...options, cwd: join(root, 'console') }),
  },
  {
    name: 'packages',
    after: 'server',
    sources: ['shared', '.config/pack.mjs', '.config/tsconfig.base.json'],
    result: 'shared/dist/integrity.json',
    build: (options) => run(projectNode(), [join(root, '.config/pack.mjs')], options),
  },
];

/**
 * Builds parts whose sources have changed.
 * @param {{ all?: boolean, missing?: boolean, only?: string }} [options] all: unchanged parts too; missing: only parts without
 *   any output; only: name of the one part
 * @returns {Promise<string | undefined>} name of the part that failed; its errors were printed
 */
export async function ensureBuilt({ all = false, missing = false, only } = {}) {
  const builds = {};
  for (const part of parts) {
    if (only !== undefined && part.name !== only) continue;
    if (missing && existsSync(join(root, part.result))) continue;
    const earlier = builds[part.after];
    builds[part.name] = Promise.resolve(earlier).then((broken) => broken ?? buildPart(part, all));
  }
  return (await Promise.all(Object.values(builds))).find((broken) => broken !== undefined);
}

async function buildPart({ name, sources, result, build }, all) {
  const stamp = join(memory, `built-${name}`);
  const wanted = hashOf(['package-lock.json', ...sources]);
  const isFresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(join(root, result));
  if (isFresh && !all) return undefined;
  print(`Building the ${name} …`);
  const { code, seconds } = await build();
  if (code !== 0) return name;
  print(`Built the ${name} in ${seconds.toFixed(1)} s.`);
  mkdirSync(memory, { recursive: true });
  writeFileSync(stamp, wanted);
  return undefined;
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(filesIn))
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Skips build output, dependencies and tests. */
function filesIn(path) {
  const skipped = ['node_modules', 'dist', 'data'];
  const entries = readEntries(path);
  if (entries === undefined) return existsSync(join(root, path)) ? [path] : [];
  return entries
    .filter(({ name }) => !skipped.includes(name) && !/\.test\.tsx?$|\.tsbuildinfo$/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(`${path}/${entry.name}`) : [`${path}/${entry.name}`]));
}

function readEntries(path) {
  try {
    return readdirSync(join(root, path), { withFileTypes: true });
  } catch {
    return undefined;
  }
}
