import { expect, type Page, test } from '@playwright/test';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { InstalledSdk } from '../support/installed-sdk.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** The SDK as installed: the packed tarball in an otherwise empty folder. */

let latchkey: Latchkey;
let admin: AdminApi;
let sdk: InstalledSdk;
let site: Served;
let application: Application;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  sdk = new InstalledSdk();
  site = await serve(() => sdk.listener);
  application = await Application.register(admin, latchkey, `${site.origin}/callback`, { mfaPolicy: 'OPTIONAL' });
});

test.afterAll(async () => {
  await site.close();
  sdk.remove();
  await latchkey.stop();
});

/** The README's page with this installation's values; imports the SDK from `from`. */
function readmePage(from: string): string {
  const page = /```html\n([\s\S]*?)```/.exec(sdk.readme)?.[1] ?? '';
  expect(page.trim().split('\n').length, 'lines of the complete page').toBeLessThanOrEqual(32);
  const filled = page
    .replace('https://cdn.example.com/@latchkey/browser/dist/index.js', from)
    .replace('lk_pk_…', application.publishableKey)
    .replace('https://id.example.com', latchkey.baseUrl);
  expect(filled).not.toContain('example.com');
  return filled;
}

/** Signs in on the README's page, and answers each prompt from the mail. */
async function signIn(page: Page, path: string, address: string): Promise<void> {
  const inbox = new Inbox(admin, address);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', async (dialog) => dialog.accept(await inbox.code()));
  await page.goto(`${site.origin}${path}`);
  for (let time = 0; time < 2; time++) {
    await page.getByLabel('E-mail').fill(address);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByRole('status')).toHaveText('SUCCESS: Done.');
    await page.reload();
  }
  expect(faults).toEqual([]);
}

test('the README’s page works as a plain module script', async ({ page }) => {
  sdk.write('plain.html', readmePage('/node_modules/@latchkey/browser/dist/index.js'));
  await signIn(page, '/plain.html', 'plain@example.com');
});

test('the README’s page works bundled by Vite', async ({ page }) => {
  sdk.write('index.html', readmePage('@latchkey/browser'));
  sdk.build();
  await signIn(page, '/dist/', 'bundled@example.com');
});
