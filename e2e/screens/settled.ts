import { expect, type Page } from '@playwright/test';

/** For a busy machine. */
const settling = { timeout: 30_000 };

/** Waits until the page has its heading and no pending requests. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('main :is(h1, h2, h3)').first()).toBeVisible(settling);
  await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0, settling);
  await page.waitForTimeout(150);
}
