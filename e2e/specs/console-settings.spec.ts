import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** Settings of a project: sessions, sign-in, messages. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  for (const name of ['ada', 'grace', 'alan']) {
    const input = { projectId, email: `${name}@example.com` };
    await admin.run('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', { input });
  }
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
  await latchkey.stop();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const project = async (fields: string) =>
  (await admin.run<{ project: object }>(`{ project(id: "${projectId}") { ${fields} } }`)).project;

test('the session policy explains its effect before saving', async () => {
  const { page } = owner;
  await page.goto(at('session-policy'));
  await page.getByLabel('Idle timeout', { exact: true }).fill('10');
  await expect(page.getByText(/at least every 10 minutes stay signed in for up to 8 hours/)).toBeVisible();
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await expect(bar).toContainText('Sessions idle for more than 10 minutes end at their next use.');
  await page.getByLabel('Access token lifetime', { exact: true }).fill('90');
  await expect(page.getByText('From 1 second to 1 hour')).toBeVisible();
  await page.getByLabel('Access token lifetime', { exact: true }).fill('10');
  await bar.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Session policy saved')).toBeVisible();
  expect(await project('idleTimeoutSeconds accessTokenTtlSeconds')).toEqual({
    idleTimeoutSeconds: 600,
    accessTokenTtlSeconds: 600,
  });
});

test('factors show the resulting flow and the affected users', async () => {
  const { page } = owner;
  await page.goto(at('sign-in'));
  await expect(page).toHaveURL(new RegExp('/factors$'));
  await page.getByLabel('Second factor', { exact: true }).getByRole('radio', { name: 'Required' }).check();
  await page.getByRole('checkbox', { name: 'Text message' }).uncheck();
  await expect(page.getByText('enrolled first: authenticator app or code by mail').first()).toBeVisible();
  await expect(page.getByText(/\d+ users? enrolls? a second factor at next sign-in/)).toBeVisible();
  await expect(page.getByText('Text message can no longer be enrolled; existing ones stay valid.')).toBeVisible();
  await page.getByRole('radio', { name: 'Provisioned only' }).check();
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  expect(await project('mfaPolicy signUp offeredFactors')).toEqual({
    mfaPolicy: 'REQUIRED',
    signUp: 'PROVISIONED_ONLY',
    offeredFactors: ['EMAIL', 'TOTP'],
  });
});

test('passkeys are turned off, and required after a preview', async () => {
  const { page } = owner;
  await page.goto(at('factors'));
  const flow = page.getByRole('heading', { name: "Any device with the user's passkey" });
  await expect(flow).toBeVisible();
  const passkeys = (name: string) => page.getByLabel('Passkeys', { exact: true }).getByRole('radio', { name });
  await passkeys('Off').check();
  await expect(flow).toHaveCount(0);
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await expect(bar).toContainText('Existing ones stay, and work again when turned on.');
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  expect(await project('passkeyPolicy')).toEqual({ passkeyPolicy: 'OFF' });
  // The page has read the saved project; a save before that would be a conflict.
  await expect(bar).toHaveCount(0);
  await passkeys('Required').check();
  await expect(bar).toContainText(/users? ha(s|ve) no passkey and creates? one at next sign-in/);
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await expect.poll(() => project('passkeyPolicy')).toEqual({ passkeyPolicy: 'REQUIRED' });
  await expect(bar).toHaveCount(0);
  await passkeys('Allowed').check();
  await button(page, 'Save changes').click();
  await expect.poll(() => project('passkeyPolicy')).toEqual({ passkeyPolicy: 'ALLOWED' });
});

test('factors store device and SMS limits, with country names', async () => {
  const { page } = owner;
  const required = `mutation { updateProject(input: { id: "${projectId}", mfaPolicy: REQUIRED }) { id } }`;
  await admin.run(required);
  await page.goto(at('factors'));
  await page.getByRole('switch', { name: 'Email counts as a second factor' }).check();
  await page.getByLabel('Trust ends after').fill('0');
  await expect(page.getByText('From 1 to 3,650')).toBeVisible();
  await page.getByLabel('Trust ends after').fill('90');
  await page.getByLabel('Allowed countries').fill('de, se QQ');
  await expect(page.getByText('Unknown code: QQ')).toBeVisible();
  await page.getByLabel('Allowed countries').fill('de, se');
  await page.getByLabel('Daily limit').fill('50');
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  for (const text of ['Germany (DE)', '90 days', 'Every country', '1,000']) await expect(bar).toContainText(text);
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  expect(await project('emailFactor deviceTrustDays smsCountries smsPerDay')).toEqual({
    emailFactor: true,
    deviceTrustDays: 90,
    smsCountries: ['DE', 'SE'],
    smsPerDay: 50,
  });
});

test('messages are tested, previewed, and found by recipient', async () => {
  const { page } = owner;
  await page.goto(at('messages/sending'));
  await page.getByLabel('Send the test to', { exact: true }).fill('somebody@example.com');
  await button(page, 'Test the mail server').click();
  await expect(page.getByText('Sent to somebody@example.com')).toBeVisible();
  await expect(page.getByText('kept in the dev mailbox, not sent')).toBeVisible();
  await page.getByRole('link', { name: 'Templates' }).click();
  await page.getByLabel('Message', { exact: true }).selectOption('New device');
  await page.getByLabel('Language', { exact: true }).selectOption('Deutsch');
  const subject = page.getByRole('heading', { name: /^Neues Gerät für/ });
  await expect(subject).toBeVisible();
  // Subject and body have the same name of the project.
  const project = (await subject.innerText()).replace(/^Neues Gerät für /, '');
  await expect(page.frameLocator('iframe').locator('body')).toContainText(project);
  await expect(page.frameLocator('iframe').getByText('Gerät: Firefox on Linux')).toBeVisible();
  await button(page, 'Send test').click();
  await expect(page.getByText(/^Sent to /)).toBeVisible();
  await page.getByRole('link', { name: 'Delivery log' }).click();
  await page.getByLabel('Search by recipient').fill('somebody@example.com');
  const table = page.getByRole('table', { name: 'Messages' });
  await expect(table.getByRole('row')).toHaveCount(2);
  await expect(table.getByText('s…@example.com')).toBeVisible();
});
