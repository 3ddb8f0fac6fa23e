/** Writes the settings of products into `server/docs/products.md`. With `--check`, fails if they are out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { productsPage, productsPath } from './lib/products.mjs';
import { fail, root } from './lib/workspace.mjs';

const file = join(root, productsPath);
const text = productsPage();
if (readFileSync(file, 'utf8') !== text) {
  if (process.argv.includes('--check')) fail(`${productsPath} is out of date: run npm run gen`);
  writeFileSync(file, text);
  process.stdout.write(`${productsPath}\n`);
}
