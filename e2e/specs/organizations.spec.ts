/** A member of several organizations chooses one on the hosted page, and leaves one on the account page. An address leads to its connection. */
import { expect, type Page, test } from '@playwright/test';
import { client6App } from '../clients/secret-apps.ts';
import { type Served, serve } from '../clients/serve.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let product: Served;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Products');
  const update = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(update, { input: { id: projectId, organizationsEnabled: true } });
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
});

const long = 'Gesellschaft für Verbraucherdatenschutzgrundverordnungsangelegenheiten mbH & Co. KG <Nord>';

/** A user of the project who is a member of two organizations with slugs of this prefix. */
async function memberOf(prefix: string, email: string): Promise<void> {
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const { createUser } = await admin.run<{ createUser: { id: string } }>(create, { input: { projectId, email } });
  const found = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  const add = 'mutation ($input: AddOrganizationMemberInput!) { addOrganizationMember(input: $input) { id } }';
  for (const [slug, name] of [
    [`${prefix}-south`, 'South'],
    [`${prefix}-north`, long],
  ]) {
    const input = { projectId, slug, name };
    const { createOrganization } = await admin.run<{ createOrganization: { id: string } }>(found, { input });
    await admin.run(add, { input: { organizationId: createOrganization.id, userId: createUser.id } });
  }
}

const chooser = (page: Page) => page.getByRole('heading', { level: 1, name: 'Choose an organization' });

test('by keyboard, on a narrow page, after a reload, and again after going back', async ({ page }) => {
  await memberOf('ada', 'ada@example.com');
  await page.goto(`${product.origin}/login`);
  await signInOnPage(page, admin, 'ada@example.com');
  await expect(chooser(page)).toBeVisible();
  await expect(page.getByText('Continue to Product as a member of:')).toBeVisible();
  await expectAccessible(page);
  await page.reload();
  await tabTo(page, page.getByRole('button', { name: 'South' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(`${product.origin}/callback**`);
  await expect(page.locator('body')).toContainText('"org_slug":"ada-south"');

  // Back from the application, the flow has ended; the next sign-in asks again, the one used last first.
  await page.goBack();
  await expect(chooser(page)).toHaveCount(0);
  await page.goto(`${product.origin}/login`);
  await expect(page.getByRole('list').getByRole('button')).toHaveText(['South', long]);
  await page.getByRole('button', { name: long }).click();
  await expect(page.locator('body')).toContainText('"org_slug":"ada-north"');
});

test('without script, from right to left', async ({ browser }) => {
  await memberOf('layla', 'layla@example.com');
  const context = await browser.newContext({ locale: 'ar-EG' });
  const page = await context.newPage();
  await page.goto(`${product.origin}/login`);
  await page.locator('#userid').fill('layla@example.com');
  await page.getByRole('button', { name: 'متابعة', exact: true }).click();
  await expect.poll(async () => (await admin.messages('layla@example.com')).length).toBe(1);
  const [mail] = await admin.messages('layla@example.com');
  await page.locator('#otp').fill(/\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '');
  await expect(page.getByRole('heading', { level: 1, name: 'اختر مؤسسة' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
  await expectAccessible(page);
  const state = await context.storageState();
  const plain = await browser.newContext({ locale: 'ar-EG', javaScriptEnabled: false, storageState: state });
  const without = await plain.newPage();
  await without.goto(page.url());
  await without.getByRole('button', { name: 'South' }).click();
  await expect(without.locator('body')).toContainText('"org_slug":"layla-south"');
  await plain.close();
  await context.close();
});

test('the account page lists organizations, and leaves one', async ({ page }) => {
  await memberOf('grace', 'grace@example.com');
  await page.goto(`${product.origin}/login`);
  await signInOnPage(page, admin, 'grace@example.com');
  await page.getByRole('button', { name: 'South' }).click();
  await expect(page.locator('body')).toContainText('"org_slug":"grace-south"');
  await page.goto(`${latchkey.baseUrl}/account`);
  const own = page.getByRole('region', { name: 'Organizations' });
  await expect(own.getByRole('heading', { level: 3 })).toHaveText([long, 'South']);
  await own.locator('summary').last().click();
  await expectAccessible(page);
  await own.getByRole('button', { name: 'Leave: South' }).click();
  await expect(page.getByRole('status')).toHaveText('Saved.');
  await expect(own.getByRole('heading', { level: 3 })).toHaveText([long]);
  // The only one left needs no choice.
  await page.goto(`${product.origin}/login`);
  await expect(page.locator('body')).toContainText('"org_slug":"grace-north"');
});

test('an address of an organization that requires its identity provider leads there from the page', async ({
  page,
}) => {
  const slug = 'initech';
  const found = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  const created = await admin.run<{ createOrganization: { id: string } }>(found, {
    input: { projectId, slug, name: 'Initech' },
  });
  const organizationId = created.createOrganization.id;
  const add =
    'mutation ($input: AddOrganizationDomainInput!) { addOrganizationDomain(input: $input) { domain { id } } }';
  const { addOrganizationDomain } = await admin.run<{ addOrganizationDomain: { domain: { id: string } } }>(add, {
    input: { organizationId, domain: 'initech.example' },
  });
  const verify = 'mutation ($input: VerifyOrganizationDomainInput!) { verifyOrganizationDomain(input: $input) { id } }';
  await admin.run(verify, { input: { id: addOrganizationDomain.domain.id, reason: 'Test' } });
  const connect = 'mutation ($input: CreateConnectionInput!) { createConnection(input: $input) { connection { id } } }';
  const oidc = { issuer: 'https://idp.initech.invalid', clientId: 'latchkey', clientSecret: 'secret' };
  const { createConnection } = await admin.run<{ createConnection: { connection: { id: string } } }>(connect, {
    input: { organizationId, kind: 'OIDC', name: 'Initech', oidc },
  });
  const { id } = createConnection.connection;
  const enable = 'mutation ($input: SetConnectionStateInput!) { setConnectionState(input: $input) { id } }';
  await admin.run(enable, { input: { id, state: 'ENABLED' } });
  const update = 'mutation ($input: UpdateOrganizationInput!) { updateOrganization(input: $input) { id } }';
  await admin.run(update, { input: { id: organizationId, signIn: 'CONNECTION' } });
  await page.goto(`${product.origin}/login`);
  await page.getByLabel('Email address').fill('peter@initech.example');
  const start = page.waitForRequest((request) => request.url().includes(`/connect/${id}/start`));
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  expect(new URL((await start).url()).searchParams.get('login_hint')).toBe('peter@initech.example');
  // No server has this name: back at the page.
  await expect(page.getByRole('alert').filter({ visible: true })).toBeVisible();
  await expectAccessible(page);
});
