import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { chooseByKeyboard, tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Troubleshooting, and previews of sign-ins, for an admin and a viewer, by keyboard alone. */

let latchkey: Latchkey;
let projectId: string;
let owner: Visit;
let viewer: Visit;
let clientId: string;
let requestId: string;
let userId: string;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const redirectUris = ['https://app.example.com/callback'];
  ({ clientId } = await admin.createClient({ projectId, name: 'Portal', redirectUris }));
  const wrong = new URLSearchParams({ client_id: clientId, redirect_uri: 'https://app.example.com/other' });
  const refused = await fetch(`${latchkey.baseUrl}/authorize?${wrong}`, { redirect: 'manual' });
  requestId = refused.headers.get('x-request-id') ?? '';
  const required = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(required, { input: { id: projectId, mfaPolicy: 'REQUIRED' } });
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const ada = { projectId, email: 'ada@example.com', givenName: 'Ada', familyName: 'Lovelace', invite: false };
  ({ id: userId } = (await admin.run<{ createUser: { id: string } }>(create, { input: ada })).createUser);
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  viewer = await visitConsole(browser, latchkey, admin, {
    email: 'viewer@example.com',
    role: 'PROJECT_VIEWER',
    projectId,
  });
});

test.afterAll(async () => {
  for (const { browserErrors, context } of [owner, viewer]) {
    expect(browserErrors).toEqual([]);
    await context.close();
  }
});

for (const role of ['admin', 'viewer'] as const) {
  test(`a user's sign-in at an application is predicted: ${role}`, async () => {
    const { page } = role === 'admin' ? owner : viewer;
    await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/users/${userId}`);
    const section = page.getByRole('region', { name: 'View as user' });
    await tabTo(page, section.getByRole('button', { name: 'Preview' }));
    await page.keyboard.press('Enter');
    const application = section.getByRole('combobox', { name: 'Application' });
    await expect(application).toBeVisible();
    await tabTo(page, application);
    await page.keyboard.type('Portal');
    await chooseByKeyboard(page, 'Portal');
    const browser = section.getByRole('region', { name: 'In a new browser' });
    await expect(browser.getByRole('listitem')).toHaveText([
      /^Code by mail/,
      /^Set up a second factor \(/,
      'Signed in',
    ]);
    await expect(browser).toContainText('A second factor is required');
    await expectAccessible(page);
  });

  test(`a support code leads to the refusal and its remedy: ${role}`, async () => {
    const { page } = role === 'admin' ? owner : viewer;
    await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/events`);
    await tabTo(page, page.getByRole('link', { name: 'Troubleshoot a sign-in' }));
    await page.keyboard.press('Enter');
    const field = page.getByRole('textbox', { name: 'Address, request ID or OAuth error' });
    await tabTo(page, field);
    await page.keyboard.type(`Support code: ${requestId}`);
    await page.keyboard.press('Enter');
    await expect(page.getByText('The redirect URI is not one of the application.')).toBeVisible();
    await expect(page.getByText('This request')).toBeVisible();
    await expect(page.getByText('https://app.example.com/other', { exact: true })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Add this address' })).toHaveCount(role === 'admin' ? 1 : 0);
    await expect(page.getByRole('main').getByRole('link', { name: 'Settings' })).toHaveAttribute(
      'href',
      `/admin/projects/${projectId}/applications/${clientId}/settings`,
    );
    await expect(page.getByRole('status').filter({ hasText: '1 attempt' })).toBeVisible();
    expect(page.url()).not.toContain(requestId);
    await expectAccessible(page);
    await page.reload();
    await expect(page.getByText('This request')).toBeVisible();
    await field.fill('nobody@example.com');
    await field.press('Enter');
    await expect(page.getByRole('heading', { name: 'No sign-ins found' })).toBeVisible();
    await page.goBack();
    await expect(page.getByText('This request')).toBeVisible();
  });
}
