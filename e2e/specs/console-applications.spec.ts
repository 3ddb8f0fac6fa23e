import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { issuedSecret, tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Applications in the console: creation, keyboard use, and concurrent changes. */

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  owner = await visitConsole(browser, latchkey, admin, { email: 'ada@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  await owner.context.close();
});

const at = (path: string) => `${latchkey.baseUrl}/admin/projects/${projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function register(name: string): Promise<string> {
  const redirectUris = ['https://app.example.com/callback'];
  return (await admin.createClient({ projectId, name, redirectUris })).clientId;
}

test('the keyboard alone creates an application, and its keys are shown once', async () => {
  const { page, browserErrors } = owner;
  const { keyboard } = page;
  await page.goto(at('applications'));
  await tabTo(page, page.getByRole('link', { name: 'Create application' }));
  await keyboard.press('Enter');

  await expect(page.getByRole('heading', { name: 'Create application' })).toBeVisible();
  await expect(page.getByLabel('What do you connect?')).toBeFocused();
  await keyboard.press('Enter');
  await expect(page.getByText('Give it a name')).toBeVisible();
  await tabTo(page, page.getByRole('radio', { name: /Single-page application/ }));
  await keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: /Web server/ })).toBeChecked();
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await keyboard.type('Customer portal');
  await tabTo(page, button(page, 'Continue'));
  await keyboard.press('Enter');

  const address = page.getByLabel('Redirect URIs, 1', { exact: true });
  await expect(address).toBeFocused();
  await expect(address).toHaveValue('http://localhost:3001/callback');
  // The address is selected.
  await keyboard.type('http://portal.example.com/callback');
  await expect(page.getByText('Must be https; http only on localhost')).toBeVisible();
  await keyboard.press('Control+A');
  await keyboard.type('https://portal.example.com/callback');
  await keyboard.press('Enter');
  await keyboard.type('http://localhost:5173/callback');
  await tabTo(page, button(page, 'Create application'));
  await keyboard.press('Enter');

  await expect(page.getByRole('heading', { name: 'Customer portal is ready' })).toBeVisible();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  const keys = page.getByRole('region', { name: 'Its keys' });
  const secret = await issuedSecret(keys, 'cs').innerText();
  await expect(keys.getByText(/^lk_[ps]k_/)).toHaveCount(0);
  await expect(button(page, 'Done')).toBeDisabled();
  await tabTo(page, page.getByRole('checkbox', { name: "I've saved these keys" }));
  await keyboard.press('Space');
  await tabTo(page, button(page, 'Done'));
  await keyboard.press('Enter');

  await expect(page.getByRole('heading', { name: 'Customer portal', exact: true })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  await expect(page.getByRole('combobox', { name: 'Application type' })).toHaveValue('web-server');
  const settings = page.getByRole('region', { name: 'Connection settings' });
  await expect(settings.getByText(/^lk_pk_[\w-]{43}$/)).toBeVisible();
  const clientId = page.url().split('/').at(-1) ?? '';
  const created = await admin.run<{ client: object }>(
    `{ client(id: "${clientId}") { pkceRequired redirectUris postLogoutRedirectUris } }`,
  );
  expect(created.client).toEqual({
    pkceRequired: false,
    redirectUris: ['https://portal.example.com/callback', 'http://localhost:5173/callback'],
    postLogoutRedirectUris: [],
  });
  await page.goto(at('applications'));
  await expect(page.getByRole('row', { name: /Customer portal/ })).toContainText('Ready');
  expect(browserErrors).toEqual([]);
});

test('a single-page application gets no secret key, and a back end may have one later', async () => {
  const { page } = owner;
  await page.goto(at('applications/new'));
  await page.getByLabel('Name', { exact: true }).fill('Browser alone');
  await page.getByRole('radio', { name: /^Web server/ }).check();
  await page.getByRole('radio', { name: /^Single-page/ }).check();
  await button(page, 'Continue').click();
  // The second step keeps type and name.
  await page.reload();
  await expect(button(page, 'Create application')).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Browser alone');
  await page.goForward();
  await button(page, 'Create application').click();
  await expect(page.getByText('No redirect URI')).toHaveCount(0);
  const code = page.getByRole('region', { name: 'Browser only' });
  await expect(code).toContainText("redirectUri: 'http://localhost:5173/callback'");
  await expect(code).toContainText('http://localhost:5173/');
  const keys = page.getByRole('region', { name: 'Its keys' });
  await expect(keys.getByText(/^lk_pk_/)).toBeVisible();
  await expect(keys.getByText(/secret/i)).toHaveCount(0);
  await expectAccessible(page);
  await button(page, 'Done').click();
  await page.getByRole('navigation', { name: 'Application sections' }).getByRole('link', { name: 'Keys' }).click();
  const row = page.getByRole('table', { name: 'API keys' }).getByRole('row');
  await expect(row.filter({ hasText: 'lk_pk_' })).toHaveCount(1);
  await expect(row.filter({ hasText: 'lk_sk_' })).toHaveCount(0);
});

test('an application without a redirect URI gets one from a link of the last step', async () => {
  const { page } = owner;
  await page.goto(at('applications/new'));
  await page.getByLabel('Name', { exact: true }).fill('No address yet');
  await button(page, 'Continue').click();
  await page.getByLabel('Redirect URIs, 1', { exact: true }).fill('');
  await button(page, 'Create application').click();
  await expect(page.getByRole('heading', { name: 'No address yet is ready' })).toBeVisible();
  // The keys of this page are shown once.
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Add one' }).click();
  const settings = await opened;
  const address = settings.getByLabel('Redirect URIs, 1', { exact: true });
  await expect(address).toHaveAttribute('placeholder', 'http://localhost:5173/callback');
  await expect(address).toHaveValue('');
  await settings.close();
});

test('the snippets contain the application’s values', async () => {
  const { page } = owner;
  const clientId = await register('Snippets');
  await page.goto(at(`applications/${clientId}`));
  for (const library of ['HTML', 'React', '@latchkey/browser', 'Express', 'openid-client', 'curl']) {
    await page.getByRole('tab', { name: library }).click();
    const code = page.getByRole('region', { name: library });
    await expect(code).toContainText(latchkey.baseUrl);
    if (!/HTML|React|browser/.test(library)) await expect(code).toContainText(clientId);
  }
});

test('an address that was refused is added from its event, after a look at its host', async ({ browser }) => {
  const { page, browserErrors } = owner;
  const clientId = await register('Wiki');
  const refused = async (uri: string) => {
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: uri, response_type: 'code' });
    return (await fetch(`${latchkey.baseUrl}/authorize?${query}`, { redirect: 'manual' })).status;
  };
  const opened = async (on: Page) => {
    await on.goto(at(`applications/${clientId}/events`));
    await on.getByText(/A sign-in request of Wiki was refused/).click();
    await expect(on.getByText('Address of the request')).toBeVisible();
  };
  const add = 'Add this address';
  for (const uri of [
    'javascript:alert(document.domain)',
    'https://wiki.example.com@evil.example.com/callback',
    'http://wiki.example.com/callback',
    'https://b\u00fccher.example.com/callback',
    `https://wiki.example.com/${'x'.repeat(600)}`,
  ]) {
    expect(await refused(uri)).toBe(400);
    await opened(page);
    await expect(button(page, add), uri).toHaveCount(0);
  }
  const wanted = 'https://wiki.example.com/oidc/callback';
  expect(await refused(wanted)).toBe(400);

  const who = { email: 'looks@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const viewer = await visitConsole(browser, latchkey, admin, who);
  await opened(viewer.page);
  await expect(button(viewer.page, add)).toHaveCount(0);
  await viewer.context.close();

  await opened(page);
  const width = await button(page, add).evaluate((element) => element.clientWidth);
  expect(width).toBeLessThan(300);
  await button(page, add).click();
  const dialog = page.getByRole('dialog', { name: 'Add this address to Wiki?' });
  await expect(dialog.getByRole('code')).toHaveText([wanted, 'https://app.example.com/callback']);
  await expect(dialog.getByRole('strong')).toHaveText('wiki.example.com');
  await expectAccessible(page);
  await button(page, 'Add address').click();
  await expect(page.getByText('Address added')).toBeVisible();
  await expect(dialog).toBeHidden();
  const { client } = await admin.run<{ client: { redirectUris: string[] } }>(
    `{ client(id: "${clientId}") { redirectUris } }`,
  );
  expect(client.redirectUris).toEqual(['https://app.example.com/callback', wanted]);
  expect(await refused(wanted)).toBe(303);
  await expect(page.getByText('It is registered already.')).toBeVisible();
  await expect(button(page, add)).toHaveCount(0);
  await page.reload();
  await page.getByText(/A sign-in request of Wiki was refused: redirect uri/).click();
  await button(page, add).click();
  await expect(page.getByRole('dialog')).toContainText('It is registered already.');
  await page.keyboard.press('Escape');
  expect(browserErrors).toEqual([]);
});

