import { expect, type Locator, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { chooseByKeyboard, tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Roles of an application, its claims with their preview, and the profile of a user. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let clientId: string;
let adaId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const redirectUris = ['https://app.example.com/callback'];
  clientId = (await admin.createClient({ projectId, name: 'Wiki', redirectUris })).clientId;
  const token = await admin.issueScimToken(projectId);
  const scim = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify({ schemas: [`urn:ietf:params:scim:schemas:core:2.0:${path.slice(0, -1)}`], ...body }),
    });
    return ((await response.json()) as { id: string }).id;
  };
  adaId = await scim('Users', { userName: 'ada@example.com', displayName: 'Ada Lovelace', title: 'Countess' });
  await scim('Groups', { displayName: 'Engineering', members: [{ value: adaId }] });
  const settings = { id: projectId, scimAuthoritative: false };
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: settings,
  });
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');

test('a role is created, assigned to a group and a user, and removed', async () => {
  const { page } = owner;
  await page.goto(at(`applications/${clientId}/roles`));
  await expect(page.getByText('No roles yet')).toBeVisible();
  await button(page, 'Create role').click();
  await dialog(page).getByLabel('Name').fill('Page editor');
  await expect(dialog(page).getByLabel('Key')).toHaveValue('page-editor');
  await dialog(page).getByRole('button', { name: 'Create role' }).click();
  const row = page.getByRole('row', { name: /Page editor/ });
  await expect(row).toContainText('page-editor');

  await button(page, 'Show the holders of Page editor').click();
  await expect(page.getByText('Not assigned yet')).toBeVisible();
  await button(page, 'Show the holders of Page editor').click();
  await button(page, 'Assign Page editor').click();
  await dialog(page).getByText('Group', { exact: true }).first().click();
  await dialog(page).getByRole('combobox', { name: 'Group' }).fill('engi');
  await page.getByRole('option', { name: 'Engineering' }).click();
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Assign role' }).click();
  await expect(page.getByRole('table', { name: 'Holders of Page editor' })).toContainText('Engineering');

  await page.goto(at(`users/${adaId}`));
  const roles = page.getByRole('table', { name: 'Roles' });
  await expect(roles).toContainText('By the group Engineering');
  await expect(roles.getByRole('button', { name: 'Remove Page editor' })).toHaveCount(0);
  await button(page, 'Assign role').click();
  await dialog(page).getByRole('combobox', { name: 'Application' }).fill('wiki');
  await page.getByRole('option', { name: 'Wiki' }).click();
  await expect(dialog(page).getByLabel('Role', { exact: true })).toHaveValue(/.+/);
  await dialog(page).getByRole('button', { name: 'Assign role' }).click();
  await expect(roles).toContainText('Directly, By the group Engineering');
  await expect(page.getByText('assigned the role Page editor of Wiki to ada@example.com')).toBeVisible();
  await expectAccessible(page);
  await roles.getByRole('button', { name: 'Remove Page editor' }).click();
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await expect(roles).not.toContainText('Directly');
});

test('claims are mapped with a live preview of a user', async () => {
  const { page } = owner;
  await page.goto(at(`applications/${clientId}/claims`));
  await page.getByRole('combobox', { name: 'User' }).fill('ada');
  await page.getByRole('option', { name: /Ada Lovelace/ }).click();
  const claims = page.getByRole('table', { name: 'Claims' });
  await expect(claims.getByRole('row', { name: /^groups/ })).toContainText('Engineering');
  await expect(claims.getByRole('row', { name: /^preferred_username/ })).toContainText('ada@example.com');

  await button(page, 'Add mapping').click();
  const mapping = page.getByRole('group', { name: 'Mapping 1' });
  await mapping.getByLabel('Claim').fill('sub');
  await expect(page.getByRole('alert')).toContainText('mappings[0].claim');
  await mapping.getByLabel('Claim').fill('job');
  await mapping.getByLabel('Attribute').selectOption('title');
  await expect(claims.getByRole('row', { name: /^job/ })).toContainText('Countess');
  await page.getByLabel('Roles claim').fill('permissions');
  await expect(claims.getByRole('row', { name: /^permissions/ })).toContainText('Scope roles');
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('group', { name: 'Mapping 1' }).getByLabel('Claim')).toHaveValue('job');
});

