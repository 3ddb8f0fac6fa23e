/** An IT contact connects an organization from one portal link alone; then its people sign in by their address. */
import { type Browser, expect, type Page, test } from '@playwright/test';
import { client6App } from '../clients/secret-apps.ts';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { DirectoryCycle } from '../support/directory-cycle.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { Contact } from '../support/portal-contact.ts';
import { signInOnPage } from '../support/sign-in.ts';
import { serveTxt, type TxtServer } from '../support/txt-server.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let dns: TxtServer;
let product: Served;
let projectId: string;
/** A project of its own is the identity provider of the companies. */
let providerId: string;

test.beforeAll(async () => {
  dns = await serveTxt();
  latchkey = await startLatchkey({ DNS_SERVERS: dns.address });
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Products');
  providerId = await admin.createProject('Provider');
  const update = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(update, { input: { id: projectId, organizationsEnabled: true } });
  const role = 'mutation ($input: CreateOrganizationRoleInput!) { createOrganizationRole(input: $input) { id } }';
  await admin.run(role, { input: { projectId, key: 'engineer', name: 'Engineer' } });
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

/** A company whose people have accounts at the provider. @returns the id of its organization, and a portal link */
async function company(slug: string, person: string): Promise<{ id: string; url: string }> {
  const user = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  await admin.run(user, { input: { projectId: providerId, email: person } });
  const create = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  type Created = { createOrganization: { id: string } };
  const input = { projectId, slug, name: slug };
  const { id } = (await admin.run<Created>(create, { input })).createOrganization;
  const link = 'mutation ($input: CreatePortalLinkInput!) { createPortalLink(input: $input) { url } }';
  const { createPortalLink } = await admin.run<{ createPortalLink: { url: string } }>(link, {
    input: { organizationId: id, can: ['DOMAINS', 'CONNECTION', 'DIRECTORY'], email: `it@${slug}.example` },
  });
  return { id, url: createPortalLink.url };
}

/** A person whom the directory has created signs in by home realm, until the directory deactivates them. */
async function signInUntil(browser: Browser, organizationId: string, person: string, deactivate: () => Promise<void>) {
  const require = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { id } }';
  await admin.run(require, { input: { id: organizationId, signIn: 'CONNECTION' } });
  const context = await browser.newContext();
  const own = await context.newPage();
  await own.goto(`${product.origin}/login`);
  await own.getByLabel('Email address').fill(person);
  await own.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(own.getByRole('heading', { level: 1, name: 'Sign in to Product of the company' })).toBeVisible();
  await signInOnPage(own, admin, person);
  await own.waitForURL(`${product.origin}/callback**`);
  const signedIn = async () => {
    await expect(own.locator('body')).toContainText(`"org_id":"${organizationId}"`);
    await expect(own.locator('body')).toContainText('"org_roles":["engineer"]');
  };
  await signedIn();
  // The session answers the next request without a page.
  await own.goto(`${product.origin}/login`);
  await signedIn();
  await deactivate();
  await own.goto(`${product.origin}/login`);
  await expect(own.getByLabel('Email address')).toBeVisible();
  await context.close();
}

/** Gives the members of a group of the directory a role. */
async function grant(groupId: string): Promise<void> {
  const assign = 'mutation ($input: AssignOrganizationRoleInput!) { assignOrganizationRole(input: $input) { id } }';
  await admin.run(assign, { input: { groupId, roleKey: 'engineer' } });
}

async function passTest(page: Page, contact: Contact, person: string): Promise<void> {
  await contact.click('Prepare test');
  const opened = page.waitForEvent('popup');
  await contact.follow('Start the test');
  const tab = await opened;
  await signInOnPage(tab, admin, person);
  await tab.waitForURL((url) => url.pathname.startsWith('/connect/'));
  await tab.close();
  await page.goto(`${latchkey.baseUrl}/portal`);
  await expect(page.getByText('Tested', { exact: true })).toBeVisible();
  await contact.click('Enable');
  await expect(page.getByText('Enabled', { exact: true })).toBeVisible();
}

test('OpenID Connect and Okta, then a sign-in that the directory ends', async ({ browser, page }) => {
  const person = 'peter@globex.example';
  const { id, url } = await company('globex', person);
  const contact = new Contact(page);
  await page.goto(url);
  await contact.click('Continue');
  await contact.prove('globex.example', dns);

  await contact.choose('Identity provider', 'generic');
  await contact.click('Continue');
  const made = await admin.createClient({
    projectId: providerId,
    name: 'Product of the company',
    tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
    redirectUris: [await contact.valueOf('Redirect URI')],
  });
  await contact.fill('Issuer', await admin.issuerOf(providerId));
  await contact.fill('Client ID', made.clientId);
  await contact.fill('Client secret', made.clientSecret ?? '');
  await contact.click('Save');
  await expect(page.getByRole('status')).toHaveText('The settings were saved. Test them next.');
  await expectAccessible(page);
  await passTest(page, contact, person);

  const service = await contact.directory();
  await page.getByText('Okta', { exact: true }).click();
  await expectAccessible(page);
  const cycle = new DirectoryCycle('okta-patch.json', service, {
    'isaac.brock@example.com': person,
    'Isaac.Brock@example.com': person,
    'isaac.brock%40example.com': encodeURIComponent(person),
  });
  await cycle.until('removes the member by filter');
  await contact.connected();
  await expectAccessible(page);
  await contact.complete();
  expect(contact.acts).toEqual({ clicks: 10, fields: 5 });

  await grant(cycle.valueOf('group'));
  await signInUntil(browser, id, person, () => cycle.only('deactivates without a path'));
});

test('SAML and Entra ID by keyboard alone, then a sign-in that the directory ends', async ({ browser, page }) => {
  const person = 'newer@initech.example';
  const { id, url } = await company('initech', person);
  const contact = new Contact(page, { byKeyboard: true });
  await page.goto(url);
  await contact.click('Continue');
  await contact.prove('initech.example', dns);

  await contact.choose('Identity provider', 'generic');
  await contact.choose('Protocol', 'saml');
  await contact.click('Continue');
  await admin.createClient({
    projectId: providerId,
    name: 'Product of the company',
    samlEntityId: await contact.valueOf('Entity ID (audience)'),
    redirectUris: [await contact.valueOf('ACS URL (Assertion Consumer Service)')],
  });
  await contact.fill('Metadata URL of the provider', `${await admin.issuerOf(providerId)}/saml/metadata`);
  await contact.click('Save');
  await passTest(page, contact, person);

  const cycle = new DirectoryCycle('entra-new.json', await contact.directory(), { 'contoso.com': 'initech.example' });
  await cycle.until('"op":"remove"');
  await contact.connected();
  await contact.complete();
  expect(contact.acts).toEqual({ clicks: 10, fields: 4 });

  await grant(cycle.valueOf('group'));
  await signInUntil(browser, id, person, () => cycle.only('one replace without a path'));
});