test('settings show a diff before saving, and warn before leaving', async () => {
  const { page } = owner;
  const clientId = await register('Shop');
  await page.goto(at(`applications/${clientId}/settings`));
  await page.getByLabel('Name').fill('Shop EU');
  await button(page, 'Add redirect URI').click();
  await page.getByLabel('Redirect URIs, 2', { exact: true }).fill('https://eu.example.com/callback');
  await button(page, 'Remove https://app.example.com/callback').click();
  await page.getByRole('switch', { name: 'Require PKCE for SDK sign-in' }).check();

  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await expect(bar).toContainText('3 unsaved changes');
  await expect(bar.getByText('https://app.example.com/callback')).toBeVisible();
  await expect(bar).toContainText('will be refused immediately');
  expect(await page.evaluate(coveredOnceFocused)).toEqual([]);

  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Leave without saving?' })).toBeVisible();
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expect(page.getByRole('banner').first()).toBeInViewport({ ratio: 1 });
  await button(page, 'Stay').click();
  await button(page, 'Save changes').click();
  const toast = page.getByText('Saved', { exact: true });
  await expect(toast).toBeVisible();
  await expect(bar).toBeHidden();
  // The next change can be saved while the message is still there.
  await page.getByRole('switch', { name: 'Require PKCE for SDK sign-in' }).uncheck();
  await expect(toast).toBeVisible();
  const save = await button(page, 'Save changes').evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
  expect(save).toBe(true);
  await page.getByRole('switch', { name: 'Require PKCE for SDK sign-in' }).check();
  const { client } = await admin.run<{ client: object }>(
    `{ client(id: "${clientId}") { name redirectUris pkceRequired } }`,
  );
  expect(client).toEqual({ name: 'Shop EU', redirectUris: ['https://eu.example.com/callback'], pkceRequired: true });
});

