import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { openDatabase } from '../support/database.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

/** Users of a project: search, filter, export, erase; groups; and test sign-in of an application. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let clientId: string;
let scimToken: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  const redirectUris = ['https://app.example.com/callback'];
  clientId = (await admin.createClient({ projectId, name: 'Portal', redirectUris })).clientId;
  scimToken = await admin.issueScimToken(projectId);
  const ids: string[] = [];
  for (const name of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson'])
    ids.push(await provision(name));
  const members = ids.slice(0, 2).map((value) => ({ value }));
  await scim('Groups', { schemas: [`${schema}:Group`], displayName: 'Engineering', externalId: 'eng-1', members });
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const schema = 'urn:ietf:params:scim:schemas:core:2.0';
const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function scim(path: string, body: object): Promise<string> {
  const response = await fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': 'application/scim+json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { id: string }).id;
}

function provision(displayName: string): Promise<string> {
  const [givenName = '', familyName = ''] = displayName.split(' ');
  const userName = `${displayName.toLowerCase().replace(' ', '.')}@example.com`;
  const emails = [{ value: userName, type: 'work', primary: true }];
  return scim('Users', { schemas: [`${schema}:User`], userName, displayName, name: { givenName, familyName }, emails });
}

const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';

const namesIn = (page: Page) => page.getByRole('table').getByRole('rowheader').allInnerTexts();

test('users are sorted and filtered in chosen columns, all in the URL', async () => {
  const { page } = owner;
  await page.goto(at('users'));
  await expect(page.getByText('4 users')).toBeVisible();
  await button(page, 'Name').click();
  await expect(page.getByRole('columnheader', { name: 'Name', exact: true })).toHaveAttribute('aria-sort', 'ascending');
  await expect.poll(() => namesIn(page)).toEqual(['Ada Lovelace', 'Alan Turing', 'Grace Hopper', 'Katherine Johnson']);
  await button(page, 'Name').click();
  await expect.poll(() => namesIn(page)).toEqual(['Katherine Johnson', 'Grace Hopper', 'Alan Turing', 'Ada Lovelace']);
  await expect(page).toHaveURL(/sort=name-desc/);

  await page.getByRole('searchbox', { name: 'Search users' }).fill('love');
  await expect.poll(() => namesIn(page)).toEqual(['Ada Lovelace']);
  const filters = page.getByRole('dialog', { name: 'Filters' });
  await button(page, 'Filters').click();
  await expectAccessible(page);
  await filters.getByLabel('Last sign-in').selectOption('week');
  await expect(page.getByText('No matching users')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(button(page, 'Filters')).toBeFocused();
  await button(page, 'Clear search and filters').click();
  await button(page, 'Filters').click();
  await filters.getByLabel('Last sign-in').selectOption('never');
  await expect(page.getByText('4 users')).toBeVisible();
  await filters.getByLabel('Second factor').selectOption('yes');
  await expect(page.getByText('No matching users')).toBeVisible();
  await page.keyboard.press('Escape');
  // A chip per active filter, which removes it. Only exceptions have a mark.
  await expect(page.getByText('Last sign-in: Never')).toBeVisible();
  await button(page, 'Remove the filter Second factor').click();
  await expect(page).toHaveURL(/seen=never/);
  await expect.poll(() => namesIn(page)).toHaveLength(4);
  await expect(page.getByRole('table').getByText('Active', { exact: true })).toHaveCount(0);
  await page.goto(at('users'));

  // Two filters before the router shows the first of them.
  await button(page, 'Filters').click();
  const both = await Promise.all(
    ['Last sign-in', 'Second factor'].map((label) => filters.getByLabel(label).elementHandle()),
  );
  await page.evaluate(
    ([seen, factor]) => {
      for (const [field, value] of [[seen, 'never'] as const, [factor, 'no'] as const]) {
        (field as HTMLSelectElement).value = value;
        field?.dispatchEvent(new Event('change', { bubbles: true }));
      }
    },
    [both[0], both[1]] as const,
  );
  await expect(page).toHaveURL(/seen=never/);
  await expect(page).toHaveURL(/factor=no/);
  await page.goto(at('users'));

  await button(page, 'Columns').click();
  await page.getByRole('menuitemcheckbox', { name: 'Email' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('columnheader', { name: 'Email' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Email' })).toBeVisible();
  await expectAccessible(page);
});

test('search continues across pauses and spaces', async () => {
  const { page } = owner;
  await page.goto(at('users'));
  const search = page.getByRole('searchbox', { name: 'Search users' });
  await search.pressSequentially('ada ');
  await expect(page).toHaveURL(/search=ada$/);
  await search.pressSequentially('love');
  await expect(page).toHaveURL(/search=ada\+love$/);
  await expect(search).toHaveValue('ada love');
  await expect.poll(() => namesIn(page)).toEqual(['Ada Lovelace']);
});

test('another search can be typed after one without results, even if responses are slow', async () => {
  const { page } = owner;
  await page.goto(at('users?search=nobody'));
  await expect(page.getByText('No matching users')).toBeVisible();
  const responses = Promise.withResolvers<void>();
  await page.route('**/admin/graphql', async (route) => {
    await responses.promise;
    await route.fallback();
  });
  const search = page.getByRole('searchbox', { name: 'Search users' });
  await search.press('Control+A');
  await search.press('Backspace');
  await expect(page).toHaveURL(at('users'));
  await page.keyboard.type('gra');
  responses.resolve();
  await expect(search).toHaveValue('gra');
  await expect.poll(() => namesIn(page)).toEqual(['Grace Hopper']);
  await page.unrouteAll({ behavior: 'wait' });
});

