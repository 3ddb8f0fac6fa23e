/**
 * Checks of the source text: time, randomness and the environment only through ports; no inverse collections in
 * entities; test mode never read from its setting; no bound contexts; each table written by its own layer; no folder
 * with too many files. Argument: the folder that contains `server/` (default: this repository).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './lib/workspace.mjs';

const isTest = (path) => path.endsWith('.test.ts');
/** Source files in one folder. */
const folderLimit = 21;
const isEdge = (path) =>
  path.startsWith('server/src/adapters/') ||
  ['server/src/main.ts', 'server/src/serve.ts', 'server/src/migrations/online.ts'].includes(path);

const invariants = [
  {
    applies: (path) => !isEdge(path) && !isTest(path),
    forbidden: [/\bDate\.now\b/, /\bnew Date\(\s*\)/, /\bMath\.random\b/, /\bprocess\.env\b/, /\bperformance\.now\b/],
    message:
      'Time, randomness and the environment are read only in adapters/, main.ts, serve.ts and migrations/online.ts: take a Clock, a Random or a setting of Config.',
  },
  {
    applies: (path) => !path.startsWith('server/src/domain/projects/') && !isTest(path),
    forbidden: [/\bproject\.testMode\b/],
    message: 'Test mode is checked at each use: call TestMode.holds, never read the setting.',
  },
  {
    applies: () => true,
    forbidden: [/\bAsync(LocalStorage|Resource)\.(bind|snapshot)\b/],
    message:
      'A function of AsyncLocalStorage.bind outlives its request until the next full garbage collection: use new AsyncResource(name).runInAsyncScope (decisions/0081).',
  },
  {
    applies: (path) => !isTest(path),
    forbidden: [/\bselect from\b/],
    message: 'Write `select 1 from`: Citus sends an empty select list to its workers in a form that they refuse.',
  },
  {
    applies: (path) => path.endsWith('.entity.ts'),
    forbidden: [/\b(oneToMany|mappedBy|inversedBy)\b/],
    message: 'Relations point child → parent only: query children instead of inverse collections.',
  },
];

const top = process.argv[2] ?? root;
const read = (path) => readFileSync(join(top, path), 'utf8');
const paths = sources('server/src');
const layerOf = (path) => /^server\/src\/domain\/(\w+)\//.exec(path)?.[1];
/** Each table's layer: the folder of its entity. */
const owners = new Map(
  paths
    .filter((path) => path.endsWith('.entity.ts'))
    .flatMap((path) => [...read(path).matchAll(/tableName: '(\w+)'/g)].map(([, table]) => [table, layerOf(path)])),
);

const faults = paths.flatMap((path) => {
  const lines = withoutComments(read(path)).split('\n');
  return [...foreignWrites(path, lines), ...brokenInvariants(path, lines)];
});
faults.push(...fullFolders());
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** SQL of a layer that writes a table of another one. */
function foreignWrites(path, lines) {
  const layer = layerOf(path);
  if (layer === undefined || isTest(path)) return [];
  return lines.flatMap((line, index) =>
    [...line.matchAll(/\b(?:insert into|update|delete from) (\w+)/g)]
      .filter(([, table]) => owners.has(table) && owners.get(table) !== layer)
      .map(([found, table]) => {
        const message = `Only domain/${owners.get(table)}/ writes ${table}: call, or compose, a function of that layer.`;
        return `${path}:${index + 1}: ${found}\n    ${message}`;
      }),
  );
}

/** Folders with too many source files for a newcomer to scan, tests aside. Migrations are exempt: they are a list. */
function fullFolders() {
  const folders = ['server/src', 'console', 'shared'].filter((folder) => existsSync(join(top, folder)));
  const counts = new Map();
  for (const path of folders.flatMap((folder) => sources(folder, /\.(?:ts|tsx|css|html)$/))) {
    const folder = dirname(path);
    if (!/\.test\.tsx?$/.test(path) && !folder.endsWith('/migrations'))
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > folderLimit)
    .map(
      ([folder, count]) => `${folder}: ${count} files\n    At most ${folderLimit} in a folder: group them by subject.`,
    );
}

function brokenInvariants(path, lines) {
  return invariants
    .filter(({ applies }) => applies(path))
    .flatMap(({ forbidden, message }) =>
      lines.flatMap((line, index) =>
        forbidden
          .map((pattern) => line.match(pattern)?.[0])
          .filter(Boolean)
          .map((found) => `${path}:${index + 1}: ${found}\n    ${message}`),
      ),
    );
}

function sources(folder, names = /\.ts$/) {
  return readdirSync(join(top, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return ['dist', 'node_modules', 'generated'].includes(entry.name) ? [] : sources(path, names);
    return names.test(path) ? [path] : [];
  });
}

/** Removes comments, and keeps line numbers; `//` after a colon is a URL. */
function withoutComments(text) {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}