test('security settings list the missing requirements of FAPI 2.0, and are saved', async () => {
  const { page } = owner;
  const clientId = await register('Bank');
  await page.goto(at(`applications/${clientId}/security`));
  await page.getByRole('switch', { name: 'FAPI 2.0 Security Profile' }).check();
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await expect(bar).toContainText('ID token signature: ES256 or EdDSA');
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeHidden();
  await page.getByRole('switch', { name: 'FAPI 2.0 Security Profile' }).uncheck();
  await page.getByRole('switch', { name: 'Require DPoP' }).check();
  await page.getByRole('switch', { name: 'Require pushed requests' }).check();
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  const fields = 'dpopRequired dpopNonceRequired pushedRequestsRequired fapiProfile';
  const { client } = await admin.run<{ client: object }>(`{ client(id: "${clientId}") { ${fields} } }`);
  const expected = { dpopRequired: true, dpopNonceRequired: false, pushedRequestsRequired: true, fapiProfile: false };
  expect(client).toEqual(expected);
});

test('edits made during a save stay, and saved values stay until the refetch', async () => {
  const { page } = owner;
  const clientId = await register('Slow');
  await page.goto(at(`applications/${clientId}/settings`));
  const [save, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const name = page.getByLabel('Name');
  await name.fill('Slower');
  await page.route('**/admin/graphql', async (route) => {
    const asked = route.request().postData() ?? '';
    if (asked.includes('mutation UpdateClient')) await save.promise;
    if (asked.includes('query ClientById')) await read.promise;
    await route.fallback();
  });
  await button(page, 'Save changes').click();
  await name.press('End');
  await name.pressSequentially(' and');
  save.resolve();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await name.pressSequentially(' slower');
  await expect(name).toHaveValue('Slower and slower');
  read.resolve();
  await expect(page.getByRole('heading', { name: 'Slower', exact: true })).toBeVisible();
  await expect(name).toHaveValue('Slower and slower');
  await page.unrouteAll({ behavior: 'wait' });
  await button(page, 'Save changes').click();
  await expect(page.getByRole('heading', { name: 'Slower and slower' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toBeHidden();
});

test('concurrent changes of an application are detected, not overwritten', async () => {
  const { page } = owner;
  const clientId = await register('Two at once');
  await page.goto(at(`applications/${clientId}/settings`));
  await page.getByLabel('Name').fill('Mine');
  const input = { id: clientId, name: 'Theirs' };
  await admin.run('mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }', { input });
  await button(page, 'Save changes').click();
  await expect(page.getByRole('alert')).toContainText('This client has changed since you read it');
  const { client } = await admin.run<{ client: object }>(`{ client(id: "${clientId}") { name } }`);
  expect(client).toEqual({ name: 'Theirs' });
  await expect(page.getByLabel('Name')).toHaveValue('Mine');
  await button(page, 'Load current values').click();
  await expect(page.getByRole('heading', { name: 'Theirs' })).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Unsaved changes' }).locator('del')).toHaveText('Theirs');
  await button(page, 'Save changes').click();
  await expect(page.getByRole('heading', { name: 'Mine' })).toBeVisible();
});

test('a lost answer keeps the form input, and is not shown as a refusal', async () => {
  const { page } = owner;
  const clientId = await register('Offline');
  await page.goto(at(`applications/${clientId}/settings`));
  await page.getByLabel('Name').fill('Typed before it broke');
  await page.route('**/admin/graphql', (route) => route.abort());
  await button(page, 'Save changes').click();
  await expect(page.getByRole('alert')).toContainText('it is not known whether this was saved');
  await expect(page.getByLabel('Name')).toHaveValue('Typed before it broke');
  await page.unroute('**/admin/graphql');
  await button(page, 'Save changes').click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Typed before it broke' })).toBeVisible();
});

test('an API key is rotated without downtime, and deleting requires the name', async () => {
  const { page } = owner;
  const clientId = await register('Keys');
  await page.goto(at(`applications/${clientId}/keys`));
  await button(page, 'Create key').click();
  await page.getByRole('menuitem', { name: /Secret key/ }).click();
  const dialog = page.getByRole('dialog', { name: 'New secret key' });
  await expect(issuedSecret(dialog, 'sk')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeVisible();
  await dialog.getByLabel("I've saved these keys").check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const keys = page.getByRole('table', { name: 'API keys' });
  await expect(keys.getByRole('row')).toHaveCount(4);
  await keys
    .getByRole('button', { name: /^Revoke lk_sk_/ })
    .last()
    .click();
  await button(page, 'Revoke key').click();
  await expect(keys.getByText('Revoked')).toBeVisible();

  await page.getByRole('link', { name: 'Danger' }).click();
  await button(page, 'Delete application').click();
  const asking = page.getByRole('dialog', { name: 'Delete Keys?' });
  await expect(asking).toContainText('2 live API keys');
  await expect(asking.getByRole('button', { name: 'Delete application' })).toBeDisabled();
  await asking.getByRole('textbox').fill('Keys');
  await asking.getByRole('button', { name: 'Delete application' }).click();
  await expect(page.getByRole('heading', { name: 'Applications', exact: true })).toBeVisible();
  await expect(page.getByRole('row', { name: /^Keys/ })).toHaveCount(0);
});

test('a viewer sees all of the project and can change nothing', async ({ browser }) => {
  const clientId = await register('Only to look at');
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(at('applications'));
  await expect(page.getByRole('link', { name: 'Only to look at' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Create application' })).toHaveCount(0);
  for (const part of ['settings', 'keys', 'tokens', 'danger']) {
    await page.goto(at(`applications/${clientId}/${part}`));
    await expect(page.getByText('You are a viewer of Acme')).toBeVisible();
    const main = page.getByRole('main');
    for (const field of await main.locator('input, select, textarea').all()) await expect(field).toBeDisabled();
    await expect(main.getByRole('button', { name: /Delete|Disable|New key|Revoke|Save|Add/ })).toHaveCount(0);
  }
  await expect(page.getByRole('navigation', { name: 'Console' }).getByText('Signing keys')).toHaveCount(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});

/** Controls under the top bar or the bar of changes once they have focus (WCAG 2.2, 2.4.11). Runs in the page. */
function coveredOnceFocused(): string[] {
  const controls = [...document.querySelectorAll<HTMLElement>('main :is(a, button, input, select)')];
  // The input of a file picker is hidden: its button has the focus.
  return [...controls, ...controls.toReversed()]
    .filter((control) => {
      if (!control.checkVisibility()) return false;
      control.focus();
      const { left, top, width, height } = control.getBoundingClientRect();
      const above = document.elementFromPoint(left + width / 2, top + height / 2);
      const bar = above?.closest('header, [role="region"]');
      return bar && !bar.contains(control);
    })
    .map((control) => control.outerHTML);
}
