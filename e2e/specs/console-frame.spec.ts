import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** The frame around every console page: navigation, palette, keyboard. */

let latchkey: Latchkey;
let issuer: string;
let projectId: string;
let userId: string;
let clientId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  issuer = await admin.issuerOf(projectId);
  clientId = (await admin.createClient({ projectId, name: 'Portal', redirectUris: ['https://app.example.com/cb'] }))
    .clientId;
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const input = { projectId, email: 'grace@example.com', displayName: 'Grace Hopper', invite: false };
  userId = (await admin.run<{ createUser: { id: string } }>(create, { input })).createUser.id;
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

async function open(path: string, title: string): Promise<Page> {
  const { page } = owner;
  await page.goto(at(path));
  await expect(heading(page, title)).toBeVisible();
  return page;
}

test('the navigation of a project fits a height of 860 px, and every page begins at the same edge', async () => {
  const { page } = owner;
  await page.setViewportSize({ width: 1440, height: 860 });
  const edges = new Set<number>();
  for (const [path, title] of [
    ['overview', 'Overview'],
    ['users', 'Users'],
    ['factors', 'Sign-in & MFA'],
    ['settings', 'Settings'],
  ] as const) {
    await open(path, title);
    edges.add(await heading(page, title).evaluate((element) => element.getBoundingClientRect().left));
  }
  expect(edges.size).toBe(1);
  const navigation = page.getByRole('navigation', { name: 'Console' });
  await expect(navigation.getByRole('link', { name: 'Settings', exact: true })).toBeInViewport({ ratio: 1 });
  const [content, space] = await page.locator('aside').evaluate((side) => [side.scrollHeight, side.clientHeight]);
  expect(content).toBeLessThanOrEqual(space as number);
  await expect(navigation.getByRole('link', { name: 'Signing keys' })).toHaveCount(0);
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('the logo opens the pages of the instance, by keyboard', async () => {
  const page = await open('overview', 'Overview');
  const logo = page.getByRole('button', { name: 'Latchkey: instance' });
  await tabTo(page, logo);
  await page.keyboard.press('Enter');
  const instance = page.getByRole('dialog', { name: 'Instance' });
  const keys = instance.getByRole('link', { name: 'Signing keys' });
  await expect(instance.getByRole('link', { name: 'Projects' })).toBeFocused();
  await tabTo(page, keys);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Signing keys')).toBeVisible();
  await expect(instance).toHaveCount(0);
  await logo.press('Enter');
  await expect(keys).toHaveAttribute('aria-current', 'page');
  await page.keyboard.press('Escape');
  await expect(logo).toBeFocused();
  // Escape before the focus is inside.
  await logo.evaluate((button: HTMLElement) => {
    button.click();
    button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  });
  await expect(instance).toHaveCount(0);
  await expect(logo).toHaveAttribute('aria-expanded', 'false');
});

test('a narrow page lists the pages of the instance in its drawer', async () => {
  const page = await open('overview', 'Overview');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Navigation' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Audit', exact: true }).click();
  await expect(heading(page, 'Audit')).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('the palette finds pages by synonyms, and acts on the user or application of the page', async () => {
  const page = await open(`users/${userId}`, 'Grace Hopper');
  const search = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+K');
    await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeFocused();
    await page.keyboard.type(text);
    await expect(page.getByRole('option', { name: option, selected: true })).toBeVisible();
    await page.keyboard.press('Enter');
  };
  await search('suspend', /^Deactivate/);
  await expect(page.getByRole('dialog', { name: 'Deactivate: grace@example.com?' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  // A reload does not open the dialog again.
  await page.reload();
  await expect(heading(page, 'Grace Hopper')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await open('users', 'Users');
  await search('2fa', /^Sign-in & MFA/);
  await expect(heading(page, 'Sign-in & MFA')).toBeVisible();

  await open(`applications/${clientId}`, 'Portal');
  await search('disable', /^Disable/);
  await expect(page.getByRole('dialog', { name: 'Disable Portal?' })).toBeVisible();
  await page.keyboard.press('Escape');
});

test('text typed while the palette is fetched stays', async () => {
  const { page } = owner;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/assets\/later-parts-/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(at('overview'));
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('textbox', { name: 'Search or go to' })).toBeFocused();
  await page.keyboard.type('dire');
  await expect(page.getByRole('textbox', { name: 'Search or go to' })).toHaveValue('dire');
  release();
  const field = page.getByRole('combobox', { name: 'Search or go to' });
  await expect(field).toBeFocused();
  await page.keyboard.type('ctory');
  await expect(field).toHaveValue('directory');
  await expect(page.getByRole('option', { name: 'Directory sync' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await expect(field).toHaveValue('');
  await page.keyboard.press('Escape');
  await page.unroute(/\/assets\/later-parts-/);
});

test('? shows the keys, except while typing, and can be turned off', async () => {
  const page = await open('users', 'Users');
  const help = page.getByRole('dialog', { name: 'Help and endpoints' });
  const search = page.getByRole('searchbox', { name: 'Search users' });
  await search.press('?');
  await expect(search).toHaveValue('?');
  await expect(help).toHaveCount(0);
  await search.fill('');
  await search.blur();
  await page.keyboard.press('?');
  await expect(help.getByText('Ctrl K or ⌘ K')).toBeVisible();
  // Products ask for the endpoints of the project's issuer.
  for (const path of ['', '/authorize', '/oauth2/token', '/userinfo', '/oauth2/end_session'])
    await expect(help.getByText(`${issuer}${path}`, { exact: true })).toBeVisible();
  await expectAccessible(page);
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck();
  await page.keyboard.press('Escape');
  await expect(help).toHaveCount(0);
  await page.keyboard.press('?');
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('combobox', { name: 'Search or go to' })).toBeVisible();
  await expect(help).toHaveCount(0);
  await page.keyboard.press('Escape');
});

test('the heading of its section is focused once the row with the focus is gone', async () => {
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const create = 'mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }';
  for (const key of ['editor', 'viewer']) await admin.run(create, { input: { clientId, key, name: key } });
  const page = await open(`applications/${clientId}/roles`, 'Portal');
  await page.getByRole('button', { name: 'Delete editor' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete role' }).press('Enter');
  await expect(page.getByRole('row', { name: /editor/ })).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Roles', level: 2 })).toBeFocused();
  await page.getByRole('button', { name: 'Delete viewer' }).press('Enter');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Delete viewer' })).toBeFocused();
});

test('the heading of the changed section is focused once its changes are saved', async () => {
  const page = await open(`applications/${clientId}/settings`, 'Portal');
  await page.getByRole('textbox', { name: 'Name' }).fill('Portal 2');
  await page.getByRole('button', { name: 'Save changes' }).press('Enter');
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Basics', level: 2 })).toBeFocused();
});

test('a button that was disabled during a request is focused after a refusal', async () => {
  const page = await open('settings', 'Settings');
  await page.getByRole('button', { name: 'Add domain' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add domain' });
  await dialog.getByLabel('Domain').fill('not a domain');
  const submit = dialog.getByRole('button', { name: 'Add domain' });
  await submit.press('Enter');
  await expect(dialog.getByLabel('Domain')).toHaveAttribute('aria-invalid', 'true');
  await expect(submit).toBeFocused();
  await page.keyboard.press('Escape');
});
