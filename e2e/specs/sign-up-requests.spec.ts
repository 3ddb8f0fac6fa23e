import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Inbox } from '../support/application.ts';
import { tabTo, visitConsole } from '../support/console.ts';
import { alert, enterAddress, HostedPage, proveAddress, titled } from '../support/hosted-page.ts';

/** Sign-up that an admin approves: a person asks, an admin decides, the person signs in (decisions/0351). */

const hosted = HostedPage.ofTests();

test('an admin opens sign-up to a domain and to approved people, by keyboard; a person of the domain signs up', async ({
  browser,
  page,
}) => {
  const application = await hosted.register();
  const owner = await visitConsole(browser, hosted.latchkey, hosted.admin, {
    email: 'doorkeeper@example.com',
    role: 'OWNER',
  });
  const { keyboard } = owner.page;
  const save = async () => {
    await tabTo(owner.page, owner.page.getByRole('button', { name: 'Save changes', exact: true }));
    await keyboard.press('Enter');
    await expect(owner.page.getByText('Saved', { exact: true })).toBeVisible();
  };
  await owner.page.goto(`${hosted.latchkey.baseUrl}/admin/projects/${application.projectId}/factors`);
  await tabTo(owner.page, owner.page.getByRole('radio', { name: 'Open', exact: true }));
  await keyboard.press('ArrowDown');
  await expect(owner.page.getByRole('radio', { name: 'Certain domains' })).toBeChecked();
  await expect(owner.page.getByText('Without a domain, no one can sign up.')).toBeVisible();
  await tabTo(owner.page, owner.page.getByLabel('Domains that may sign up'));
  await keyboard.type('harbor.example, *.harbor.example');
  await tabTo(owner.page, owner.page.getByLabel('Block disposable addresses'));
  await keyboard.press('Space');
  await expectAccessible(owner.page);
  await save();

  const member = new Inbox(hosted.admin, 'mate@crew.harbor.example');
  const claims = await hosted.begin(page, application);
  await proveAddress(page, member);
  expect((await claims()).email).toBe(member.address);
  const stranger = await browser.newPage();
  await hosted.begin(stranger, application);
  await enterAddress(stranger, 'stranger@example.com');
  await titled(stranger, 'Check your email');
  expect(await hosted.admin.mailbox('stranger@example.com')).toEqual([]);
  await stranger.close();

  await owner.page.reload();
  await tabTo(owner.page, owner.page.getByRole('radio', { name: 'Certain domains' }));
  await keyboard.press('ArrowDown');
  await expect(owner.page.getByRole('radio', { name: 'With approval' })).toBeChecked();
  await tabTo(owner.page, owner.page.getByLabel('Mail admins about requests'));
  await keyboard.press('Space');
  await tabTo(owner.page, owner.page.getByLabel('Requests expire after'));
  await keyboard.press('Control+A');
  await keyboard.type('7');
  await expectAccessible(owner.page);
  await save();
  await owner.page.reload();
  await expect(owner.page.getByLabel('Requests expire after')).toHaveValue('7');
  await expect(owner.page.getByLabel('Mail admins about requests')).not.toBeChecked();
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

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
  await expect(owner.page.getByText('No open requests')).toBeVisible();
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
