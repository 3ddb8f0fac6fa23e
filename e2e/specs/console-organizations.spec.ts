import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import type { Application } from '../support/application.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { HostedPage } from '../support/hosted-page.ts';

/** Organizations in the console: an admin of a project makes its first customer. */

const hosted = HostedPage.ofTests();
let shop: Application;
let owner: Visit;
let adaId: string;

test.beforeAll(async ({ browser }) => {
  const { admin, latchkey } = hosted;
  shop = await hosted.register({ name: 'Shop' });
  const input = { projectId: shop.projectId, userName: 'ada@acme.example', displayName: 'Ada', invite: false };
  const query = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  adaId = (await admin.run<{ createUser: { id: string } }>(query, { input })).createUser.id;
  owner = await visitConsole(browser, latchkey, admin, { email: 'organizations-owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${hosted.latchkey.baseUrl}/admin/projects/${shop.projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const submit = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const inNavigation = (page: Page) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Organizations' });

async function switchOn(): Promise<void> {
  await hosted.admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: shop.projectId, organizationsEnabled: true },
  });
}

async function createOrganization(name: string, slug: string): Promise<string> {
  await switchOn();
  const query = 'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }';
  const input = { projectId: shop.projectId, name, slug };
  return (await hosted.admin.run<{ createOrganization: { id: string } }>(query, { input })).createOrganization.id;
}

