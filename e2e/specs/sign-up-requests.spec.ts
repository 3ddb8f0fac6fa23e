import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { visitConsole } from '../support/console.ts';
import { alert, HostedPage, proveAddress, titled } from '../support/hosted-page.ts';

/** Sign-up that an admin approves: a person asks, an admin decides, the person signs in (decisions/0351). */

const hosted = HostedPage.ofTests();

test('a person asks to sign up, an admin approves by keyboard, and the person signs in', async ({ browser, page }) => {
  const application = await hosted.register();
  const { projectId } = application;
  const owner = await visitConsole(browser, hosted.latchkey, hosted.admin, {
    email: 'approver@example.com',
    role: 'OWNER',
  });
  const settings = `${hosted.latchkey.baseUrl}/admin/projects/${projectId}`;
  await owner.page.goto(`${settings}/factors`);
  await owner.page.getByRole('radio', { name: 'With approval' }).check();
  await owner.page.getByRole('button', { name: 'Save changes', exact: true }).click();
  await expect(owner.page.getByText('Saved', { exact: true })).toBeVisible();
  await expectAccessible(owner.page);

  const inbox = new Inbox(hosted.admin, 'newcomer@example.com');
  await hosted.begin(page, application);
  await proveAddress(page, inbox);
  await expect(alert(page)).toHaveText('Request sent. You get a mail once approved.');
  await titled(page, 'Sign in to Shop');
  await expectAccessible(page);

  await owner.page.goto(`${settings}/users`);
  await owner.page.getByRole('link', { name: 'Review requests' }).click();
  await expectAccessible(owner.page);
  await owner.page.getByRole('button', { name: 'Approve newcomer@example.com' }).focus();
  await owner.page.keyboard.press('Enter');
  await expect(owner.page.getByText('newcomer@example.com can sign in')).toBeVisible();
  await expect(owner.page.getByText('No one waits')).toBeVisible();
  await expectAccessible(owner.page);
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();

  await expect
    .poll(() => hosted.admin.mailbox(inbox.address))
    .toContainEqual(expect.stringContaining('approved your request'));
  const claims = await hosted.begin(page, application);
  await proveAddress(page, inbox);
  expect((await claims()).email).toBe(inbox.address);
});