test('the list is exported with the same search', async () => {
  const { page } = owner;
  await page.goto(at('users?search=gra'));
  await expect(page.getByText('1 user', { exact: true })).toBeVisible();
  await button(page, 'Export').click();
  const dialog = page.getByRole('dialog', { name: 'Export 1 user' });
  await expect(dialog).toContainText('All users matching your search and filters');
  await expectAccessible(page);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^users-.*\.csv$/);
  const [head, ...lines] = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect(head).toContain('"user_name"');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"grace.hopper@example.com"');
  await expect(page.getByText('Download started')).toBeVisible();
});

test('passkeys of a user are shown and revoked', async () => {
  const { page } = owner;
  const userId = await provision('Radia Perlman');
  const region = page.getByRole('region', { name: 'Passkeys' });
  await page.goto(at(`users/${userId}`));
  await expect(region.getByText('No passkeys')).toBeVisible();
  const database = await openDatabase(latchkey);
  await database.query(
    `insert into credentials (id, kind, project_id, user_id, credential_id, public_key, cose_alg, aaguid, transports,
       sign_count, backup_eligible, backed_up, user_verified, name, created_by, created_at, last_used_at)
     select gen_random_uuid(), 'passkey', $1, $2, name, 'x', -7, '', '{}', 0, synced, synced, synced, name, 'mail-code',
       now(), now() - n * interval '1 day'
     from (values (1, 'iCloud Keychain', true), (2, 'Security key', false)) as k(n, name, synced)`,
    [projectId, userId],
  );
  await database.end();
  await page.reload();
  const rows = region.getByRole('row');
  await expect(rows.nth(1)).toContainText('iCloud KeychainSyncedClaimedPIN or biometrics');
  await expect(rows.nth(2)).toContainText('Security keyOne device');
  await expectAccessible(page);
  await button(page, 'Revoke Security key').click();
  const dialog = page.getByRole('dialog', { name: 'Revoke Security key?' });
  await expect(dialog).toContainText('its sessions end immediately');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Revoke passkey' }).click();
  await expect(page.getByText('Security key revoked')).toBeVisible();
  await expect(rows).toHaveCount(2);
  await page.goto(at('events?type=passkey.revoked'));
  await expect(page.getByText('revoked the passkey Security key')).toBeVisible();
});

