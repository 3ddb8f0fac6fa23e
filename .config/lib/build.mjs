import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { compiled, memory, print, projectNode, root, tool } from './workspace.mjs';

/**
 * Parts to build, their sources and outputs, at the same time. Sources whose times have changed are compared by content
 * hash: a checkout changes times.
 */
const parts = [
  {
    name: 'server',
    sources: ['server/src', 'shared/contracts', 'server/build.mjs'],
    result: 'server/dist/main.js',
    build: () => {
      rmSync(compiled, { recursive: true, force: true });
      return run(projectNode(), [join(root, 'server/build.mjs')]);
    },
  },
  {
    name: 'console',
    sources: [
      'console',
      'server/docs',
      'server/config.md',
      'shared/browser',
      'shared/contracts/src',
      '.config/tsconfig.base.json',
    ],
    result: 'console/dist/signin/index.html',
    build: () => run(tool('vite'), ['build', '--logLevel', 'warn'], { cwd: join(root, 'console') }),
  },
  {
    name: 'packages',
    sources: ['shared', '.config/pack.mjs', '.config/tsconfig.base.json'],
    result: 'shared/dist/integrity.json',
    build: async () => {
      const compiled = await run(tool('tsc'), ['-b', 'shared/browser']);
      return compiled.code === 0 ? run(projectNode(), [join(root, '.config/pack.mjs')]) : compiled;
    },
  },
];

/**
 * Builds parts whose sources have changed.
 * @param {{ all?: boolean, missing?: boolean, only?: string }} [options] all: unchanged parts too; missing: only parts without
 *   any output; only: name of the one part
 * @returns {Promise<string | undefined>} name of the part that failed; its errors were printed
 */
export async function ensureBuilt({ all = false, missing = false, only } = {}) {
  const wanted = parts.filter(
    ({ name, result }) => (only === undefined || name === only) && !(missing && existsSync(join(root, result))),
  );
  const broken = await Promise.all(wanted.map((part) => buildPart(part, all)));
  return broken.find((name) => name !== undefined);
}

async function buildPart({ name, sources, result, build }, all) {
  const stamp = join(memory, `built-${name}`);
  const files = ['package-lock.json', ...sources].flatMap(filesIn);
  const seen = stateOf(files);
  const [built, builtState] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  const isBuilt = !all && built !== undefined && existsSync(join(root, result));
  // Untouched files are not read.
  if (isBuilt && builtState === seen) return undefined;
  const wanted = hashOf(files);
  const isFresh = isBuilt && built === wanted;
  if (!isFresh) {
    print(`Building the ${name} …`);
    const { code, seconds } = await build();
    if (code !== 0) return name;
    print(`Built the ${name} in ${seconds.toFixed(1)} s.`);
  }
  mkdirSync(memory, { recursive: true });
  writeFileSync(stamp, `${wanted}\n${seen}`);
  return undefined;
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const path of files)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Changes with each write of a file. */
function stateOf(files) {
  const hash = createHash('sha256');
  for (const path of files) {
    const { size, mtimeNs, ctimeNs } = statSync(join(root, path), { bigint: true });
    hash.update(`${path}\0${size} ${mtimeNs} ${ctimeNs}\n`);
  }
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
