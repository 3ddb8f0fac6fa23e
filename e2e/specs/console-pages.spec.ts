import { expect, type Locator, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { issuedSecret, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** Main action of each console page, and its accessibility in light and dark. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let scimToken: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const redirectUris = ['https://app.example.com/callback'];
  await admin.createClient({ projectId, name: 'Portal', redirectUris });
  scimToken = await admin.issueScimToken(projectId);
  for (const name of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing']) await provision(name);
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
  await latchkey.stop();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function scim(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': 'application/scim+json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

async function provision(displayName: string): Promise<string> {
  const userName = `${displayName.toLowerCase().replace(' ', '.')}@example.com`;
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const emails = [{ value: userName, type: 'work', primary: true }];
  const response = await scim('POST', 'Users', { schemas, userName, displayName, emails });
  return ((await response.json()) as { id: string }).id;
}

async function atOverview(): Promise<Page> {
  const { page } = owner;
  await page.goto(at('overview'));
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  return page;
}

test('the palette is accessible', async () => {
  const page = await atOverview();
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeFocused();
  await expectAccessible(page);
});

for (const [what, name] of [
  ['the project switcher', /^Project: Acme/],
  ['the help', 'Help and endpoints'],
  ['the account menu', /^Account/],
] as const) {
  test(`${what} is accessible`, async () => {
    const page = await atOverview();
    await page.getByRole('button', { name }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });
}

test('the navigation of a narrow page is accessible', async () => {
  const page = await atOverview();
  await page.setViewportSize({ width: 390, height: 844 });
  await button(page, 'Navigation').click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('link', { name: 'Users' }).click();
  await expect(page.getByRole('heading', { name: 'Users', exact: true })).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('the palette finds pages, applications, users and projects', async () => {
  const page = await atOverview();
  const input = page.getByRole('combobox', { name: 'Search or go to' });
  // Its script is loaded after the page.
  await page.keyboard.press('Control+K');
  await expect(input).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(input).toHaveCount(0);
  const go = async (text: string, option: RegExp) => {
    // Immediately: no key press may be lost.
    await page.keyboard.press('Control+K');
    await page.keyboard.type(text);
    await expect(input).toHaveValue(text);
    await expect(page.getByRole('option', { name: option, selected: true })).toBeVisible();
    await page.keyboard.press('Enter');
  };
  await go('session pol', /^Session policy/);
  await expect(page.getByRole('heading', { name: 'Session policy', level: 1 })).toBeFocused();
  await go('port', /^Portal/);
  await expect(page.getByRole('heading', { name: 'Portal', level: 1 })).toBeVisible();
  await go('grace', /^Grace Hopper/);
  await expect(page.getByRole('heading', { name: 'Grace Hopper', level: 1 })).toBeVisible();
});

test('Enter before the response chooses the first new result, not an old one', async () => {
  const page = await atOverview();
  const answer = Promise.withResolvers<void>();
  await page.route('**/admin/graphql', async (route) => {
    if (route.request().postData()?.includes('"grace"')) await answer.promise;
    await route.fallback();
  });
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeFocused();
  await page.keyboard.type('port');
  await expect(page.getByRole('option', { name: /^Portal/, selected: true })).toBeVisible();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('grace');
  await page.keyboard.press('Enter');
  answer.resolve();
  await expect(page.getByRole('heading', { name: 'Grace Hopper', level: 1 })).toBeVisible();
  await page.unrouteAll({ behavior: 'wait' });
});

test('a project is created, searched, switched to, and deleted with counts of its resources', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects`);
  await button(page, 'Create project').click();
  await page.keyboard.type('Globex');
  await expect(page.getByRole('dialog').getByLabel('Name')).toHaveValue('Globex');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await expect(page.getByText('Create an application', { exact: true })).toBeVisible();

  await page.getByRole('button', { name: /^Project: Globex/ }).click();
  await page.keyboard.type('Acm');
  await expect(page.getByRole('option', { name: /^Acme/, selected: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(at('overview'));

  await page.goto(`${latchkey.baseUrl}/admin/projects?search=glob`);
  await page.getByRole('link', { name: 'Globex' }).click();
  // Until its overview has loaded, the navigation is that of the last project.
  await expect(page.getByRole('button', { name: /^Project: Globex/ })).toBeVisible();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await button(page, 'Delete project').click();
  const dialog = page.getByRole('dialog', { name: 'Delete Globex?' });
  await expect(dialog).toContainText('0 users');
  await dialog.getByRole('textbox').fill('Globex');
  await dialog.getByRole('button', { name: 'Delete project' }).click();
  await expect(page.getByText('Globex deleted')).toBeVisible();
});

test('the checklist reflects the current state', async () => {
  const { page } = owner;
  await page.goto(at('overview'));
  const list = page.getByRole('region', { name: 'Getting ready' });
  await expect(list.getByText('1 application has a redirect URI')).toBeVisible();
  await expect(list.getByText('See a first sign-in')).toBeVisible();
  await expect(list.getByText('A directory is connected')).toBeVisible();
  // Above figures and charts, until all is done; no chart without data.
  const top = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
  expect(await top(list)).toBeLessThan(await top(page.getByRole('main').getByRole('link', { name: /^Live sessions/ })));
  await list.getByRole('link', { name: 'Open the quickstart' }).click();
  await expect(page.getByRole('heading', { name: 'Portal', level: 1 })).toBeVisible();
});

test('a directory is connected step by step, and the page shows its first request live', async () => {
  const { page } = owner;
  const id = await admin.createProject('Directory');
  await page.goto(`${latchkey.baseUrl}/admin/projects/${id}/directory`);
  await page.getByText('Microsoft Entra ID', { exact: true }).click();
  await expect(page.getByText(`${latchkey.baseUrl}/v1/scim/${id}`)).toBeVisible();
  await button(page, 'Issue token').first().click();
  const token = await issuedSecret(page, 'scim').innerText();
  await expect(page.getByText('Waiting for the first request.')).toBeVisible();

  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' };
  await fetch(`${latchkey.baseUrl}/v1/scim/${id}/ServiceProviderConfig`, { headers });
  const body = JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: ' ' });
  await fetch(`${latchkey.baseUrl}/v1/scim/${id}/Users`, { method: 'POST', headers, body });
  await expect(page.getByText('Connected.')).toBeVisible();
  const refused = page.locator('summary', { hasText: 'POST /Users' });
  await refused.click();
  await expect(page.getByText('Change the mapping of this attribute in the directory.')).toBeVisible();
  expect(await page.content()).not.toContain(`Bearer ${token}`);

  await page.getByRole('button', { name: 'Revoke Microsoft Entra ID' }).click();
  await expect(page.getByRole('dialog')).toContainText('the sync stops');
  await button(page, 'Revoke token').click();
  await expect(page.getByRole('row', { name: /Microsoft Entra ID/ })).toContainText('Revoked');
});

test('a token that expires soon is announced on both pages, above the steps that map custom attributes', async () => {
  const { page } = owner;
  const id = await admin.createProject('Expiring');
  await admin.issueScimToken(id, { expiresAt: new Date(Date.now() + 5 * 24 * 3600 * 1000) });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${id}/overview`);
  const banner = page.getByRole('status').filter({ hasText: 'A directory token expires soon' });
  await expect(banner).toContainText('“directory” expires');
  await expectAccessible(page);
  await banner.getByRole('link', { name: 'Directory sync' }).click();
  await expect(page.getByRole('heading', { name: 'Directory sync', level: 1 })).toBeVisible();
  await expect(banner).toContainText('Then the sync stops.');
  const urn = 'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User';
  const steps = page.getByRole('region', { name: 'Connect a directory' });
  await expect(steps).toContainText('Profile Editor');
  await expect(steps.getByText(urn, { exact: true })).toBeVisible();
  await steps.getByText('Microsoft Entra ID', { exact: true }).click();
  await expect(steps).toContainText('Edit attribute list for customappsso');
  await expect(steps.getByText(`${urn}:badge`, { exact: true })).toBeVisible();
});

test('an ignored attribute becomes a custom one, whose values are shown and edited', async () => {
  const { page } = owner;
  const mary = await provision('Mary Somerville');
  const acme = 'urn:acme:1.0:User';
  const value = { [acme]: { badgeNo: 'B-7' } };
  await scim('PATCH', `Users/${mary}`, { Operations: [{ op: 'add', value }] });
  await page.goto(at('directory'));
  await page.getByText(`Users/${mary}`).first().click();
  await button(page, 'Create attribute badgeNo').click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Name')).toHaveValue('badgeNo');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create attribute', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('table', { name: 'Custom attributes' }).getByText('badgeNo')).toBeVisible();
  // At the scroll position after the opened request, the header may cover half of a button.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(page);
  await button(page, 'Create attribute').click();
  await dialog.getByLabel('Name').fill('level');
  await dialog.getByRole('combobox', { name: 'Written by' }).click();
  await page.getByRole('option', { name: 'Admins only' }).click();
  await dialog.getByRole('button', { name: 'Create attribute', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await scim('PATCH', `Users/${mary}`, { Operations: [{ op: 'add', value }] });
  await page.goto(at(`users/${mary}`));
  await expect(page.getByText('B-7')).toBeVisible();
  await button(page, 'Edit custom attributes').click();
  await dialog.getByLabel('level').fill('gold');
  // The directory is authoritative for the other one.
  await expect(dialog.getByLabel('badgeNo')).toHaveCount(0);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('gold', { exact: true })).toBeVisible();
});

test('users are searched, changed in bulk with a result each, and opened', async () => {
  const { page } = owner;
  await page.goto(at('users'));
  await page.getByRole('searchbox', { name: 'Search users' }).fill('grace');
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page).toHaveURL(/search=grace/);
  await button(page, 'Clear the search').click();
  await page.getByLabel('Select Grace Hopper').check();
  await page.getByLabel('Select Alan Turing').check();
  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deactivate: 2 users?' });
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByText('2 users are deactivated')).toBeVisible();
  await button(page, 'Filters').click();
  await page.getByLabel('Status').selectOption('inactive');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('row')).toHaveCount(3);

  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await expect(page.getByText('This user cannot sign in')).toBeVisible();
  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Activate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await expect(page.getByText('This user cannot sign in')).toBeHidden();
  await expect(page.getByText(/activated grace.hopper@example.com/).first()).toBeVisible();

  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Erase' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('grace.hopper@example.com');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await expect(page.getByRole('heading', { name: 'Users', exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Grace Hopper' })).toHaveCount(0);
});

