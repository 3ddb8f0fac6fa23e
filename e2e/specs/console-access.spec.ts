import { type Browser, expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Application, Inbox } from '../support/application.ts';
import { chooseByKeyboard, tabTo, type Visit, visitConsole } from '../support/console.ts';
import { HostedPage, proveAddress, titled } from '../support/hosted-page.ts';

/** Access to an application: an admin gives it to a group; a member signs in, and a user without it learns whom to ask. */

const hosted = HostedPage.ofTests();
let wiki: Application;
let owner: Visit;
let ids: { ada: string; bob: string; editors: string };

test.beforeAll(async ({ browser }) => {
  const { admin, latchkey } = hosted;
  wiki = await hosted.register({ name: 'Wiki' });
  const user = async (userName: string, displayName: string) => {
    const input = { projectId: wiki.projectId, userName, displayName, invite: false };
    const query = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
    return (await admin.run<{ createUser: { id: string } }>(query, { input })).createUser.id;
  };
  const [ada, bob] = [await user('ada@wiki.example', 'Ada'), await user('bob@wiki.example', 'Bob')];
  const group = 'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }';
  const { createGroup } = await admin.run<{ createGroup: { id: string } }>(group, {
    input: { projectId: wiki.projectId, displayName: 'Editors' },
  });
  await admin.run('mutation ($input: AddGroupMembersInput!) { addGroupMembers(input: $input) { id } }', {
    input: { groupId: createGroup.id, userIds: [ada] },
  });
  ids = { ada, bob, editors: createGroup.id };
  await admin.run('mutation ($input: CreateRoleInput!) { createRole(input: $input) { id } }', {
    input: { clientId: wiki.clientId, key: 'reviewer', name: 'Reviewer' },
  });
  owner = await visitConsole(browser, latchkey, admin, { email: 'access-owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${hosted.latchkey.baseUrl}/admin/projects/${wiki.projectId}/${path}`;
const tab = () => at(`applications/${wiki.clientId}/access`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const rules = (page: Page) => page.getByRole('table', { name: 'Assigned' });

/** The members of the group have access, and no one else. */
async function assign(): Promise<void> {
  await hosted.admin.run('mutation ($input: GrantAccessInput!) { grantAccess(input: $input) { id } }', {
    input: { clientId: wiki.clientId, groupId: ids.editors },
  });
  await hosted.admin.run('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', {
    input: { id: wiki.clientId, access: 'ASSIGNED' },
  });
}

/** A new browser of a user who enters their address and code. */
async function arrive(browser: Browser, address: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const finish = await hosted.begin(page, wiki);
  await proveAddress(page, new Inbox(hosted.admin, address));
  return { page, finish, context };
}

test('an admin restricts an application to a group; a member signs in, another user sees whom to ask', async ({
  browser,
}) => {
  const { page } = owner;
  await page.goto(tab());
  await expect(page.getByText('Users who can sign in now: 2')).toBeVisible();
  await expect(page.getByText('Not assigned yet')).toBeVisible();
  await expectAccessible(page);

  await button(page, 'Give access').click();
  await dialog(page).getByRole('combobox', { name: 'Group' }).fill('edit');
  await page.getByRole('option', { name: 'Editors' }).click();
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Give access' }).click();
  await expect(rules(page).getByRole('row', { name: /Editors/ })).toContainText('Members: 1');

  await page.getByRole('radio', { name: 'Assigned users' }).check();
  await expect(page.getByText('1 of 2 users keep access.')).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await expect(page.getByText('Users who can sign in now: 1')).toBeVisible();

  const ada = await arrive(browser, 'ada@wiki.example');
  expect(await ada.finish()).toMatchObject({ sub: ids.ada });
  await ada.context.close();

  const bob = await arrive(browser, 'bob@wiki.example');
  await titled(bob.page, 'No access');
  await expect(bob.page.getByText('This account has no access to Wiki.')).toBeVisible();
  await expect(bob.page.getByText('Ask the administrator of Wiki project for access.')).toBeVisible();
  await expectAccessible(bob.page);
  await bob.context.close();

  await page.goto(at(`users/${ids.ada}`));
  const applications = page.getByRole('table', { name: 'Applications' });
  await expect(applications.getByRole('row', { name: /Wiki/ })).toContainText('By the group Editors');
  await expectAccessible(page);
  await page.goto(at(`users/${ids.bob}`));
  await expect(page.getByText('No applications')).toBeVisible();
});

test('the keyboard gives access to a role and a user, and removes it', async () => {
  await assign();
  const { page } = owner;
  await page.goto(tab());
  const opener = button(page, 'Give access');
  const submit = dialog(page).getByRole('button', { name: 'Give access' });
  const choose = async (kind: string, select: () => Promise<void>) => {
    await tabTo(page, opener);
    await page.keyboard.press('Enter');
    await tabTo(page, dialog(page).getByRole('radio', { name: 'Group' }));
    for (const next of kind === 'Role' ? ['Role'] : ['Role', 'User']) {
      await page.keyboard.press('ArrowRight');
      await expect(dialog(page).getByRole('radio', { name: next })).toBeChecked();
    }
    await select();
    await tabTo(page, submit);
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toHaveCount(0);
  };
  await choose('Role', () => expect(dialog(page).getByRole('combobox', { name: 'Role' })).toHaveValue('reviewer'));
  await expect(rules(page).getByRole('row', { name: /Reviewer/ })).toContainText('0 users and 0 groups');
  await choose('User', async () => {
    await tabTo(page, dialog(page).getByRole('combobox', { name: 'User' }));
    await page.keyboard.type('bob');
    await chooseByKeyboard(page, /Bob/);
  });
  await expect(rules(page).getByRole('row', { name: /Bob/ })).toContainText('This user');
  await expect(page.getByText('Users who can sign in now: 2')).toBeVisible();
  await tabTo(page, rules(page).getByRole('button', { name: 'Remove Bob' }));
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('refused at once and signed out');
  await tabTo(page, dialog(page).getByRole('button', { name: 'Remove access' }));
  await page.keyboard.press('Enter');
  await expect(rules(page)).not.toContainText('Bob');
  await expect(page.getByText('Users who can sign in now: 1')).toBeVisible();
});

test('a change by another admin is refused, and a lost response is not shown as a failure', async () => {
  await assign();
  const { page } = owner;
  await page.goto(tab());
  await page.getByRole('radio', { name: 'Everyone in the project' }).check();
  await hosted.admin.run('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', {
    input: { id: wiki.clientId, postLogoutRedirectUris: ['https://wiki.example/'] },
  });
  await button(page, 'Save changes').click();
  await expect(page.getByRole('alert').filter({ hasText: /changed/ })).toBeVisible();
  await page.goto(tab());
  await page.route('**/admin/graphql', async (route) => {
    if (!route.request().postData()?.includes('mutation GrantAccess')) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await button(page, 'Give access').click();
  await dialog(page).getByText('User', { exact: true }).click();
  await dialog(page).getByRole('combobox', { name: 'User' }).fill('bob');
  await page.getByRole('option', { name: /Bob/ }).click();
  await dialog(page).getByRole('button', { name: 'Give access' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('the same change is made only once');
  await page.unroute('**/admin/graphql');
  // The same request once more: it has one effect.
  await dialog(page).getByRole('button', { name: 'Give access' }).click();
  await expect(rules(page).getByRole('row', { name: /Bob/ })).toHaveCount(1);
});

test('a viewer sees who has access, and no control', async ({ browser }) => {
  await assign();
  const who = { email: 'access-viewer@example.com', role: 'PROJECT_VIEWER', projectId: wiki.projectId } as const;
  const { page, context } = await visitConsole(browser, hosted.latchkey, hosted.admin, who);
  await page.goto(tab());
  await expect(rules(page)).toContainText('Editors');
  await expect(page.getByRole('radio', { name: 'Assigned users' })).toBeDisabled();
  await expect(page.getByRole('main').getByRole('button', { name: /Give access|Remove|Save/ })).toHaveCount(0);
  await context.close();
});

test('the tab is in German with the texts of its own catalog', async () => {
  await assign();
  const storageState = await owner.context.storageState();
  const context = await owner.context.browser()?.newContext({ storageState, locale: 'de-DE' });
  const page = (await context?.newPage()) as Page;
  await page.goto(tab());
  await expect(page.getByRole('radio', { name: 'Zugewiesene Benutzer' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Zugriff geben' })).toBeVisible();

  await page.goto(at(`users/${ids.ada}`));
  await expect(page.getByRole('table', { name: 'Anwendungen' })).toContainText('Durch die Gruppe Editors');
  await context?.close();
});
