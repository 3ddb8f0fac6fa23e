import { expect, type Page, test } from '@playwright/test';
import { AdminApi, codeIn } from '../support/admin-api.ts';
import { issuedSecret, visitConsole } from '../support/console.ts';
import { openDatabase } from '../support/database.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { continueWithCode, signInOnPage } from '../support/sign-in.ts';

/** The console signs in through Latchkey itself, and keeps unsaved input. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
});

test.afterAll(() => latchkey.stop());

/** Signs in again in the popup: with one click on a trusted browser after the session has ended, else with a code. */
async function signInAgain(page: Page, freshAddress?: string): Promise<void> {
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  const popup = await opened;
  const closed = popup.waitForEvent('close');
  if (freshAddress === undefined) await popup.getByRole('button', { name: 'Continue' }).click();
  else await continueWithCode(popup, admin, freshAddress);
  await closed;
}

test('the setup link makes its holder an owner in the console', async ({ page }) => {
  const link = /http:\S+\/setup\?token=\S+/.exec(latchkey.output())?.[0] as string;
  await page.goto(link);
  await page.getByLabel(/mail/i).fill('frist@example.com');
  await page.getByRole('button').first().click();
  // The address is asked for once.
  const field = page.getByLabel('Six-digit code');
  await expect(field).toBeFocused();
  // Back leads to the page that asked for it.
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Set up Latchkey' })).toBeVisible();
  await page.getByLabel(/mail/i).fill('first@example.com');
  await page.getByRole('button').first().click();
  await expect(field).toBeFocused();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Open the dev mailbox' }).click();
  const mailbox = await opened;
  await expect(mailbox.getByRole('heading', { name: 'Dev mailbox' })).toBeVisible();
  await mailbox.close();
  await expect(field).toBeFocused();
  await expect.poll(async () => (await admin.mailbox('first@example.com')).length).toBe(1);
  await page.reload();
  // The code that was sent still works.
  await expect(field).toBeFocused();
  await field.fill(codeIn((await admin.mailbox('first@example.com'))[0] ?? ''));
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
  await page.getByRole('button', { name: 'I’ve saved these codes' }).click();
  await expect(page).toHaveURL(/\/admin/);
  await page.getByRole('button', { name: 'Account: first@example.com' }).click();
  await expect(page.getByText('Owner', { exact: true })).toBeVisible();
  // The terminal of a first start shows only what its reader needs.
  expect(latchkey.output()).not.toContain('Deprecation');
});

test('sign-in returns to the requested page', async ({ browser }) => {
  const path = `/admin/projects/${projectId}/events?group=people&result=FAILURE`;
  const { page, context } = await visitConsole(
    browser,
    latchkey,
    admin,
    { email: 'b@example.com', role: 'OWNER' },
    path,
  );
  await expect(page).toHaveURL(latchkey.baseUrl + path);
  await expect(page.getByLabel('Result')).toHaveValue('FAILURE');
  await context.close();
});

test('an expired session is renewed in a popup, and the change is made', async ({ browser }) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, { email: 'c@example.com', role: 'OWNER' });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/settings`);
  await page.getByLabel('Name').fill('Acme renewed');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('dialog', { name: 'You have been signed out' })).toBeVisible();
  await signInAgain(page);
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Name')).toHaveValue('Acme renewed');
  await context.close();
});

test('events are not exported in the session of another account', async ({ browser }) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, {
    email: 'events@example.com',
    role: 'OWNER',
  });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/events`);
  await expect(page.getByRole('button', { name: 'Export' })).toBeEnabled();
  const other = { email: 'later@example.com', role: 'OWNER' } as const;
  const second = await visitConsole(browser, latchkey, admin, other);
  await context.addCookies(await second.context.cookies());
  await second.context.close();
  let downloads = 0;
  page.on('download', () => {
    downloads += 1;
  });
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: /^CSV/ }).click();
  await expect(page.getByRole('dialog', { name: 'You have been signed out' })).toBeVisible();
  await page.getByRole('button', { name: 'Not now' }).click();
  await expect(page.getByText('Nothing was exported. Sign in again first.')).toBeVisible();
  expect(downloads).toBe(0);
  await context.close();
});

