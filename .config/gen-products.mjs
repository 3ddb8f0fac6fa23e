/** Writes the settings of products into `server/docs/`. With `--check`, fails if they are out of date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { productsPage, productsPath } from './lib/products.mjs';
import { samlProductsPage, samlProductsPath } from './lib/saml-products.mjs';
import { fail, root } from './lib/workspace.mjs';

for (const [path, text] of [
  [productsPath, productsPage()],
  [samlProductsPath, samlProductsPage()],
]) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
