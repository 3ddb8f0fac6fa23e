/**
 * Writes `server/docs/llms.txt` from the documentation, and all of it as one file to `server/dist/llms-full.txt`, which is not
 * committed. With `--check`, fails if the first is out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { llmsFiles } from './lib/llms.mjs';
import { fail, root } from './lib/workspace.mjs';

const path = 'server/docs/llms.txt';
const { index, full } = llmsFiles();
const file = join(root, path);
if (!existsSync(file) || readFileSync(file, 'utf8') !== index) {
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  writeFileSync(file, index);
  process.stdout.write(`${path}\n`);
}
if (!process.argv.includes('--check')) {
  const whole = join(root, 'server/dist/llms-full.txt');
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, full);
}
