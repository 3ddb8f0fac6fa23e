import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const ofColour = ['color-contrast', 'link-in-text-block'];
/** WCAG 2.1, 1.4.10 (Reflow). */
const narrow = { width: 320, height: 640 };

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** Requires WCAG 2.2 AA as checked by axe, in light and dark, and no horizontal scrolling at 320 px. */
export async function expectAccessible(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  await show(page, 'light');
  expectNone((await builder(page).withTags(tags).analyze()).violations, 'light');
  await show(page, 'dark');
  expectNone(await violationsOfColour(page), 'dark');
  await page.setViewportSize(narrow);
  // Wait for the layout at the new width.
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth), 'page width at 320 px')
    .toBeLessThanOrEqual(narrow.width);
  await page.setViewportSize(size);
}

/** In legacy mode, which opens no second page to sum up the frames. */
function builder(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
}

async function show(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // The theme applies from the next frame. With reduced motion each element inherits its colour by a transition of 0.01 ms,
  // one level of the page a frame: deep elements have the old colour for many frames.
  await page.evaluate(async () => {
    // A page that the browser does not draw has no frames, and its transitions never end.
    const frame = () =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve);
        setTimeout(resolve, 100);
      });
    const isChanging = () => document.getAnimations().some((animation) => animation instanceof CSSTransition);
    await frame();
    for (let still = 0, all = 0; still < 2 && all < 300; all += 1) {
      await frame();
      still = isChanging() ? 0 : still + 1;
    }
  });
}

/**
 * Names, roles and order are equal in both themes: only colours can differ. A page without frames reuses the axe that the
 * first check has put into it: `AxeBuilder` compiles half a megabyte twice for each check.
 */
async function violationsOfColour(page: Page): Promise<Violation[]> {
  if (page.frames().length > 1) return (await builder(page).withRules(ofColour).analyze()).violations;
  return page.evaluate(async (values) => {
    const { axe } = window as unknown as {
      axe: { run(on: Document, options: object): Promise<{ violations: Violation[] }> };
    };
    const options = { resultTypes: ['violations'], runOnly: { type: 'rule', values } };
    const { violations } = await axe.run(document, options);
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
  }, ofColour);
}

function expectNone(violations: readonly Violation[], colorScheme: 'light' | 'dark'): void {
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found, `axe violations in ${colorScheme}`).toEqual([]);
}
