import { type Browser, expect, type Locator, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Application, Inbox } from '../support/application.ts';
import { tabTo, visitConsole } from '../support/console.ts';
import { HostedPage, proveAddress } from '../support/hosted-page.ts';
import { redPng } from '../support/picture.ts';

/** People open their applications and delete their account, by keyboard, on a phone (decisions/0354). */

const hosted = HostedPage.ofTests();

/** A person at their account page. */
async function atTheirAccount(page: Page, application: Application, address: string): Promise<Inbox> {
  const inbox = new Inbox(hosted.admin, address);
  const claims = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await claims();
  await page.goto(`${hosted.latchkey.baseUrl}/account?project=${application.projectId}`);
  return inbox;
}

async function enter(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

/** Asks for the deletion, up to the next page. */
async function askToDelete(page: Page): Promise<void> {
  await enter(page, page.locator('summary', { hasText: 'Delete account' }));
  await expectAccessible(page);
  await enter(page, page.getByRole('button', { name: 'Delete my account', exact: true }));
}

async function cancelByMail(browser: Browser, inbox: Inbox): Promise<void> {
  const mail = async () =>
    (await hosted.admin.mailbox(inbox.address)).find((text) => text.includes('/account/deletion'));
  await expect.poll(mail).toBeDefined();
  const link = /https?:\/\/\S+\/account\/deletion\S+/.exec((await mail()) ?? '')?.[0] ?? '';
  const stranger = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await stranger.newPage();
  await page.goto(link);
  await expectAccessible(page);
  await enter(page, page.getByRole('button', { name: 'Keep my account' }));
  await expect(page.getByRole('heading', { name: 'Your account stays' })).toBeVisible();
  await expectAccessible(page);
  await stranger.close();
}

test('an admin uploads a logo; a person finds the application by it, and opens it by keyboard', async ({
  browser,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const application = await hosted.register({ name: 'Wiki' });
  const owner = await visitConsole(browser, hosted.latchkey, hosted.admin, {
    email: 'painter@example.com',
    role: 'OWNER',
  });
  const { clientId, projectId } = application;
  await owner.page.goto(`${hosted.latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}/settings`);
  const chosen = owner.page.waitForEvent('filechooser');
  await owner.page.getByRole('button', { name: 'Upload: Logo' }).press('Enter');
  await (await chosen).setFiles({ name: 'logo.png', mimeType: 'image/png', buffer: redPng() });
  await expect(owner.page.getByRole('img', { name: 'Logo preview' })).toBeVisible();
  await owner.page.getByLabel('Start address').fill(`${hosted.latchkey.baseUrl}/demo`);
  await expectAccessible(owner.page);
  await owner.page.getByRole('button', { name: 'Save changes', exact: true }).press('Enter');
  await expect(owner.page.getByText('Saved', { exact: true })).toBeVisible();
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();

  await atTheirAccount(page, application, 'visitor@example.com');
  const link = page.getByRole('link', { name: 'Wiki', exact: true });
  await expect(link.locator('img')).toHaveJSProperty('naturalWidth', 32);
  await expectAccessible(page);
  await enter(page, link);
  await page.waitForURL(/\/demo/);
});

test('a person deletes the account; an admin sees it; the link of the mail cancels it; without a waiting time it is gone', async ({
  browser,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const application = await hosted.register({ accountDeletionDays: 14 });
  const inbox = await atTheirAccount(page, application, 'leaver@example.com');
  await askToDelete(page);
  const pending = page.getByRole('heading', { name: 'Your account will be deleted' });
  await expect(pending).toBeVisible();
  await expectAccessible(page);

  const owner = await visitConsole(browser, hosted.latchkey, hosted.admin, {
    email: 'keeper@example.com',
    role: 'OWNER',
  });
  await owner.page.goto(`${hosted.latchkey.baseUrl}/admin/projects/${application.projectId}/users`);
  await owner.page.getByRole('link', { name: inbox.address }).first().click();
  await expect(owner.page.getByText('The user asked for it on the account page.')).toBeVisible();
  await expectAccessible(owner.page);
  await owner.page.getByRole('button', { name: 'Cancel deletion' }).press('Enter');
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Cancel deletion' }).press('Enter');
  await expect(owner.page.getByText('Deletion cancelled')).toBeVisible();
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();

  await page.reload();
  await expect(pending).toHaveCount(0);
  await askToDelete(page);
  await expect(pending).toBeVisible();
  await cancelByMail(browser, inbox);
  await page.reload();
  await expect(pending).toHaveCount(0);

  await application.set({ accountDeletionDays: 0 });
  await page.reload();
  await askToDelete(page);
  await expect(page.getByRole('heading', { name: 'Your account is deleted' })).toBeVisible();
  await expectAccessible(page);
  await page.goto(`${hosted.latchkey.baseUrl}/account`);
  await expect(page.getByRole('heading', { name: 'You are not signed in' })).toBeVisible();
  await expect
    .poll(() => hosted.admin.mailbox(inbox.address))
    .toContainEqual(expect.stringContaining('have been deleted'));
});
