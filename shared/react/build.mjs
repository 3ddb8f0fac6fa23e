/**
 * Builds the package as ES modules and CommonJS with tsc. The nearest package.json decides the module format, so the
 * CommonJS build compiles a copy of the sources with its own package.json.
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
