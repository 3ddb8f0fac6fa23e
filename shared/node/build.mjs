/**
 * Both builds of this package, by tsc. Which kind of module a file becomes is up to the package.json above it, and
 * tsc keeps `import()` as it is in a CommonJS module only under that rule: so the CommonJS build compiles a copy of
 * the sources that stands under a package.json of its own.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const at = (path) => join(here, path);
const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
const tsc = (...args) =>
  execFileSync(process.execPath, [join(dirname(manifest), 'bin/tsc'), ...args], { cwd: here, stdio: 'inherit' });

rmSync(at('dist'), { recursive: true, force: true });
tsc('-b', 'tsconfig.json');
const copy = at('dist/cjs-source');
cpSync(at('src'), copy, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
for (const folder of [copy, at('dist/cjs')]) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}
tsc('-p', 'tsconfig.cjs.json');
rmSync(copy, { recursive: true });
