import { expect, type Locator, type Page, test } from '@playwright/test';
import { styled, violations } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Long names and addresses on a phone. */

let latchkey: Latchkey;
let projectId: string;
let userId: string;
let owner: Visit;

const projectName = 'Landesversicherungsanstalt für Betriebsrenten und Zusatzversorgung';
const userName = `${'maximiliane'.repeat(4)}@${'landesversicherungsanstalt'.repeat(2)}.example`;
/** WCAG 2.1, 1.4.12 (Text Spacing). */
const spacing =
  '* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important; line-height: 1.5 !important; }';

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject(projectName);
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const input = { projectId, userName, displayName: 'a'.repeat(60), invite: false };
  userId = (await admin.run<{ createUser: { id: string } }>(create, { input })).createUser.id;
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  await owner.page.setViewportSize({ width: 390, height: 844 });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

async function open(path: string, title: string): Promise<Page> {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin${path}`);
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
  return page;
}

const inProject = (path: string) => `/projects/${projectId}/${path}`;
/** Pixels of the content beyond the right edge. */
const overflow = (element: Locator) => element.evaluate((box) => box.scrollWidth - box.clientWidth);

test('the name of a long project ends with an ellipsis, and spaced texts fit 320 px', async () => {
  const page = await open(inProject('settings'), 'Settings');
  await page.setViewportSize({ width: 320, height: 640 });
  const sheet = await styled(page, spacing);
  const switcher = page.getByRole('button', { name: `Project: ${projectName}` });
  const name = switcher.getByText(projectName, { exact: true });
  await expect(name).toHaveCSS('text-overflow', 'ellipsis');
  expect(await overflow(name)).toBeGreaterThan(0);
  expect(await overflow(switcher.locator('> span'))).toBe(0);
  expect(await overflow(page.locator('html'))).toBe(0);
  await sheet.dispose();
  await page.setViewportSize({ width: 390, height: 844 });
});

test('a long name in a list does not run under the checkbox', async () => {
  const page = await open(inProject('users'), 'Users');
  const name = await page.getByRole('link', { name: /^a{60}$/ }).boundingBox();
  const checkbox = await page.getByRole('checkbox', { name: /^Select a/ }).boundingBox();
  expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(checkbox?.x ?? 0);
  expect(await violations(page)).toEqual([]);
});

test('a long address wraps within the dialog that erases its user', async () => {
  const page = await open(inProject(`users/${userId}`), 'a'.repeat(60));
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('You will lose:')).toBeVisible();
  expect(await overflow(dialog)).toBe(0);
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('Escape');
});

test('the dialog that deletes a project counts in the singular', async () => {
  const page = await open(inProject('settings'), 'Settings');
  await page.getByRole('button', { name: 'Delete project' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: /^1 user, who can no longer sign in/ })).toBeVisible();
  await page.keyboard.press('Escape');
});