test('another account in the same browser gets a new page, without the unsaved changes of the first', async ({
  browser,
}) => {
  const one = { email: 'one@example.com', role: 'OWNER' } as const;
  const { page, context } = await visitConsole(browser, latchkey, admin, one);
  const hidden = await admin.createProject('Not for other');
  await page.goto(`${latchkey.baseUrl}/admin/projects/${hidden}/overview`);
  await expect(page.getByRole('button', { name: 'Project: Not for other' })).toBeVisible();
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/settings`);
  const name = page.getByLabel('Name');
  const before = await name.inputValue();
  await name.fill('Typed by one');

  const other = { email: 'other@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  await admin.run('mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }', { input: other });
  const tab = await context.newPage();
  await tab.goto(`${latchkey.baseUrl}/admin/sign-in?fresh`);
  await tab.getByRole('button', { name: 'Not you?' }).click();
  await signInOnPage(tab, admin, other.email);
  await tab.waitForURL(/\/admin\/signed-in/);

  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('dialog', { name: 'You have been signed out' })).toBeVisible();
  page.once('dialog', (dialog) => void dialog.accept());
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await opened;
  await expect(page.getByRole('button', { name: `Account: ${other.email}` })).toBeVisible();
  await expect(name).toHaveValue(before);
  await expect(name).toBeDisabled();
  await page.getByRole('button', { name: /^Project:/ }).click();
  await expect(page.getByText('All projects (1)')).toBeVisible();
  await expect(page.getByText('Not for other')).toHaveCount(0);
  await context.close();
});

test('the home page leads to a project that exists', async ({ browser }) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, { email: 'g@example.com', role: 'OWNER' });
  const id = await admin.createProject('Short-lived');
  await page.goto(`${latchkey.baseUrl}/admin/projects/${id}/overview`);
  await expect(page.getByRole('button', { name: 'Project: Short-lived' })).toBeVisible();
  const input = { id, confirmName: 'Short-lived' };
  await admin.run('mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { users } }', { input });
  await page.goto(`${latchkey.baseUrl}/admin`);
  await expect(page.getByRole('alert')).toContainText('Project not found');
  await page.goto(`${latchkey.baseUrl}/admin`);
  await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible();
  await context.close();
});

test('a page opened after the session has ended is retried, and loads after sign-in in a popup', async ({
  browser,
}) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, { email: 'f@example.com', role: 'OWNER' });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/overview`);
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await context.clearCookies();
  await page.getByRole('link', { name: 'Groups', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'You have been signed out' });
  await expect(dialog).toBeVisible();
  await dialog.getByRole('button', { name: 'Not now' }).click();
  await expect(page.getByRole('alert')).toContainText('failed to load');
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(dialog).toBeVisible();
  await signInAgain(page);
  await expect(page.getByRole('heading', { name: 'No groups yet' })).toBeVisible();
  await context.close();
});

test('a sensitive change requires a code after a device-only sign-in, and is then made', async ({ browser }) => {
  const email = 'd@example.com';
  const { page, context } = await visitConsole(browser, latchkey, admin, { email, role: 'OWNER' });
  await page.goto(`${latchkey.baseUrl}/admin/team`);
  await page.getByRole('button', { name: 'Issue token' }).click();
  await page.getByLabel('Name').fill('CI');
  // Sign in again with the device key alone: a session without a fresh proof.
  await context.clearCookies();
  await page.getByRole('dialog').getByRole('button', { name: 'Issue token' }).click();
  await expect(page.getByRole('dialog', { name: 'You have been signed out' })).toBeVisible();
  await signInAgain(page);
  await expect(page.getByRole('dialog', { name: 'Confirm your identity' })).toBeVisible();
  await signInAgain(page, email);
  await expect(issuedSecret(page, 'admin')).toBeVisible();
  await context.close();
});

test('an export asks for a sign-in above its own dialog, once, even if the clock of the browser is ahead', async ({
  browser,
}) => {
  const email = 'exporter@example.com';
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  await admin.run(create, { input: { projectId, email: 'ada@example.com', invite: false } });
  const { page, context } = await visitConsole(browser, latchkey, admin, { email, role: 'OWNER' });
  const database = await openDatabase(latchkey);
  await database.query("update sessions set fresh_at = now() - interval '1 hour'");
  await database.end();
  await page.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + 3_600_000;
  });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/users`);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export 1 user' });
  const prompt = page.getByRole('dialog', { name: 'Confirm your identity' });
  const start = dialog.getByRole('button', { name: 'Export' });
  await start.press('Enter');
  await expect(prompt.getByRole('button', { name: 'Sign in again' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(prompt).toBeHidden();
  await expect(dialog.getByRole('alert')).toContainText('Nothing was exported');
  await expect(start).toBeFocused();
  await start.click();
  await prompt.getByRole('button', { name: 'Not now' }).click();
  await start.click();
  await expect(prompt).toBeVisible();
  const download = page.waitForEvent('download');
  await signInAgain(page, email);
  expect((await download).suggestedFilename()).toMatch(/^users-.*\.csv$/);
  await expect(dialog).toBeHidden();
  await expect(prompt).toBeHidden();
  await context.close();
});

test('an account without a role gets a message, and can switch accounts', async ({ browser }) => {
  const email = 'former@example.com';
  const query = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
  const input = { email, role: 'PROJECT_VIEWER', projectId };
  const { grantRole } = await admin.run<{ grantRole: { id: string } }>(query, { input });
  await admin.run(`mutation { revokeRole(id: "${grantRole.id}") }`);
  const { page, context } = await visitConsole(browser, latchkey, admin, { email });
  await expect(page.getByRole('heading', { name: 'No role yet' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Use another account' })).toBeVisible();
  await context.close();
});

test('a page that opens the console has no reference to its window', async ({ browser }) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, { email: 'h@example.com', role: 'OWNER' });
  await page.goto('about:blank');
  const opened = page.waitForEvent('popup');
  const handle = await page.evaluateHandle((address) => window.open(address), `${latchkey.baseUrl}/admin/projects`);
  const popup = await opened;
  await expect(popup.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible();
  expect(await handle.evaluate((opener) => opener?.closed)).toBe(true);
  await context.close();
});

test('signing out ends the session', async ({ browser }) => {
  const { page, context } = await visitConsole(browser, latchkey, admin, { email: 'e@example.com', role: 'OWNER' });
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.goto(`${latchkey.baseUrl}/admin`);
  await expect(page).toHaveURL(/\/signin/);
  await context.close();
});
