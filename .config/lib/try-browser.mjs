/** Exits with 0 if the given browser opens a page. A separate process, because a broken browser may hang. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(createRequire(import.meta.url).resolve('playwright-core')).href).then(
  (module) => module.default ?? module,
);
// Chromium's sandbox does not work as root.
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: process.argv[2], args, timeout: 20_000 });
const page = await browser.newPage();
await page.goto('data:text/html,<title>there</title>');
if ((await page.title()) !== 'there') throw new Error('unexpected page title');
process.stdout.write(browser.version());
await browser.close();