test('a recovery is granted with a code that is shown once, and cancelled', async () => {
  const { page } = owner;
  const userId = await provision('Adele Goldberg');
  await page.goto(at(`users/${userId}`));
  await button(page, 'Actions').click();
  await page.getByRole('menuitem', { name: 'Grant recovery' }).click();
  const dialog = page.getByRole('dialog', { name: 'Recover the account of Adele Goldberg' });
  await expect(dialog.getByRole('button', { name: 'Grant recovery' })).toBeDisabled();
  await dialog.getByLabel('Reason').fill('Lost the phone, called back');
  await dialog.getByLabel('Waiting time').selectOption('4 hours');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Grant recovery' }).click();
  const shown = page.getByRole('dialog', { name: 'Recovery code' });
  await expect(shown.getByText(/[0-9a-z]{4}(-[0-9a-z]{4}){3}/)).toBeVisible();
  await expectAccessible(page);
  await shown.getByRole('checkbox').check();
  await shown.getByRole('button', { name: 'Done' }).click();
  const region = page.getByRole('region', { name: 'Account recovery' });
  await expect(region.getByText('Lost the phone, called back')).toBeVisible();
  await expect(page.getByText(/[0-9a-z]{4}(-[0-9a-z]{4}){3}$/)).toHaveCount(0);
  await expectAccessible(page);
  await region.getByRole('button', { name: 'Cancel recovery' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel recovery' }).click();
  await expect(page.getByText('Recovery cancelled')).toBeVisible();
  await expect(region).toHaveCount(0);
  await page.goto(at('events?type=recovery.granted'));
  await expect(page.locator('summary', { hasText: 'an account recovery' })).toBeVisible();
});

test('user data is exported, and erasing lists the lost data', async () => {
  const { page } = owner;
  await page.goto(at('users?search=ada'));
  await page.getByRole('link', { name: 'Ada Lovelace' }).click();
  await expect(page.getByRole('region', { name: 'Groups' }).getByRole('link', { name: 'Engineering' })).toBeVisible();
  await button(page, 'Actions').click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export user data' }).click();
  const person = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  expect(person.profile).toMatchObject({ userName: 'ada.lovelace@example.com', provenance: 'scim' });
  expect(person.groups).toMatchObject([{ displayName: 'Engineering' }]);

  await button(page, 'Actions').click();
  await expectAccessible(page);
  await page.getByRole('menuitem', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase: ada.lovelace@example.com?' });
  await expect(dialog).toContainText('the place in 1 group');
  await dialog.getByRole('button', { name: 'Show GraphQL' }).click();
  const request = page.getByRole('dialog', { name: 'Admin API request' });
  await expect(request).toContainText('"action": "ERASE"');
  await request.getByRole('button', { name: 'Close' }).click();
  await expect(dialog.getByRole('button', { name: 'Erase', exact: true })).toBeDisabled();
  await dialog.getByRole('textbox').fill('ada.lovelace@example.com');
  await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
  await expect(page.getByText('ada.lovelace@example.com is erased')).toBeVisible();
});

test('a group shows its source, and its members are searchable', async () => {
  const { page } = owner;
  await page.goto(at('groups'));
  await page.getByRole('searchbox', { name: 'Search groups' }).fill('gine');
  await page.getByRole('link', { name: 'Engineering' }).click();
  await expect(page.getByRole('heading', { name: 'Engineering', level: 1 })).toBeVisible();
  await expect(page.getByText('the directory (directory)').first()).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search members' }).fill('hopper');
  await expect.poll(() => namesIn(page)).toEqual(['Grace Hopper']);
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await expect(page.getByRole('heading', { name: 'Grace Hopper', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('engin');
  await page.getByRole('option', { name: /^Engineering/ }).click();
  await expect(page.getByRole('heading', { name: 'Engineering', level: 1 })).toBeVisible();
});

test('an application shows the public keys for its assertions', async () => {
  const { page } = owner;
  const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x }] };
  const settings = { projectId, name: 'Server', tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT', jwks };
  const server = await admin.createClient(settings);
  await page.goto(at(`applications/${server.clientId}/keys`));
  await expect(page.getByRole('region', { name: 'JWK Set' })).toContainText(x);
  await page.goto(at(`applications/${clientId}/keys`));
  await expect(page.getByRole('region', { name: 'Client key' })).toContainText('Not set up');
});

test('the pages of groups, of an application’s events and of test sign-ins are accessible, even when empty', async () => {
  test.slow();
  const { page } = owner;
  const empty = await admin.createProject('Empty');
  const query = `{ groups(projectId: "${projectId}", first: 1) { edges { node { id } } } }`;
  type Found = { groups: { edges: { node: { id: string } }[] } };
  const group = (await admin.run<Found>(query)).groups.edges[0]?.node.id;
  const paths = [
    ...[`projects/${projectId}/groups`, `projects/${projectId}/groups/${group}`, `projects/${empty}/groups`],
    ...[`projects/${projectId}/applications/${clientId}/events`, 'trial', 'trial?error=access_denied'],
  ];
  for (const path of paths) {
    await test.step(path, async () => {
      await page.goto(`${latchkey.baseUrl}/admin/${path}`);
      await expect(page.locator('main :is(h1, h2, h3)').first()).toBeVisible();
      await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
      await expectAccessible(page);
    });
  }
});

test('a test sign-in from the quickstart shows decoded tokens, and its session can be ended', async () => {
  const { page, context } = owner;
  await page.goto(at(`applications/${clientId}`));
  const opened = context.waitForEvent('page');
  await button(page, 'Test sign-in').click();
  const tab = await opened;
  await signInOnPage(tab, admin, 'grace.hopper@example.com');
  await expect(tab.getByRole('heading', { name: 'Sign-in to Portal works' })).toBeVisible();
  expect(tab.url()).toBe(`${latchkey.baseUrl}/admin/trial`);
  await expect(tab.getByText('Signature verified')).toHaveCount(2);
  const claims = tab.getByRole('table', { name: 'ID token, claims' });
  await expect(claims.getByRole('row', { name: /^email grace\.hopper@example\.com/ })).toBeVisible();
  await expect(claims.getByRole('row', { name: /^aud / })).toContainText(clientId);
  await expect(tab.getByRole('table', { name: 'UserInfo' })).toContainText('Grace Hopper');
  await expect(tab.getByText('the access token is revoked')).toBeVisible();
  await expectAccessible(tab);
  await button(tab, 'End this session').click();
  await expect(tab.getByText('The session of grace.hopper@example.com has ended.')).toBeVisible();
  await tab.reload();
  await expect(tab.getByText('No test sign-in to show')).toBeVisible();
  await tab.close();

  await page.getByRole('navigation', { name: 'Application sections' }).getByRole('link', { name: 'Events' }).click();
  await expect(page.getByText('owner@example.com tested the sign-in of Portal')).toBeVisible();
});

test('a page whose script fails to load offers a reload, and the rest of the console stays', async () => {
  const { page } = owner;
  await page.goto(at('overview'));
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.route(/\/assets\/(groups-page|client-events)[\w.-]*\.js/, (route) => route.fulfill({ status: 404 }));
  const navigation = page.getByRole('navigation', { name: 'Console' });
  await navigation.getByRole('link', { name: 'Groups' }).click();
  await expect(page.getByRole('alert')).toContainText('This page could not be loaded');
  await expect(navigation).toBeVisible();
  await expectAccessible(page);
  await navigation.getByRole('link', { name: 'Users' }).click();
  await expect(page.getByRole('heading', { name: 'Users', exact: true })).toBeVisible();

  await page.goto(at(`applications/${clientId}/keys`));
  await page.getByRole('navigation', { name: 'Application sections' }).getByRole('link', { name: 'Events' }).click();
  await expect(page.getByRole('alert')).toContainText('This page could not be loaded');
  await page.unroute(/\/assets\/(groups-page|client-events)[\w.-]*\.js/);
  await button(page, 'Reload').click();
  await expect(page.getByRole('heading', { name: 'Events', level: 2 })).toBeVisible();
  // The browser reported only the errors that this test caused.
  for (const error of owner.browserErrors.splice(0)) expect(error).toContain('client-events');
});

test('a project admin tests sign-in, exports and erases; a viewer only reads', async ({ browser }) => {
  const who = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId } as const;
  const theirs = await visitConsole(browser, latchkey, admin, who);
  await theirs.page.goto(at('users'));
  await expect(button(theirs.page, 'Export')).toBeVisible();
  await theirs.page.goto(at(`applications/${clientId}`));
  await expect(button(theirs.page, 'Test sign-in')).toBeVisible();
  expect(theirs.browserErrors).toEqual([]);
  await theirs.context.close();

  const viewer = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, viewer);
  await page.goto(at('users'));
  await expect(page.getByRole('link', { name: 'Grace Hopper' })).toBeVisible();
  await expect(button(page, 'Export')).toHaveCount(0);
  const refused = await page.request.get(`${latchkey.baseUrl}/admin/export/users?project=${projectId}`);
  expect(refused.status()).toBe(403);
  await page.goto(at('groups'));
  await expect(page.getByRole('link', { name: 'Engineering' })).toBeVisible();
  await page.goto(at(`applications/${clientId}`));
  await expect(page.getByRole('heading', { name: 'Code' })).toBeVisible();
  await expect(button(page, 'Test sign-in')).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('the palette finds names by one character of Chinese, and without accents', async () => {
  const { page } = owner;
  for (const [displayName, local] of [
    ['山田太郎', 'yamada'],
    ['İbrahim O’Neill', 'ibrahim'],
  ]) {
    await admin.run(createUser, { input: { projectId, email: `${local}@example.com`, displayName } });
  }
  await page.goto(at('users'));
  await expect(page.getByRole('heading', { name: 'Users', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  const input = page.getByRole('combobox', { name: 'Search or go to' });
  await input.fill('田');
  await expect(page.getByRole('option', { name: /^山田太郎/ })).toBeVisible();
  await input.fill("IBRAHIM o'neill");
  await expect(page.getByRole('option', { name: /^İbrahim O’Neill/ })).toBeVisible();
  await page.keyboard.press('Escape');
});

test('the palette marks deactivated users, and opens their list', async () => {
  const { page } = owner;
  const input = { projectId, email: 'gone@example.com', displayName: 'Gone Girl' };
  const { id } = (await admin.run<{ createUser: { id: string } }>(createUser, { input })).createUser;
  const deactivate = { projectId, userIds: [id], action: 'DEACTIVATE' };
  const change = 'mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done } }';
  expect(await admin.run(change, { input: deactivate })).toEqual({ changeUsers: [{ done: true }] });
  await page.goto(at('users'));
  await expect(page.getByRole('heading', { name: 'Users', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  const search = page.getByRole('combobox', { name: 'Search or go to' });
  await search.fill('gone');
  await expect(page.getByRole('option', { name: /^Gone Girl/ })).toContainText('Deactivated');
  await search.fill('deactivated');
  await page.getByRole('option', { name: /^Deactivated/ }).click();
  await expect.poll(() => namesIn(page)).toEqual(['Gone Girl']);
});

test('previews name what is missing, instead of an empty select', async () => {
  const { page } = owner;
  const bare = await admin.createProject('Bare');
  const of = (path: string) => `${latchkey.baseUrl}/admin/projects/${bare}/${path}`;
  const { clientId: app } = await admin.createClient({ projectId: bare, name: 'App', redirectUris: [] });
  await page.goto(of(`applications/${app}/claims`));
  const preview = page.getByRole('region', { name: 'Preview' });
  await expect(preview.getByText('No users yet')).toBeVisible();
  await expect(preview.getByRole('combobox')).toHaveCount(0);
  await admin.run('mutation ($id: ID!) { deleteClient(id: $id) }', { id: app });
  const input = { projectId: bare, email: 'first@example.com' };
  const { id } = (await admin.run<{ createUser: { id: string } }>(createUser, { input })).createUser;
  await page.goto(of(`users/${id}`));
  const section = page.getByRole('region', { name: 'View as user' });
  await button(page, 'Preview').click();
  await expect(section.getByText('No applications yet')).toBeVisible();
  await expect(section.getByRole('combobox')).toHaveCount(0);
});

test('input for one user never applies to another', async () => {
  const { page } = owner;
  const add = async (displayName: string) => {
    const input = { projectId, email: `${displayName}@example.com`, displayName };
    return (await admin.run<{ createUser: { id: string } }>(createUser, { input })).createUser.id;
  };
  const [first] = [await add('Emmy'), await add('Sofja')];
  await page.goto(at(`users/${first}`));
  await expect(page.getByRole('heading', { name: 'Emmy', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('Sofja');
  await page.getByRole('option', { name: /^Sofja/ }).click();
  await expect(page.getByRole('heading', { name: 'Sofja', level: 1 })).toBeVisible();
  await page.getByRole('region', { name: 'Profile' }).getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Given name').fill('Sofja Wassiljewna');
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Emmy', level: 1, includeHidden: true })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});
