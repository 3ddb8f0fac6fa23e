/**
 * Writes the lists of classes that follow from the files of a folder: migrations, and the resolvers of the admin API. With
 * `--check`, fails if one is out of date.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fail, root } from './lib/workspace.mjs';

const lists = [
  {
    output: 'server/src/migrations/index.ts',
    classes: classesIn('server/src/migrations', /^\d{14}-[\w-]+\.ts$/, /^export class (\w+)/gm),
    textOf: ({ name, path }) => `  { name: '${basename(path, '.ts')}', class: ${name} },\n`,
    list: 'migrations',
    end: ']',
  },
  {
    output: 'server/src/admin/generated/resolvers.ts',
    classes: classesIn('server/src/admin', /\.resolver\.ts$/, /^@Resolver\b.*\nexport class (\w+)/gm),
    textOf: ({ name }) => `  ${name},\n`,
    list: 'resolvers',
    end: '] as const',
  },
];

for (const { output, classes, textOf, list, end } of lists) {
  const files = [...Map.groupBy(classes, ({ path }) => path)];
  const imports = files.map(([path, found]) => {
    const from = output.includes('/generated/') ? `../${path}` : `./${path}`;
    return `import { ${found.map(({ name }) => name).join(', ')} } from '${from}';\n`;
  });
  const notice = '// Written by npm run gen from the names of files (.config/gen-lists.mjs). Do not edit.\n';
  put(output, `${notice}${imports.join('')}\nexport const ${list} = [\n${classes.map(textOf).join('')}${end};\n`);
}

/** The classes that `pattern` finds in the files with a matching path, by their paths below the folder. */
function classesIn(folder, names, pattern) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => names.test(path))
    .sort()
    .flatMap((path) =>
      [...readFileSync(join(root, folder, path), 'utf8').matchAll(pattern)].map(([, name]) => ({ name, path })),
    );
}

function put(path, text) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
