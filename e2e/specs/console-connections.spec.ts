import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import type { Application } from '../support/application.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { HostedPage } from '../support/hosted-page.ts';

/** Connections and SAML applications in the console. Another project is the provider. */

const hosted = HostedPage.ofTests();
let shop: Application;
let provider: Application;
let owner: Visit;

test.beforeAll(async ({ browser }) => {
  const { admin, latchkey } = hosted;
  shop = await hosted.register({ name: 'Shop' });
  provider = await hosted.register({ name: 'Provider' });
  owner = await visitConsole(browser, latchkey, admin, { email: 'connections-owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

const at = (path: string) => `${hosted.latchkey.baseUrl}/admin/projects/${shop.projectId}/${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

test('a draft leads from the redirect URI to an enabled connection, and a deletion names what is lost', async () => {
  const { page } = owner;
  const issuer = await hosted.admin.issuerOf(provider.projectId);
  await page.goto(at('connections'));
  await expect(page.getByText('No connections yet')).toBeVisible();
  await button(page, 'Create connection').click();
  await dialog(page).getByText('Another provider').click();
  await dialog(page).getByLabel('Name').fill('Acme');
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Create connection' }).click();
  await expect(heading(page, 'Acme')).toBeVisible();
  await expect(page.getByText(/At the provider, create a confidential client/)).toBeVisible();
  await expect(page.getByText(/\/connect\/[\w-]+\/callback$/)).toBeVisible();
  await expect(button(page, 'Test sign-in')).toBeDisabled();
  await expect(button(page, 'Enable connection')).toBeDisabled();

  await page.getByRole('textbox', { name: 'Issuer' }).fill('idp.acme.example');
  await page.getByLabel('Client ID').fill('latchkey');
  await page.getByLabel('Client secret').fill('s3cret');
  await button(page, 'Save').click();
  await expect(page.getByRole('textbox', { name: 'Issuer' })).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('textbox', { name: 'Issuer' }).fill(issuer);
  await button(page, 'Save').click();
  await expect(page.getByLabel('Client secret')).toHaveValue('');
  await expect(button(page, 'Test sign-in')).toBeEnabled();
  await button(page, 'Enable connection').click();
  await expect(dialog(page)).toContainText('Enable Acme without a test?');
  await dialog(page).getByRole('button', { name: 'Enable connection' }).click();
  await expect(page.getByText('Enabled', { exact: true })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
  await page.getByRole('textbox', { name: 'Issuer' }).fill(`${issuer}/other`);
  await expect(page.getByText('Enter the secret again for another issuer.')).toBeVisible();
  await button(page, 'Discard').click();
  await page.getByRole('switch', { name: 'Create accounts' }).check({ force: true });
  await button(page, 'Save changes').click();
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toHaveCount(0);

  await page.getByRole('link', { name: 'Danger', exact: true }).click();
  await tabTo(page, button(page, 'Delete connection'));
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toContainText('its settings and the client secret');
  await page.keyboard.type('Acme');
  await dialog(page).getByRole('button', { name: 'Delete connection' }).click();
  await expect(page.getByText('No connections yet')).toBeVisible();
});

test('a SAML application is created from its metadata, and finds the values of the project on one page', async () => {
  const { page } = owner;
  await page.goto(at('applications/new'));
  await page.getByText('SAML application', { exact: true }).click();
  await page.getByLabel('Name').fill('Wiki');
  await button(page, 'Continue').click();
  await expect(heading(page, 'Create SAML application')).toBeVisible();
  await page.getByLabel('Metadata of the application, or its address').fill(`<md:EntityDescriptor
      xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example.com/metadata">
      <md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
        <md:AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
          Location="https://wiki.example.com/acs"/>
      </md:SPSSODescriptor></md:EntityDescriptor>`);
  await button(page, 'Read metadata').click();
  await expect(page.getByLabel('Entity ID')).toHaveValue('https://wiki.example.com/metadata');
  await expect(page.getByLabel('ACS URLs, 1')).toHaveValue('https://wiki.example.com/acs');
  await expectAccessible(page);
  await button(page, 'Create application').click();
  await expect(heading(page, 'Wiki')).toBeVisible();
  await expect(page.getByText('Signs now')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Keys', exact: true })).toHaveCount(0);

  await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
  await page.getByRole('radio', { name: 'Email' }).check();
  await expect(page.getByText('The application may treat its users as new ones.')).toBeVisible();
  await button(page, 'Save changes').click();
  await expect(page.getByRole('region', { name: 'Unsaved changes' })).toHaveCount(0);

  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Enterprise credentials' }).click();
  const issuer = await hosted.admin.issuerOf(shop.projectId);
  await expect(page.getByText(`${issuer}/saml/sso`)).toBeVisible();
  await button(page, 'Rotate certificate').click();
  await dialog(page).getByRole('button', { name: 'Rotate certificate' }).click();
  await expect(page.getByRole('table', { name: 'Signing certificates' }).getByRole('row')).toHaveCount(3);
  await expect(button(page, 'Rotate certificate')).toBeDisabled();
  await expect(page.getByText(`/v1/scim/${shop.projectId}`)).toBeVisible();
  await expectAccessible(page);
});
