/** An IT contact connects an organization from one portal link alone; then its people sign in by their address. */
import { expect, type Locator, test } from '@playwright/test';
import { client6App } from '../clients/secret-apps.ts';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';
import { serveTxt, type TxtServer } from '../support/txt-server.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let dns: TxtServer;
let product: Served;
let projectId: string;
/** A project of its own is the identity provider of the company. */
let providerId: string;
let organizationId: string;

const person = 'peter@globex.example';

test.beforeAll(async () => {
  dns = await serveTxt();
  latchkey = await startLatchkey({ DNS_SERVERS: dns.address });
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Products');
  providerId = await admin.createProject('Provider');
  const update = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(update, { input: { id: projectId, organizationsEnabled: true } });
  const user = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  await admin.run(user, { input: { projectId: providerId, email: person } });
  const create = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  const input = { projectId, slug: 'globex', name: 'Globex' };
  type Created = { createOrganization: { id: string } };
  organizationId = (await admin.run<Created>(create, { input })).createOrganization.id;
  const issuer = await admin.issuerOf(projectId);
  product = await serve(async (origin) => {
    const settings = { tokenEndpointAuthMethod: 'CLIENT_SECRET_POST', redirectUris: [`${origin}/callback`] };
    const made = await admin.createClient({ projectId, name: 'Product', ...settings });
    return client6App({ origin, issuer, clientId: made.clientId, secret: made.clientSecret ?? '' });
  });
});

test.afterAll(async () => {
  await product.close();
  await latchkey.stop();
  dns.close();
});

test('a domain and a connection, then a sign-in that its directory ends', async ({ browser, page }) => {
  const acts = { clicks: 0, fields: 0 };
  const click = async (target: Locator) => {
    acts.clicks += 1;
    await target.click();
  };
  const fill = async (target: Locator, text: string) => {
    acts.fields += 1;
    await target.fill(text);
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (name: string) => page.getByLabel(name, { exact: true });

  const link = 'mutation ($input: CreatePortalLinkInput!) { createPortalLink(input: $input) { url } }';
  const input = { organizationId, can: ['DOMAINS', 'CONNECTION'], email: 'it@globex.example' };
  const { createPortalLink } = await admin.run<{ createPortalLink: { url: string } }>(link, { input });
  await page.goto(createPortalLink.url);
  await click(button('Continue'));

  await fill(field('Domain'), 'globex.example');
  await click(button('Add domain'));
  dns.value = await field('Value').inputValue();
  await click(button('Check now: globex.example'));
  await expect(page.getByText('Verified', { exact: true })).toBeVisible();

  acts.fields += 1;
  await field('Identity provider').selectOption('generic');
  await click(button('Continue'));
  const made = await admin.createClient({
    projectId: providerId,
    name: 'Globex at the product',
    tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
    redirectUris: [await field('Redirect URI').inputValue()],
  });
  await fill(field('Issuer'), await admin.issuerOf(providerId));
  await fill(field('Client ID'), made.clientId);
  await fill(field('Client secret'), made.clientSecret ?? '');
  await click(button('Save'));
  await expect(page.getByRole('status')).toHaveText('The settings were saved. Test them next.');
  await expectAccessible(page);
  await click(button('Prepare test'));
  const opened = page.waitForEvent('popup');
  await click(page.getByRole('link', { name: 'Start the test' }));
  const tab = await opened;
  await signInOnPage(tab, admin, person);
  await tab.waitForURL((url) => url.pathname.startsWith('/connect/'));
  await tab.close();
  await page.goto(`${latchkey.baseUrl}/portal`);
  await expect(page.getByText('Tested', { exact: true })).toBeVisible();
  await click(button('Enable'));
  await expect(page.getByText('Enabled', { exact: true })).toBeVisible();
  await click(button('Complete set-up'));
  await expect(page.getByRole('status')).toHaveText('The set-up is complete. You can close this page.');
  expect(acts).toEqual({ clicks: 9, fields: 5 });

  const require = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { id } }';
  await admin.run(require, { input: { id: organizationId, signIn: 'CONNECTION' } });
  const issue = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
  const { issueScimToken } = await admin.run<{ issueScimToken: { token: string } }>(issue, {
    input: { organizationId, name: 'Directory' },
  });
  const scim = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${latchkey.baseUrl}/v1/scim/${organizationId}${path}`, {
      method,
      headers: { Authorization: `Bearer ${issueScimToken.token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    expect(answer.ok, await answer.clone().text()).toBe(true);
    return (await answer.json()) as { id: string };
  };
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const emails = [{ value: person, primary: true }];
  const { id } = await scim('POST', '/Users', { schemas, userName: person, emails, active: true });

  const context = await browser.newContext();
  const own = await context.newPage();
  await own.goto(`${product.origin}/login`);
  await own.getByLabel('Email address').fill(person);
  await own.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(own.getByRole('heading', { level: 1, name: 'Sign in to Globex at the product' })).toBeVisible();
  await signInOnPage(own, admin, person);
  await own.waitForURL(`${product.origin}/callback**`);
  await expect(own.locator('body')).toContainText(`"org_id":"${organizationId}"`);
  // The session answers the next request without a page.
  await own.goto(`${product.origin}/login`);
  await expect(own.locator('body')).toContainText(`"org_id":"${organizationId}"`);

  const patch = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const Operations = [{ op: 'replace', value: { active: false } }];
  await scim('PATCH', `/Users/${id}`, { schemas: patch, Operations });
  await own.goto(`${product.origin}/login`);
  await expect(own.getByLabel('Email address')).toBeVisible();
  await context.close();
});
