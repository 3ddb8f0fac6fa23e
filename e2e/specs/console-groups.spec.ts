import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { chooseByKeyboard, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Groups that no directory owns, and those of a directory (decisions/0226). */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const token = await admin.issueScimToken(projectId);
  const schema = 'urn:ietf:params:scim:schemas:core:2.0';
  const push = async (path: string, body: object) => {
    const response = await fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
  };
  const alan = { userName: 'alan.turing@example.com', displayName: 'Alan Turing' };
  await push('Users', { schemas: [`${schema}:User`], ...alan });
  await push('Groups', { schemas: [`${schema}:Group`], displayName: 'Engineering' });
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('an admin creates a group, adds and removes members by keyboard alone, renames and deletes it', async () => {
  const { page } = owner;
  await page.goto(at('groups'));
  await button(page, 'Create group').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.keyboard.type('On call');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'On call', level: 1 })).toBeVisible();
  await expect(page.getByText('No directory owns this group.')).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Add member').first().focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add member' });
  await dialog
    .getByRole('combobox', { name: 'User' })
    .or(dialog.getByRole('textbox', { name: 'User' }))
    .focus();
  await page.keyboard.type('Alan');
  await expect(page.getByRole('option', { name: /Alan Turing/ })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expectAccessible(page);
  await chooseByKeyboard(page, /Alan Turing/);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Add member' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('rowheader', { name: 'Alan Turing' })).toBeVisible();
  await expect(page.getByText(/ added 1 member to the group On call$/)).toBeVisible();
  // On the page of the user, too.
  await page.getByRole('rowheader', { name: 'Alan Turing' }).getByRole('link').click();
  await expect(page.getByRole('link', { name: 'On call' })).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Remove from On call').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('In no group.')).toBeVisible();
  await button(page, 'Add to group').click();
  await page.getByRole('dialog').getByLabel('Group').first().fill('Unknown');
  // A list without options is invalid (aria-required-children).
  await expect(page.getByRole('option')).toHaveText('No matching groups');
  await page.getByRole('dialog').getByLabel('Group').first().fill('');
  await page.getByRole('option', { name: 'On call' }).click();
  await expect(page.getByRole('option', { name: 'Engineering' })).toHaveCount(0);
  await page.getByRole('dialog').getByRole('button', { name: 'Add to group' }).click();
  await page.getByRole('link', { name: 'On call' }).click();
  await button(page, 'Remove Alan Turing').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click();
  await expect(page.getByText('Members get the roles of the group.')).toBeVisible();
  await button(page, 'Rename').click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Night watch');
  await button(page, 'Save').click();
  await expect(page.getByRole('heading', { name: 'Night watch', level: 1 })).toBeVisible();
  await expect(page.getByText(/ set Display name from On call to Night watch for Night watch$/)).toBeVisible();
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('textbox').fill('Night watch');
  await button(page, 'Delete group').click();
  await expect(page.getByRole('heading', { name: 'Groups', level: 1 })).toBeVisible();
  await expect(page.getByRole('rowheader', { name: 'Engineering' })).toBeVisible();
  await expect(page.getByRole('rowheader', { name: 'Night watch' })).toHaveCount(0);
});

test('a group of the directory is read-only, and a viewer cannot change groups', async ({ browser }) => {
  await owner.page.goto(at('groups'));
  await owner.page.getByRole('rowheader', { name: 'Engineering' }).getByRole('link').click();
  await expect(owner.page.getByText('Name and members are managed by the directory.')).toBeVisible();
  for (const name of ['Rename', 'Delete', 'Add member']) await expect(button(owner.page, name)).toHaveCount(0);
  const viewer = { email: 'watcher@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  await admin.run('mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }', {
    input: { projectId, displayName: 'Helpers' },
  });
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, viewer);
  await page.goto(at('groups'));
  await expect(page.getByRole('rowheader', { name: 'Helpers' })).toBeVisible();
  await expect(button(page, 'Create group')).toHaveCount(0);
  await page.getByRole('rowheader', { name: 'Helpers' }).getByRole('link').click();
  await expect(page.getByText('No directory owns this group.')).toBeVisible();
  for (const name of ['Rename', 'Delete', 'Add member']) await expect(button(page, name)).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('a group whose answer was lost is created once, however often an admin retries', async () => {
  const { page } = owner;
  await page.goto(at('groups'));
  await button(page, 'Create group').click();
  const dialog = page.getByRole('dialog', { name: 'Create group' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Lost answer');
  await page.route('**/admin/graphql', async (route) => {
    if (!route.request().postData()?.includes('mutation CreateGroup')) return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await dialog.getByRole('button', { name: 'Create group' }).click();
  await expect(dialog.getByRole('alert')).toContainText('it is not known whether this was saved');
  await expect(dialog.getByRole('button', { name: 'Load current values' })).toBeVisible();
  await page.unrouteAll({ behavior: 'wait' });
  await dialog.getByRole('button', { name: 'Create group' }).click();
  await expect(page.getByRole('heading', { name: 'Lost answer', level: 1 })).toBeVisible();
  await page.goto(at('groups'));
  await expect(page.getByRole('link', { name: 'Lost answer' })).toHaveCount(1);
});

test('an admin sees whether a group was created after its answer was lost', async () => {
  const { page } = owner;
  await page.goto(at('groups'));
  await button(page, 'Create group').click();
  const dialog = page.getByRole('dialog', { name: 'Create group' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Looked at');
  await page.route('**/admin/graphql', async (route) => {
    if (!route.request().postData()?.includes('mutation CreateGroup')) return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await dialog.getByRole('button', { name: 'Create group' }).click();
  await dialog.getByRole('button', { name: 'Load current values' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('link', { name: 'Looked at' })).toBeVisible();
  await page.unrouteAll({ behavior: 'wait' });
});

/** Deletes a group with this name from its page; the answer is lost. Returns the dialog. */
async function deleteWithoutAnswer(page: Page, displayName: string) {
  const { createGroup } = await admin.run<{ createGroup: { id: string } }>(
    'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }',
    { input: { projectId, displayName } },
  );
  await page.goto(at(`groups/${createGroup.id}`));
  await button(page, 'Delete').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(displayName);
  await page.route('**/admin/graphql', async (route) => {
    if (!route.request().postData()?.includes('mutation DeleteGroup')) return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await dialog.getByRole('button', { name: 'Delete group' }).click();
  await expect(dialog.getByRole('alert')).toContainText('it is not known whether this was saved');
  await page.unrouteAll({ behavior: 'wait' });
  return dialog;
}

test('a deletion whose answer was lost is confirmed by a retry, on a phone', async () => {
  const { page } = owner;
  await page.setViewportSize({ width: 390, height: 844 });
  const dialog = await deleteWithoutAnswer(page, 'Gone');
  await dialog.getByRole('button', { name: 'Delete group' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Groups', level: 1 })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Gone', exact: true })).toHaveCount(0);
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('an admin sees whether a group was deleted after its answer was lost', async () => {
  const { page } = owner;
  const dialog = await deleteWithoutAnswer(page, 'Deleted');
  await dialog.getByRole('button', { name: 'Load current values' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('heading', { name: /not found/ })).toBeVisible();
});
