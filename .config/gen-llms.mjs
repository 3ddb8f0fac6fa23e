/** Writes `llms.txt` and `llms-full.txt` from the documentation. With `--check`, fails if one is out of date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llmsFiles } from './lib/llms.mjs';
import { fail, root } from './lib/workspace.mjs';

for (const [path, text] of Object.entries(llmsFiles())) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
