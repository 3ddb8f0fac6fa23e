/** `npm run gen`: writes the generated files; `npm run gen -- --check` lists those that are out of date. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { run } from './lib/run.mjs';
import { fail, projectNode, requireNode20, root } from './lib/workspace.mjs';

requireNode20();
await ensureInstalled();
const codes = [await generated('.config/gen-lists.mjs'), await generated('.config/gen-page-texts.mjs')];
// Only where the console is.
if (existsSync(join(root, 'console/admin'))) codes.push(await generated('.config/gen-portal-steps.mjs'));
const broken = await ensureBuilt({ only: 'server' });
if (broken) fail('The server failed to build: fix the errors above.');
// The console's types depend on the schema, which the server generates.
const generators = [
  'server/dist/gen.js',
  ...(existsSync(join(root, 'console/admin')) ? ['.config/gen-console.mjs', '.config/gen-languages.mjs'] : []),
  '.config/gen-elements.mjs',
  ...(existsSync(join(root, 'console/admin')) ? ['.config/gen-products.mjs'] : []),
  '.config/gen-llms.mjs',
];
for (const generator of generators) codes.push(await generated(generator));
process.exitCode = Math.max(...codes);

async function generated(generator) {
  return (await run(projectNode(), ['--enable-source-maps', generator, ...process.argv.slice(2)])).code;
}
