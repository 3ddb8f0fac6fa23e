/** A product is found in the wizard, and signs in with what the last step shows, without another page. */
import { expect, type Page, test } from '@playwright/test';
import { type Metadata, signInAs } from '../clients/product-shapes.ts';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Awaited<ReturnType<typeof visitConsole>>;
/** A server at the address of the product; it answers every request. */
let product: Served;

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Picked');
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  product = await serve(() => (_req, res) => void res.end('Back'));
});

test.afterAll(async () => {
  await owner.context.close();
  await product.close();
  await latchkey.stop();
});

const wizard = () => `${latchkey.baseUrl}/admin/projects/${projectId}/applications/new`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('Grafana is found by keyboard, and signs in, refreshes and signs out with the file that is shown', async ({
  browser,
}) => {
  const { page, browserErrors } = owner;
  await page.goto(wizard());
  await expect(page.getByLabel('What do you connect?')).toBeFocused();
  await page.keyboard.type('graf');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('radio', { name: 'Grafana' })).toBeChecked();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Grafana');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Address of your Grafana')).toBeFocused();
  // Nothing is created without it.
  await page.keyboard.press('Enter');
  await expect(page.getByText('Enter its address')).toBeVisible();
  await page.keyboard.type(`${product.origin}/`);
  await expect(page.getByText(`${product.origin}/login/generic_oauth`)).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Grafana is ready' })).toBeVisible();
  await expectAccessible(page);
  const ini = await page.getByRole('region', { name: 'grafana.ini' }).innerText();
  const values = Object.fromEntries(
    [...ini.matchAll(/^(\w+) = (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  await button(page, 'Create roles').click();
  await expect(page.getByText('Roles created')).toBeVisible();
  // The wizard is the only page of the console.
  expect(page.url()).toBe(wizard());
  expect(owner.context.pages()).toHaveLength(1);

  const roles = await rolesOf(values['client_id'] ?? '');
  expect(roles.sort()).toEqual(['admin', 'editor']);
  const visitor = await (await browser.newContext()).newPage();
  const issuer = (values['auth_url'] ?? '').replace(/\/authorize$/, '');
  const metadata = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Metadata;
  const redirectUri = new URL('/login/generic_oauth', values['root_url']).href;
  const visit = async (address: string) => {
    await visitor.goto(address);
    await signInOnPage(visitor, admin, 'grafana@example.com');
    await visitor.waitForURL(`${redirectUri}**`);
    return new URL(visitor.url());
  };
  const logouts: (() => Promise<void>)[] = [];
  const shape = { name: 'Grafana', authentication: 'encoded-basic', sendsNonce: false, verifies: 'any-key' } as const;
  const claims = await signInAs(
    {
      ...shape,
      ...{ scope: values['scopes'] ?? '', hasPkce: values['use_pkce'] === 'true', userInfo: {}, refresh: () => ({}) },
      logout: { path: '/login', withClientId: true },
    },
    { metadata, clientId: values['client_id'] ?? '', secret: values['client_secret'] ?? '', redirectUri },
    visit,
    logouts,
  );
  expect(claims).toMatchObject({ email: 'grafana@example.com', groups: [], roles: [] });
  for (const logOut of logouts) await logOut();
  await visitor.context().close();
  // The page of the application shows the settings again, without the secret.
  const clientId = values['client_id'] ?? '';
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}`);
  const again = page.getByRole('region', { name: 'grafana.ini' });
  await expect(again).toContainText('client_secret = …');
  await expect(again).toContainText(`client_id = ${clientId}`);
  await expectAccessible(page);
  expect(browserErrors).toEqual([]);
});

async function rolesOf(clientId: string): Promise<string[]> {
  const { roles } = await admin.run<{ roles: { key: string }[] }>(`{ roles(clientId: "${clientId}") { key } }`);
  return roles.map(({ key }) => key);
}

test('a product without a secret is a public client with RS256, and its settings can be changed first', async () => {
  const { page } = owner;
  await page.goto(wizard());
  await page.getByLabel('What do you connect?').fill('help desk');
  await page.getByRole('radio', { name: 'Zammad' }).check();
  await button(page, 'Continue').click();
  await page.reload();
  await page.getByLabel('Address of your Zammad').fill('help.example.com');
  await button(page, 'Change settings').click();
  await expect(page.getByLabel('Redirect URIs, 1', { exact: true })).toHaveValue(
    'https://help.example.com/auth/openid_connect/callback',
  );
  const creating = page.waitForRequest((request) => (request.postData() ?? '').includes('createClient('));
  await button(page, 'Create application').click();
  const sent = ((await creating).postDataJSON() as { variables: { input: object } }).variables.input;
  expect(sent).toMatchObject({
    ...{ name: 'Zammad', kind: 'WEB_SERVER', tokenEndpointAuthMethod: 'NONE', pkceRequired: true, secretKey: false },
    ...{ idTokenSignedResponseAlg: 'RS256', grantTypes: ['AUTHORIZATION_CODE'] },
  });
  await expect(page.getByText('Zammad is ready')).toBeVisible();
});

test('a machine gets a token with the command that is shown, once an API is chosen', async () => {
  const { page } = owner;
  await page.goto(wizard());
  await page.getByRole('radio', { name: /^Machine or script/ }).check();
  await button(page, 'Continue').click();
  await button(page, 'Create application').click();
  const command = await page.getByRole('region', { name: 'curl' }).innerText();
  const [, id = '', secret = '', endpoint = ''] = /curl -u ([^:]+):(\S+) (\S+)/.exec(command) ?? [];
  const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials', resource: 'https://api.example.com' });
  const refused = await fetch(endpoint, { method: 'POST', headers: { Authorization: basic }, body });
  // Authenticated; it has no API yet.
  expect(await refused.json()).toMatchObject({ error: 'invalid_target' });
  await expect(page.getByText('Test sign-in')).toHaveCount(0);
});

test('another choice clears the answers of the product, and a search without a match is explained', async () => {
  const { page } = owner;
  await page.goto(wizard());
  const search = page.getByLabel('What do you connect?');
  await search.fill('nextcl');
  await search.press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Nextcloud');
  await search.fill('');
  await page.getByRole('radio', { name: /^Single-page/ }).check();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('');
  await search.fill('no such product');
  await expect(page.getByText('No match.')).toBeVisible();
  await search.fill('');
  await page.getByLabel('Name', { exact: true }).fill('Own');
  await button(page, 'Continue').click();
  await expect(page.getByLabel('Redirect URIs, 1', { exact: true })).toHaveValue('http://localhost:5173/callback');
});
