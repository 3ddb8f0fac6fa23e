import { expect, type Page } from '@playwright/test';
import { type AdminApi, codeIn } from './admin-api.ts';

/** Signs in on the hosted page of an unknown browser: address, then the code from the dev mailbox. */
export async function signInOnPage(page: Page, admin: AdminApi, address: string): Promise<void> {
  await page.getByLabel('Email address').fill(address);
  await continueWithCode(page, admin, address);
}

/** Signs in on a hosted page that already has the address. */
export async function continueWithCode(page: Page, admin: AdminApi, address: string): Promise<void> {
  const newest = async () => (await admin.messages(address))[0];
  const before = (await newest())?.id;
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expect.poll(async () => (await newest())?.id).not.toBe(before);
  await page.getByLabel('Six-digit code').fill(codeIn((await newest())?.text ?? ''));
}