test('a profile is edited; a bad value is refused at its field', async () => {
  const { page } = owner;
  await page.goto(at(`users/${adaId}`));
  await page.getByRole('region', { name: 'Profile' }).getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Time zone').fill('Mars/Olympus');
  await dialog(page).getByLabel('City').fill('London');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(dialog(page).getByText('Must be a time zone such as Europe/Zurich (IANA).')).toBeVisible();
  await dialog(page).getByLabel('Time zone').fill('Europe/London');
  await dialog(page).getByLabel('Date of birth').fill('1815-12-10');
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  const profile = page.getByRole('region', { name: 'Profile' });
  await expect(profile).toContainText('Europe/London');
  await expect(profile).toContainText('1815-12-10');
  await expect(profile).toContainText('London');
});

test('the keyboard assigns a role, and removes it', async () => {
  const { page } = owner;
  const input = { clientId, key: 'reader', name: 'Reader' };
  await admin.run('mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }', { input });
  await page.goto(at(`users/${adaId}`));
  await tabTo(page, button(page, 'Assign role'));
  await page.keyboard.press('Enter');
  const application = dialog(page).getByRole('combobox', { name: 'Application' });
  await tabTo(page, application);
  await page.keyboard.type('wiki');
  await chooseByKeyboard(page, 'Wiki');
  const role = dialog(page).getByLabel('Role', { exact: true });
  await expect(role).toHaveValue(/.+/);
  await tabTo(page, role);
  await page.keyboard.type('Reader');
  await tabTo(page, dialog(page).getByRole('button', { name: 'Assign role' }));
  await page.keyboard.press('Enter');
  const roles = page.getByRole('table', { name: 'Roles' });
  await expect(roles).toContainText('Reader');
  await tabTo(page, roles.getByRole('button', { name: 'Remove Reader' }));
  await page.keyboard.press('Enter');
  await tabTo(page, dialog(page).getByRole('button', { name: 'Remove' }));
  await page.keyboard.press('Enter');
  await expect(roles).not.toContainText('Reader');
});

test('the keyboard edits the profile and a custom attribute', async () => {
  const { page } = owner;
  const input = { projectId, name: 'badge', type: 'STRING' };
  const query = 'mutation ($input: CreateCustomAttributeInput!) { createCustomAttribute(input: $input) { name } }';
  await admin.run(query, { input });
  await page.goto(at(`users/${adaId}`));
  const edit = async (opener: Locator, label: string, value: string) => {
    await tabTo(page, opener);
    await page.keyboard.press('Enter');
    await tabTo(page, dialog(page).getByLabel(label, { exact: true }));
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(value);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Save' }));
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toHaveCount(0);
    await expect(opener).toBeFocused();
  };
  const profile = page.getByRole('region', { name: 'Profile' });
  await edit(profile.getByRole('button', { name: 'Edit' }), 'City', 'Ockham');
  await expect(profile).toContainText('Ockham');
  await edit(button(page, 'Edit custom attributes'), 'badge', 'B-17');
  await expect(page.getByRole('region', { name: 'Custom attributes' })).toContainText('B-17');
});

test('a viewer sees roles, groups, attributes and claims, and no control', async ({ browser }) => {
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(at(`users/${adaId}`));
  await expect(page.getByRole('link', { name: 'Engineering' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Roles' })).toBeVisible();
  const main = page.getByRole('main');
  await expect(main.getByRole('button', { name: /^(?:Edit|Assign role|Add to group|Remove)/ })).toHaveCount(0);
  await page.goto(at(`applications/${clientId}/claims`));
  await expect(page.getByText('You are a viewer of Acme')).toBeVisible();
  await expect(main.getByRole('button', { name: /Add mapping|Save/ })).toHaveCount(0);
  await page.goto(at(`applications/${clientId}/roles`));
  await expect(page.getByText('Page editor')).toBeVisible();
  await expect(main.getByRole('button', { name: /Create role|Delete|Assign/ })).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});
