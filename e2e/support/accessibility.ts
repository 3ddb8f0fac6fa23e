import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const ofColor = ['color-contrast', 'link-in-text-block'];
/** WCAG 2.1, 1.4.10 (Reflow). */
const narrow = { width: 320, height: 640 };

/** Requires WCAG 2.2 AA as checked by axe, in light and dark, and no horizontal scrolling at 320 px. */
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
  // Wait for the layout at the new width.
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth), 'page width at 320 px')
    .toBeLessThanOrEqual(narrow.width);
  await page.setViewportSize(size);
}

/** Violations of WCAG 2.2 AA that axe finds in the page as it is, one line each. */
export async function violations(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  // Legacy mode opens no second page to sum up the frames; our pages have none.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const results = await (rules === 'all' ? axe.withTags(tags) : axe.withRules(ofColor)).analyze();
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' ')}`,
  );
}

/** Whether the console has applied the theme and all finite animations have ended. Runs in the page. */
function isSettled(colorScheme: string): boolean {
  const ends = (animation: Animation) => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY;
  const { mantineColorScheme = colorScheme } = document.documentElement.dataset;
  return mantineColorScheme === colorScheme && !document.getAnimations().some(ends);
}
