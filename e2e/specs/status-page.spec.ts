import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

let latchkey: Latchkey;

test.beforeAll(async () => {
  latchkey = await startLatchkey({ STATUS_PAGE: 'true' });
});

test.afterAll(() => latchkey.stop());

test('the status page works without a script, in light and dark, on a phone and by keyboard', async ({ browser }) => {
  const page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.goto(`${latchkey.baseUrl}/status`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('All services are working');
  await expect(page.getByRole('listitem')).toHaveText([
    /Sign-in.*Working/s,
    /Email.*Working/s,
    /Directory sync.*Working/s,
  ]);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Check again' })).toBeFocused();
  await page.close();
  const scripted = await browser.newPage();
  await scripted.goto(`${latchkey.baseUrl}/status`);
  await expectAccessible(scripted);
  await scripted.close();
});
