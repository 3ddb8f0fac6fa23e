import { expect, type Page } from '@playwright/test';
import { type AdminApi, codeIn } from './admin-api.ts';

/** Signs in on the hosted page of an unknown browser: address, then the code from the dev mailbox. */
export async function signInOnPage(page: Page, admin: AdminApi, address: string): Promise<void> {
  await page.getByLabel('Email address').fill(address);
  await continueWithCode(page, admin, address);
}

/** Signs in on a hosted page that already has the address. */
export async function continueWithCode(page: Page, admin: AdminApi, address: string): Promise<void> {
  const before = (await admin.mailbox(address)).length;
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expect.poll(async () => (await admin.mailbox(address)).length).toBeGreaterThan(before);
  const [newest] = await admin.mailbox(address);
  await page.getByLabel('Six-digit code').fill(codeIn(newest as string));
}
