import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from '@playwright/test';
import { shots } from './pages.ts';
import { settled } from './settled.ts';
import type { World } from './world.ts';

/** Pictures of the README, in order. */
const pictures = {
  overview: 'project-overview',
  quickstart: 'application-quickstart',
  directory: 'project-directory',
  'sign-in': 'sign-in',
} as const;
const folder = join(import.meta.dirname, '../../.github/pictures');

/** Writes the README's pictures, light and dark, as WebP. */
export async function readmePictures(
  signedIn: BrowserContext,
  browser: Browser,
  world: World,
  log: (line: string) => void,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const all = shots(world);
  const anonymous = await browser.newContext();
  for (const [name, shotName] of Object.entries(pictures)) {
    const shot = all.find((one) => one.name === shotName);
    if (!shot) throw new Error(`unknown page ${shotName}`);
    for (const theme of ['light', 'dark'] as const) {
      const page = await (shot.anonymous ? anonymous : signedIn).newPage();
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(shot.path);
      await settled(page);
      const steps = page.getByRole('button', { name: 'Show the steps' });
      if (await steps.isVisible()) await steps.click();
      const session = await page.context().newCDPSession(page);
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
      const file = join(folder, `${name}-${theme}.webp`);
      writeFileSync(file, Buffer.from(data, 'base64'));
      log(file);
      await page.close();
    }
  }
}
