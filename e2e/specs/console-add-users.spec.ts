import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Adding users in the console: one by one with an invitation, and from a CSV file. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;

test.beforeAll(async () => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  await admin.createClient({ projectId, name: 'Portal', redirectUris: ['https://app.example.com/callback'] });
  const query = 'mutation ($input: CreateCustomAttributeInput!) { createCustomAttribute(input: $input) { name } }';
  await admin.run(query, { input: { projectId, name: 'team', type: 'STRING' } });
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const file = [
  'E-mail;First name;Team;Remark',
  ...Array.from({ length: 620 }, (_, n) => `user-${n}@example.com;User ${n};Blue;-`),
  '"broken@example.com;Broken;Red;-',
  'nobody;Nobody;Red;-',
  'user-3@example.com;Again;Red;-',
  'last@example.com;Last;Green;-',
].join('\r\n');

test('a project admin adds, invites and imports users, by keyboard where it matters', async ({ browser }) => {
  const who = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(at('users'));
  await button(page, 'Add user').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('ada@example.com');
  await dialog.getByLabel('Language').fill('de');
  await expectAccessible(page);
  await button(page, 'Invite user').click();
  await expect(page.getByText('Not signed in yet')).toBeVisible();
  await expect(page.locator('header').getByText('Invited', { exact: true })).toBeVisible();
  await button(page, 'Send again').click();
  await expect(page.getByText('Invitation sent to ada@example.com')).toBeVisible();
  await page.goto(at('messages'));
  await expect(page.locator('main li, main tr').getByText('Invitation', { exact: true }).first()).toBeVisible();

  await page.goto(at('users'));
  await page.getByRole('link', { name: 'Import', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Import users' })).toBeVisible();
  const csv = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file, 'latin1') };
  await page.locator('input[type=file]').setInputFiles(csv);
  await expect(page.getByText('people.csv: 624 lines, 4 columns')).toBeVisible();
  await expect(page.getByLabel('Attribute of E-mail')).toHaveValue('email');
  await expect(page.getByLabel('Attribute of First name')).toHaveValue('givenName');
  await expect(page.getByLabel('Attribute of Team')).toHaveValue('custom.team');
  await expect(page.getByLabel('Attribute of Remark')).toHaveValue('');
  await expectAccessible(page);

  await tabTo(page, button(page, 'Check'));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Nothing was changed.')).toBeVisible();
  await expect(page.getByText('624 of 624 lines checked')).toBeVisible();
  await tabTo(page, button(page, 'Import 622 users'));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Result', exact: true })).toBeVisible();
  const facts = page.getByRole('region', { name: 'Result' }).locator('dl');
  await expect(facts).toHaveText(/Added621.*Already exist0.*Refused3/s);
  const refused = page.getByRole('table', { name: 'Refused lines' });
  await expect(refused.getByRole('row', { name: /622.*quotation mark/ })).toBeVisible();
  await expect(refused.getByRole('row', { name: /623.*Email address.*Must be an email address/ })).toBeVisible();
  await expect(refused.getByRole('row', { name: /624.*Repeats line 5/ })).toBeVisible();
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download report').click()]);
  const report = readFileSync(await download.path(), 'utf8').split('\r\n');
  expect(report[0]).toBe('"line","attribute","reason","E-mail","First name","Team","Remark"');
  expect(report[2]).toBe('"623","Email address","Must be an email address","nobody","Nobody","Red","\'-"');
  await expectAccessible(page);
  // The same file again adds no user.
  await button(page, 'Import 622 users').click();
  await expect(facts).toHaveText(/Added0.*Already exist621.*Refused3/s);
  await page.getByRole('link', { name: 'Show users' }).click();
  await expect(page.getByText('622 users')).toBeVisible();

  await page.getByRole('searchbox', { name: 'Search users' }).fill('ada@');
  await page.getByRole('link', { name: 'ada@example.com' }).first().click();
  await button(page, 'Revoke').click();
  await button(page, 'Revoke invitation').click();
  await expect(page.getByText('This user cannot sign in')).toBeVisible();
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('a viewer sees who is invited, and can neither add, invite nor import', async ({ browser }) => {
  const input = { projectId, email: 'grace@example.com', invite: true };
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const { createUser } = await admin.run<{ createUser: { id: string } }>(create, { input });
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(at('users'));
  await expect(page.getByRole('link', { name: 'grace@example.com' })).toBeVisible();
  await expect(button(page, 'Add user')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Import', exact: true })).toHaveCount(0);
  await page.goto(at(`users/${createUser.id}`));
  await expect(page.getByText('Not signed in yet')).toBeVisible();
  await expect(button(page, 'Send again')).toHaveCount(0);
  await expect(button(page, 'Revoke')).toHaveCount(0);
  await page.goto(at('users/import'));
  await expect(page.getByText('Only project admins import users')).toBeVisible();
  await expect(page.locator('input[type=file]')).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('an action on all matching users runs page by page, after a preview of their number', async ({ browser }) => {
  const importing = 'mutation ($input: ImportUsersInput!) { importUsers(input: $input) { created } }';
  const rows = Array.from({ length: 130 }, (_, n) => ({ email: `crew-${n}@fleet.example` }));
  await admin.run(importing, { input: { projectId, invite: false, dryRun: false, rows } });
  const who = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(at('users?search=fleet.example'));
  await expect(page.getByText('1–50 of 130 users')).toBeVisible();
  // Until the next rows arrive, rows and range are those of the previous page.
  const arrived = Promise.withResolvers<void>();
  await page.route('**/admin/graphql', async (route) => {
    if (route.request().postData()?.includes('"after":"')) await arrived.promise;
    await route.continue();
  });
  await button(page, 'Next page').click();
  await expect(page).toHaveURL(/from=51/);
  await expect(page.getByText('1–50 of 130 users')).toBeVisible();
  arrived.resolve();
  await expect(page.getByText('51–100 of 130 users')).toBeVisible();
  await page.unroute('**/admin/graphql');
  await button(page, 'Next page').click();
  await expect(page.getByText('101–130 of 130 users')).toBeVisible();
  await expect(button(page, 'Next page')).toBeDisabled();
  await button(page, 'Previous page').click();
  await expect(page.getByText('51–100 of 130 users')).toBeVisible();
  await page.goBack();
  await expect(page.getByText('101–130 of 130 users')).toBeVisible();
  await button(page, 'First page').click();
  await expect(page.getByText('1–50 of 130 users')).toBeVisible();
  for (const name of ['First page', 'Previous page']) await expect(button(page, name)).toBeDisabled();
  await page.getByLabel('Select all on this page').check();
  await button(page, 'Select all 130 that match').click();
  await expect(page.getByText('All 130 matching users selected')).toBeVisible();
  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deactivate: 130 users?' });
  await expect(dialog).toContainText('All users that match “fleet.example”.');
  await expectAccessible(page);

  // The number differs from the confirmed one: nothing happens until the new one is confirmed.
  await admin.run(importing, {
    input: { projectId, invite: false, dryRun: false, rows: [{ email: 'late@fleet.example' }] },
  });
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByText('Nothing was changed: 131 users match now, not 130.')).toBeVisible();
  const again = page.getByRole('dialog', { name: 'Deactivate: 131 users?' });
  await again.getByRole('button', { name: 'Deactivate' }).click();
  const result = page.getByRole('dialog', { name: 'Deactivate: 131 users' });
  await expect(result.getByText('Finished')).toBeVisible();
  await expect(result).toContainText('Done131');
  await expectAccessible(page);
  await result.getByRole('button', { name: 'Close' }).last().click();
  const left = '{ users(projectId: "%", search: "fleet.example", filter: { active: true }) { totalCount } }';
  expect(await admin.run(left.replace('%', projectId))).toEqual({ users: { totalCount: 0 } });
  await expect(page.getByRole('region', { name: 'Selected users' })).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});