test('an admin switches organizations on, and makes the first customer with a role and a member', async () => {
  const { page } = owner;
  await page.goto(at('settings'));
  await expect(heading(page, 'Settings')).toBeVisible();
  await expect(inNavigation(page)).toHaveCount(0);
  await page.getByRole('switch', { name: 'Organizations' }).check({ force: true });
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await inNavigation(page).click();

  await expect(page.getByText('No organizations yet')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Roles', exact: true }).last().click();
  await expect(page.getByText('No organization roles yet')).toBeVisible();
  await button(page, 'Create role').first().click();
  await dialog(page).getByLabel('Name').fill('Billing');
  await expect(dialog(page).getByLabel('Key')).toHaveValue('billing');
  await submit(page, 'Create role').click();
  await expect(page.getByRole('row', { name: /Billing/ })).toBeVisible();
  await expectAccessible(page);

  await inNavigation(page).click();
  await button(page, 'Create organization').first().click();
  await dialog(page).getByLabel('Name').fill('Acme & Söhne');
  await expect(dialog(page).getByLabel('Slug')).toHaveValue('acme-sohne');
  await dialog(page).getByLabel('Slug').fill('acme');
  await expectAccessible(page);
  await submit(page, 'Create organization').click();
  await expect(heading(page, 'Acme & Söhne')).toBeVisible();
  await expect(page.getByText('No members yet')).toBeVisible();

  await button(page, 'Add member').click();
  await dialog(page).getByRole('combobox', { name: 'User' }).fill('ada');
  await page.getByRole('option', { name: /Ada/ }).click();
  await dialog(page).getByRole('combobox', { name: 'Roles' }).click();
  await page.getByRole('option', { name: 'Billing' }).click();
  await page.keyboard.press('Escape');
  await submit(page, 'Add member').click();
  const ada = page.getByRole('row', { name: /Ada/ });
  await expect(ada).toContainText('Billing');
  await expect(ada).toContainText('Admin');
  await expect(page.getByText('Members: 1')).toBeVisible();
  await expectAccessible(page);

  await button(page, 'Suspend Ada').click();
  await expect(dialog(page)).toContainText('Ada can no longer sign in to Acme & Söhne');
  await submit(page, 'Suspend').click();
  await expect(ada).toContainText('Suspended');
  await button(page, 'Activate Ada').click();
  await expect(ada).toContainText('Active');

  await page.getByRole('link', { name: 'Events', exact: true }).last().click();
  await expect(page.getByText('ada@acme.example became a member of Acme & Söhne')).toBeVisible();
  await expectAccessible(page);

  await page.goto(at(`users/${adaId}`));
  const row = page.getByRole('table', { name: 'Organizations' }).getByRole('row', { name: /Acme/ });
  await expect(row).toContainText('Billing');
  await expectAccessible(page);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('söhne');
  await page.getByRole('option', { name: /Acme/ }).click();
  await expect(heading(page, 'Acme & Söhne')).toBeVisible();
});

test('settings show their effect, and a slug that is taken or metadata that is no object is refused', async () => {
  const id = await createOrganization('Globex', 'globex');
  await createOrganization('Initech', 'initech');
  const { page } = owner;
  await page.goto(at(`organizations/${id}/settings`));
  const metadata = page.getByRole('textbox', { name: 'Metadata' });
  await metadata.fill('plan: pro');
  await button(page, 'Save changes').click();
  await expect(metadata).toBeFocused();
  await metadata.fill('{"plan": "pro"}');
  await page.getByLabel('Slug').fill('initech');
  await button(page, 'Save changes').click();
  await expect(page.getByLabel('Slug')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Slug').fill('globex-corp');
  await page.getByRole('radio', { name: 'Required' }).check();
  // By keyboard: the bar with the changes can cover it from the pointer.
  await page.getByRole('switch', { name: /^Idle timeout/ }).press('Space');
  await expect(page.getByText(/^No effect: the project ends sessions/)).toBeVisible();
  await page.getByRole('textbox', { name: 'Idle timeout' }).fill('5');
  await expectAccessible(page);
  await button(page, 'Save changes').click();
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toHaveCount(0);
  const query =
    'query ($id: ID!) { organization(id: $id) { slug mfaPolicy idleTimeoutSeconds maxSessionSeconds metadata } }';
  expect(await hosted.admin.run(query, { id })).toEqual({
    organization: {
      ...{ slug: 'globex-corp', mfaPolicy: 'REQUIRED', idleTimeoutSeconds: 300, maxSessionSeconds: null },
      metadata: { plan: 'pro' },
    },
  });
});

test('the keyboard suspends an organization and deletes it by its name', async () => {
  const id = await createOrganization('Hooli', 'hooli');
  const { page } = owner;
  await page.goto(at(`organizations/${id}/danger`));
  await tabTo(page, button(page, 'Suspend organization'));
  await page.keyboard.press('Enter');
  await tabTo(page, submit(page, 'Suspend organization'));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Suspended: no one can sign in to this organization.')).toBeVisible();
  await expectAccessible(page);
  await tabTo(page, button(page, 'Delete organization'));
  await page.keyboard.press('Enter');
  await expect(submit(page, 'Delete organization')).toBeDisabled();
  await page.keyboard.type('Hooli');
  await tabTo(page, submit(page, 'Delete organization'));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Organizations')).toBeVisible();
  await expect(page.getByText('Hooli', { exact: true })).toHaveCount(0);
});

test('an application is given to an organization', async () => {
  await createOrganization('Umbrella', 'umbrella');
  const { page } = owner;
  await page.goto(at(`applications/${shop.clientId}/access`));
  await button(page, 'Give access').click();
  await dialog(page).getByText('Organization', { exact: true }).click();
  await dialog(page).getByRole('combobox', { name: 'Organization' }).fill('umbr');
  await page.getByRole('option', { name: /Umbrella/ }).click();
  await expectAccessible(page);
  await submit(page, 'Give access').click();
  await expect(page.getByRole('table', { name: 'Assigned' }).getByRole('row', { name: /Umbrella/ })).toContainText(
    'Members: 0',
  );
  await expect(page.getByRole('switch', { name: 'Require an organization' })).toBeEnabled();
});

test('a viewer sees the organization and its members, and no control; a German admin reads German', async ({
  browser,
}) => {
  const id = await createOrganization('Tyrell', 'tyrell');
  await hosted.admin.run(
    'mutation ($input: AddOrganizationMemberInput!) { addOrganizationMember(input: $input) { id } }',
    { input: { organizationId: id, userId: adaId } },
  );
  const who = { email: 'organizations-viewer@example.com', role: 'PROJECT_VIEWER', projectId: shop.projectId } as const;
  const { page, context } = await visitConsole(browser, hosted.latchkey, hosted.admin, who);
  await page.goto(at(`organizations/${id}`));
  await expect(page.getByRole('row', { name: /Ada/ })).toContainText('Active');
  await expect(page.getByRole('main').getByRole('button', { name: /Add|Suspend|Remove|Assign/ })).toHaveCount(0);
  await context.close();

  const storageState = await owner.context.storageState();
  const german = await browser.newContext({ storageState, locale: 'de-DE' });
  const inGerman = await german.newPage();
  await inGerman.goto(at(`organizations/${id}`));
  await expect(inGerman.getByRole('button', { name: 'Mitglied hinzufügen' })).toBeVisible();
  await expect(inGerman.getByRole('button', { name: 'Ada sperren' })).toBeVisible();
  await german.close();
});

test('an admin of an organization manages it on its page, and sends nothing that is refused', async ({ browser }) => {
  const [id, oscorp] = [
    await createOrganization('Cyberdyne', 'cyberdyne'),
    await createOrganization('Oscorp', 'oscorp'),
  ];
  const grant = { role: 'ORGANIZATION_ADMIN', projectId: shop.projectId, organizationIds: [id] } as const;
  const who = { email: 'admin@cyberdyne.example', ...grant };
  const visit = await visitConsole(browser, hosted.latchkey, hosted.admin, who);
  const { page, context } = visit;
  const own = page.getByRole('row', { name: /Cyberdyne/ });
  await expect(own).toContainText('Active');
  const queries = new Set<string>();
  const refused: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().endsWith('/admin/graphql')) return;
    const name = /^(?:query|mutation) (\w+)/.exec(response.request().postDataJSON().query)?.[1] ?? '?';
    queries.add(name);
    const body = await response.text().catch(() => '');
    if (body.includes('"errors"')) refused.push(`${name}: ${body}`);
  });
  await page.goto(`${hosted.latchkey.baseUrl}/admin`);
  await expect(heading(page, 'Organizations')).toBeVisible();
  await expect(own).toBeVisible();
  await expect(page.getByText('Oscorp')).toHaveCount(0);
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('banner').getByRole('button')).toHaveCount(1);
  await expectAccessible(page);
  expect([...queries].sort()).toEqual(['AdministeredOrganizations', 'Frame', 'Session']);

  await tabTo(page, own.getByRole('link'));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Cyberdyne')).toBeVisible();
  const tabs = page.getByRole('navigation', { name: 'Sections of the organization' }).getByRole('link');
  const shown = ['People', 'Invitations', 'Domains', 'Connections', 'Directory', 'Portal', 'Events'];
  await expect(tabs).toHaveText(shown);
  await expect(button(page, 'Add member')).toHaveCount(0);
  await page.getByRole('link', { name: 'Invite member' }).click();
  await button(page, 'Invite member').click();
  await dialog(page).getByLabel('Email address').fill('miles@cyberdyne.example');
  await submit(page, 'Send invitation').click();
  await expect(page.getByRole('row', { name: /miles@cyberdyne/ })).toContainText('Pending');
  await tabs.getByText('Domains').click();
  await button(page, 'Add domain').click();
  await dialog(page).getByLabel('Domain').fill('cyberdyne.example');
  await submit(page, 'Add domain').click();
  await expect(page.getByRole('list', { name: 'Mail domains' })).toContainText('Pending');
  await expect(button(page, 'Verify cyberdyne.example without a record')).toHaveCount(0);
  await expect(page.getByText('Join by domain')).toHaveCount(0);
  await expectAccessible(page);
  await tabs.getByText('Directory').click();
  await expect(page.getByRole('heading', { name: 'Tokens', exact: true })).toBeVisible();
  await button(page, 'Show requests').click();
  await expect(page.getByText('No requests yet')).toBeVisible();
  await expectAccessible(page);
  await tabs.getByText('Portal').click();
  await expect(page.getByText('No portal links yet')).toBeVisible();
  await button(page, 'New portal link').click();
  await dialog(page).getByLabel('Email address').fill('it@cyberdyne.example');
  await expect(dialog(page).getByRole('checkbox')).toHaveCount(3);
  await dialog(page).getByRole('checkbox', { name: 'Single sign-on' }).uncheck();
  await submit(page, 'Create link').click();
  await expect(dialog(page).getByText(/\/portal\/[\w-]+/)).toBeVisible();
  await dialog(page).getByRole('checkbox').check();
  await submit(page, 'Done').click();
  const link = page.getByRole('row', { name: /it@cyberdyne/ });
  await expect(link).toContainText('Not opened');
  await expect(link).toContainText('Mail domains');
  await expect(link).not.toContainText('Single sign-on');
  await link.getByRole('button', { name: 'Send again: it@cyberdyne.example' }).click();
  await expect(page.getByText('Link sent')).toBeVisible();
  await link.getByRole('button', { name: 'Revoke the link of it@cyberdyne.example' }).click();
  await submit(page, 'Revoke').click();
  await expect(link).toContainText('Revoked');
  await expect(link.getByRole('button')).toHaveCount(0);
  await expectAccessible(page);
  await tabs.getByText('Events').click();
  await page.getByText('added the domain').click();
  await expect(page.getByText('organization-domain.added')).toBeVisible();
  await expect(page.getByRole('link', { name: /^All of/ })).toHaveCount(0);
  await tabs.getByText('Connections').click();
  await button(page, 'Create connection').click();
  await submit(page, 'Create connection').click();
  await expect(heading(page, 'Okta')).toBeVisible();
  await expect(page).toHaveURL(/\/admin\/connections\//);
  for (const tab of ['Settings', 'Events', 'Danger', 'Overview']) {
    await page.getByRole('navigation', { name: 'Sections of the connection' }).getByText(tab).click();
    await expect(page.getByRole('main')).not.toContainText('could not be loaded');
  }
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Cyberdyne' }).click();
  await expect(own.or(page.getByRole('row', { name: /Okta/ }))).toBeVisible();
  expect(refused).toEqual([]);

  for (const path of [`organizations/${id}/settings`, `organizations/${oscorp}`, 'projects', 'team']) {
    await page.goto(`${hosted.latchkey.baseUrl}/admin/${path}`);
    await expect(heading(page, 'Not found')).toBeVisible();
  }
  await page.getByRole('link', { name: 'Go to home' }).click();
  await expect(own).toBeVisible();
  await page.getByRole('button', { name: /^Account: / }).click();
  const account = page.getByRole('dialog', { name: 'Account' });
  await expect(account).toContainText('Organization admin');
  await expect(account.getByRole('link', { name: 'Your account' })).toBeVisible();
  await expectAccessible(page);
  await account.locator('label').filter({ hasText: 'Dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await account.getByLabel('Language').selectOption('Deutsch');
  await expect(heading(page, 'Organisationen')).toBeVisible();
  await expect(page.getByText('Organisationen, die Sie verwalten')).toBeVisible();
  await expect(own).toContainText('Aktiv');
  await page.getByRole('button', { name: /^Konto: / }).click();
  await expect(page.getByRole('link', { name: 'Abmelden' })).toHaveAttribute('href', /^\/oauth2\/end_session\?/);
  expect(refused).toEqual([]);
  expect(visit.browserErrors).toEqual([]);
  await context.close();
});
