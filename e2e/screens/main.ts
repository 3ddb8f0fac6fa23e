/**
 * `npm run screens [-- [--language=de] [--axe] <part of a name> …]`: takes screenshots of every page with sample data,
 * empty, loading and failing, in both themes at 1440 and 390 px, into a temporary folder, and prints its path. `--axe`
 * also prints the violations of WCAG 2.2 AA. `-- --readme` creates the README's pictures instead.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { violations } from '../support/accessibility.ts';
import { visitConsole } from '../support/console.ts';
import { startLatchkey } from '../support/latchkey.ts';
import { type Shot, shots } from './pages.ts';
import { readmePictures } from './readme.ts';
import { settled } from './settled.ts';
import { buildWorld, type World } from './world.ts';

const widths = [1440, 390] as const;
const themes = ['light', 'dark'] as const;
const log = (line: string) => console.log(line);

const wanted = process.argv.slice(2).filter((word) => word !== '--axe' && !word.startsWith('--language='));
const checks = process.argv.includes('--axe');
const language = process.argv.find((word) => word.startsWith('--language='))?.slice('--language='.length);
const latchkey = await startLatchkey();
const browser = await chromium.launch({
  executablePath: process.env['LATCHKEY_BROWSER'] ?? '',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const world = await buildWorld(latchkey);
  const owner = await visitConsole(browser, latchkey, world.admin, { email: 'robin@northwind.example', role: 'OWNER' });
  if (wanted.includes('--readme')) await readmePictures(owner.context, browser, world, log);
  else await photographAll(owner.context, browser, world);
  for (const error of new Set(owner.browserErrors)) log(`browser error: ${error}`);
} finally {
  await browser.close();
  await latchkey.stop();
}

async function photographAll(signedIn: BrowserContext, browser: Browser, world: World): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-screens-'));
  const chosen = shots(world).filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  const anonymous = await browser.newContext();
  if (language) for (const context of [signedIn, anonymous]) await setLanguage(context, language);
  const made: string[] = [];
  let found = 0;
  for (const theme of themes) {
    for (const width of widths) {
      const place = join(folder, `${theme}-${width}`);
      mkdirSync(place);
      for (const shot of chosen) {
        const page = await (shot.anonymous ? anonymous : signedIn).newPage();
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        const file = join(place, `${shot.name}.png`);
        await photograph(page, shot, file).catch((error: unknown) => log(`${shot.name}: ${String(error)}`));
        const faults = checks ? await violations(page).catch((error: unknown) => [String(error)]) : [];
        for (const fault of faults) log(`${file}: ${fault}`);
        found += faults.length;
        made.push(`${theme}-${width}/${shot.name}.png`);
        await page.close();
      }
    }
  }
  const figures = made.map(
    (src) => `<figure><img loading="lazy" src="${src}"><figcaption>${src}</figcaption></figure>`,
  );
  const style =
    'body{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;width:30rem}img{width:100%;border:1px solid}';
  writeFileSync(join(folder, 'index.html'), `<!doctype html><style>${style}</style>${figures.join('\n')}`);
  log(`${made.length} pictures in ${folder}; index.html shows all.`);
  if (checks) log(`${found} violations of WCAG 2.2 AA.`);
}

/**
 * Sets the header for pages of the server, and the stored choice for the console. Another locale of Chromium may also
 * change its fonts.
 */
async function setLanguage(context: BrowserContext, language: string): Promise<void> {
  await context.setExtraHTTPHeaders({ 'Accept-Language': language });
  await context.addInitScript((value) => localStorage.setItem('lk-language', JSON.stringify(value)), language);
}

async function photograph(page: Page, { path, data }: Shot, file: string): Promise<void> {
  if (data) {
    const open = ['Frame', 'Session', 'ProjectById', 'SwitcherProjects', 'SystemLevel'];
    await page.route('**/admin/graphql', (route) => {
      const isOpen = open.some((name) => route.request().postData()?.includes(`query ${name}`));
      if (isOpen) return route.continue();
      return data === 'error' ? route.fulfill({ status: 503, body: '{}' }) : undefined;
    });
  }
  await page.goto(path);
  if (data) {
    await page.locator('main :is(h1, h2, h3)').first().waitFor();
    await page.waitForTimeout(1500);
  } else {
    await settled(page).catch(() => log(`${path} is still loading`));
  }
  await page.screenshot({ path: file, fullPage: true, animations: 'disabled' });
}