test('events show actor, action and changes, and link to similar ones', async () => {
  const { page } = owner;
  const name = 'Renamed';
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, name },
  });
  await page.goto(at('events'));
  const event = page.locator('li', { hasText: 'to Renamed' }).first();
  await event.locator('summary').click();
  await expect(event.getByRole('row', { name: 'Name Acme Renamed' })).toBeVisible();
  await page.getByLabel('Category').selectOption('directory');
  await expect(page.getByText(/issued the directory token directory/)).toBeVisible();
  await expect(event).toHaveCount(0);
  await page.locator('summary', { hasText: 'issued the directory token directory' }).first().click();
  await page.getByRole('link', { name: 'All of directory' }).click();
  await expect(page.getByText('About: directory')).toBeVisible();
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, name: 'Acme' },
  });
});

test('a second owner clears the warning, and the last one cannot be removed', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/team`);
  await expect(page.getByText('Only one owner')).toBeVisible();
  await button(page, 'Remove owner@example.com').click();
  await button(page, 'Remove').click();
  await expect(page.getByRole('alert')).toContainText('the last owner cannot be removed');
  await button(page, 'Cancel').click();
  await button(page, 'Add owner').click();
  await page.getByLabel('Email address').fill('second@example.com');
  await page.getByRole('dialog').getByRole('button', { name: 'Add owner' }).click();
  await expect(page.getByRole('row', { name: /second@example.com/ })).toContainText('Not signed in yet');
  await expect(page.getByText('Only one owner')).toBeHidden();
});

test('a query in flight during a mutation is refetched', async () => {
  const { page } = owner;
  await page.goto(at('team'));
  await expect(page.getByText('No project roles yet')).toBeVisible();
  const [taken, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isFirst = true;
  await page.route('**/admin/graphql', async (route) => {
    const asked = route.request().postData() ?? '';
    if (!isFirst || !asked.includes('memberships') || asked.includes('mutation')) return route.fallback();
    isFirst = false;
    const response = await route.fetch();
    taken.resolve();
    await held.promise;
    return route.fulfill({ response });
  });
  const grant = async (email: string) => {
    await button(page, 'Assign role').click();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await expect(page.getByText(`${email} is`)).toBeVisible();
  };
  await grant('one@example.com');
  await taken.promise;
  await grant('two@example.com');
  held.resolve();
  for (const email of ['one', 'two']) {
    await expect(page.getByRole('row', { name: new RegExp(`${email}@example.com`) })).toBeVisible();
    await admin.run(`mutation { revokeRole(id: "${await roleOf(`${email}@example.com`)}") }`);
  }
  await page.unrouteAll({ behavior: 'wait' });
});

async function roleOf(email: string): Promise<string> {
  type Found = { memberships: { id: string; admin: { email: string } }[] };
  const { memberships } = await admin.run<Found>(`{ memberships(projectId: "${projectId}") { id admin { email } } }`);
  return memberships.find((one) => one.admin.email === email)?.id ?? '';
}

test('keys are rotated, and captured mail is shown', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/keys`);
  await expect(page.getByRole('row', { name: /Active/ })).toHaveCount(2);
  await button(page, 'Rotate keys').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate keys' }).click();
  await expect(page.getByRole('row', { name: /Next/ })).toHaveCount(2);
  await page.goto(`${latchkey.baseUrl}/admin/mailbox`);
  await expect(page.getByText('To owner@example.com').first()).toBeVisible();
});

test('a project admin sees only their project', async ({ browser }) => {
  await admin.createProject('Not theirs');
  const who = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await expect(page).toHaveURL(at('overview'));
  await page.goto(`${latchkey.baseUrl}/admin/projects`);
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(button(page, 'Create project')).toHaveCount(0);
  await page.goto(at('team'));
  await button(page, 'Assign role').click();
  await page.getByLabel('Email address').fill('colleague@example.com');
  await page.getByRole('dialog').getByLabel('Role').selectOption('PROJECT_VIEWER');
  await page.getByRole('dialog').getByRole('button', { name: 'Assign role' }).click();
  const row = page.getByRole('row', { name: /colleague@example.com/ });
  await expect(row).toContainText('Viewer');
  await expect(page.getByRole('columnheader', { name: 'Last sign-in' })).toHaveCount(0);
  await page.goto(`${latchkey.baseUrl}/admin/keys`);
  await expect(page.getByRole('alert')).toContainText('failed to load');
  expect(browserErrors).toEqual([]);
  await context.close();
});
