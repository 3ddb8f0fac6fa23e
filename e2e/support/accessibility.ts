import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, type Frame, type Locator, type Page } from '@playwright/test';
import type axeCore from 'axe-core';

const axeScript = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Best practices that screen readers need to tell columns and landmarks apart. */
const practices = { 'empty-table-header': { enabled: true }, 'landmark-unique': { enabled: true } };
const ofColor = ['color-contrast', 'link-in-text-block'];
/** WCAG 2.1, 1.4.10 (Reflow). */
const narrow = { width: 320, height: 640 };
/** Makes the letters of any font about as wide as those of Verdana. */
const wide = '* { letter-spacing: 0.06em !important; }';

/** Requires WCAG 2.2 AA as checked by axe, in light and dark, and no horizontal scrolling at 320 px, in a wide font too. */
export async function expectAccessible(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.waitForFunction(isSettled, colorScheme);
    // The theme applies from the next frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    // Names, roles and order are equal in both themes: check only colors in the second.
    const found = await violations(page, colorScheme === 'light' ? 'all' : 'colors');
    expect(found, `axe violations in ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize(narrow);
  await expectToFit(page, narrow.width);
  const letters = await styled(page, wide);
  await expectToFit(page, narrow.width);
  await letters.dispose();
  await page.setViewportSize(size);
}

/** Requires that the page is at most this wide, once its layout is up to date. */
async function expectToFit(page: Page, width: number): Promise<void> {
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth), `page width at ${width} px`)
    .toBeLessThanOrEqual(width);
}

/** Adds a style sheet to the page, whatever its policy, until it is disposed of. */
export async function styled(page: Page, css: string): Promise<{ dispose(): Promise<void> }> {
  const sheet = await page.evaluateHandle((text) => {
    const made = new CSSStyleSheet();
    made.replaceSync(text);
    document.adoptedStyleSheets.push(made);
    return made;
  }, css);
  return {
    async dispose() {
      await sheet.evaluate((made) => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== made);
      });
      await sheet.dispose();
    },
  };
}

/** Requires black on white of a QR code, even in dark forced colors. @param code the code with its margin */
export async function expectReadableQrCode(page: Page, code: Locator): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
  await expect(code).toHaveCSS('background-color', 'rgb(255, 255, 255)');
  await expect(code.locator('path')).toHaveCSS('fill', 'rgb(0, 0, 0)');
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
}

/** Violations of WCAG 2.2 AA and {@link practices} that axe finds in the page's current state, one line each. */
export async function violations(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  for (const frame of page.frames()) await loadAxe(frame);
  const options: axeCore.RunOptions =
    rules === 'all'
      ? { runOnly: { type: 'tag', values: tags }, rules: practices }
      : { runOnly: { type: 'rule', values: ofColor } };
  return page.evaluate(runAxe, options);
}

/** Loads axe once per document: compiling it takes as long as checking the page. */
async function loadAxe(frame: Frame): Promise<void> {
  if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(axeScript);
}

/** Runs in the page. */
async function runAxe(options: axeCore.RunOptions): Promise<string[]> {
  const { axe } = window as unknown as { axe: typeof axeCore };
  const { violations } = await axe.run({ ...options, resultTypes: ['violations'] });
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' ')}`,
  );
}

/** Whether the console has applied the theme and all finite animations have ended. Runs in the page. */
function isSettled(colorScheme: string): boolean {
  // An animation that has ended, and keeps its last frame, does not count.
  const ends = ({ effect, playState }: Animation) =>
    playState !== 'finished' && effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY;
  const { mantineColorScheme = colorScheme } = document.documentElement.dataset;
  return mantineColorScheme === colorScheme && !document.getAnimations().some(ends);
}
