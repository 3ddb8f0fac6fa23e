import { type Browser, type BrowserContext, chromium } from '@playwright/test';
import { visitConsole } from '../support/console.ts';
import { startLatchkey } from '../support/latchkey.ts';
import { buildWorld } from './world.ts';

const loads = 11;

/** Names on `window` of the page that is measured. */
interface Marks {
  readyAt?: number | undefined;
}

/**
 * Milliseconds from the start of the navigation until the overview of a project with data is ready: heading shown, all
 * data shown. With an empty cache, 1440 × 900.
 *
 * @param slowDowns of the browser's CPU
 * @returns an odd number of loads for each
 */
export async function overviewTimes(slowDowns: readonly number[]): Promise<number[][]> {
  const latchkey = await startLatchkey({ LOG_LEVEL: 'warn' });
  const browser = await chromium.launch({
    executablePath: process.env['LATCHKEY_BROWSER'] ?? '',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const world = await buildWorld(latchkey);
    const owner = await visitConsole(browser, latchkey, world.admin, { email: 'owner@example.com', role: 'OWNER' });
    const session = await owner.context.storageState();
    const address = `${world.issuer}/admin/projects/${world.projectId}/overview`;
    const times: number[][] = [];
    for (const slowDown of slowDowns) {
      // Warms up the server.
      await readyAfter(browser, session, address, slowDown);
      const some: number[] = [];
      while (some.length < loads) some.push(await readyAfter(browser, session, address, slowDown));
      times.push(some);
    }
    return times;
  } finally {
    await browser.close();
    await latchkey.stop();
  }
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

async function readyAfter(browser: Browser, session: Session, address: string, slowDown: number): Promise<number> {
  const context = await browser.newContext({ storageState: session, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const marks = window as Marks;
    const note = () => {
      const main = document.querySelector('main');
      const isReady = main?.querySelector('h1') != null && main.querySelector('[aria-busy="true"]') === null;
      marks.readyAt = isReady ? (marks.readyAt ?? performance.now()) : undefined;
    };
    new MutationObserver(note).observe(document, { childList: true, subtree: true, attributes: true });
  });
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowDown });
  await page.goto(address, { waitUntil: 'commit' });
  // Still ready a second later: no part began to load again.
  const isDone = () => performance.now() - ((window as Marks).readyAt ?? Number.POSITIVE_INFINITY) > 1000;
  await page.waitForFunction(isDone, undefined, { timeout: 60_000 });
  const readyAt = await page.evaluate(() => (window as Marks).readyAt);
  await context.close();
  return readyAt ?? 0;
}
