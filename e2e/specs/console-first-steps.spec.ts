import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { issuedSecret, tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** A new project in the console: pages name what is missing, and nothing is lost or hidden on the way. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  owner = await visitConsole(browser, latchkey, admin, { email: 'steps@example.com', role: 'OWNER' });
});

test.beforeEach(async () => {
  projectId = await admin.createProject('Bare');
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('empty lists of users and groups offer to add one, before a directory', async () => {
  const { page } = owner;
  for (const [path, empty, verb] of [
    ['users', 'No users yet', 'Add user'],
    ['groups', 'No groups yet', 'Create group'],
  ] as const) {
    await page.goto(at(path));
    const section = page.getByRole('main').locator('section').filter({ hasText: empty });
    await expect(section.getByRole('button').or(section.getByRole('link'))).toHaveText([verb, 'Connect a directory']);
    await section.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: verb })).toBeVisible();
    await page.keyboard.press('Escape');
  }
});

test('a project without an application offers to create one, instead of an invitation that is refused', async () => {
  const { page } = owner;
  await page.goto(at('users'));
  await button(page, 'Add user').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('ada@example.com');
  const invitation = dialog.getByRole('checkbox', { name: 'Send an invitation' });
  await expect(invitation).toBeDisabled();
  await expect(dialog.getByText('Needs an application in the project')).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Add user' }).click();
  const section = page.getByRole('region', { name: 'Invitation' });
  await expect(section.getByRole('button', { name: 'Send invitation' })).toBeDisabled();
  await section.getByRole('link', { name: 'Create application' }).click();
  await expect(page.getByRole('heading', { name: 'Create application' })).toBeVisible();
  await admin.createClient({ projectId, name: 'Portal', redirectUris: [] });
  await page.goBack();
  await page.reload();
  await section.getByRole('button', { name: 'Send invitation' }).click();
  await expect(page.getByText('Invitation sent to ada@example.com')).toBeVisible();
});

test('a field without anything to search explains that, and opens no list over the buttons', async () => {
  const { page } = owner;
  const create = 'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }';
  const input = { projectId, displayName: 'Staff' };
  const { id } = (await admin.run<{ createGroup: { id: string } }>(create, { input })).createGroup;
  await page.goto(at(`groups/${id}`));
  await button(page, 'Add member').first().click();
  const dialog = page.getByRole('dialog', { name: 'Add member' });
  await expect(dialog.getByText('No users yet')).toBeVisible();
  await dialog.getByLabel('User').first().click();
  await expect(page.getByRole('option')).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.type('ada');
  await expect(page.getByRole('option')).toHaveText('No matching users');
});

test('leaving keys that are shown once asks first, until they are copied', async () => {
  const { page } = owner;
  await page.goto(at('applications/new'));
  await page.getByLabel('Name', { exact: true }).fill('Grafana');
  await page.getByRole('radio', { name: /^Web server/ }).check();
  await button(page, 'Continue').click();
  await button(page, 'Create application').click();
  const keys = page.getByRole('region', { name: 'Its keys' });
  await expect(issuedSecret(keys, 'cs')).toBeVisible();
  const leave = page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Applications' });
  await leave.focus();
  await page.keyboard.press('Enter');
  const warning = page.getByRole('dialog', { name: 'Leave without saving?' });
  await expect(warning).toContainText('Shown only once: client secret.');
  await expectAccessible(page);
  await expect(warning.getByRole('button', { name: 'Stay' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(warning).toBeHidden();
  await expect(issuedSecret(keys, 'cs')).toBeVisible();

  const question = page.waitForEvent('dialog');
  void page.close({ runBeforeUnload: true });
  const dialog = await question;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();

  await keys.getByRole('button', { name: 'Copy Client secret' }).click();
  await leave.click();
  await expect(page.getByRole('heading', { name: 'Applications', level: 1 })).toBeVisible();
});

test('the bar of unsaved changes does not cover the field with the focus, also while it appears and grows', async () => {
  const { page } = owner;
  const { clientId } = await admin.createClient({ projectId, name: 'Shop', redirectUris: [] });
  await page.goto(at(`applications/${clientId}/settings`));
  const start = page.getByLabel('Start address');
  await expect(start).toBeVisible();
  // At the lower edge of the window, where the bar appears.
  await start.evaluate((field) => {
    window.scrollBy(0, field.getBoundingClientRect().bottom - innerHeight + 8);
    field.focus({ preventScroll: true });
  });
  await page.keyboard.type('https://shop.example.com/');
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toBeVisible();
  const isCovered = () =>
    page.evaluate(() => {
      const { left, bottom } = (document.activeElement as Element).getBoundingClientRect();
      return document.elementFromPoint(left + 4, bottom - 2) !== document.activeElement;
    });
  await expect.poll(isCovered).toBe(false);
  await tabTo(page, page.getByRole('switch', { name: 'Require PKCE for SDK sign-in' }));
  await page.keyboard.press('Space');
  await expect.poll(isCovered).toBe(false);
});
