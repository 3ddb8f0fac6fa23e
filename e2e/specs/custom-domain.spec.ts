/** A project with its own host: added in the console, then sign-in, passkey and account page in a browser. */
import { createHash, randomBytes } from 'node:crypto';
import { expect, type Page, test } from '@playwright/test';
import { type Callback, listenForCallback } from '../clients/callback.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Inbox } from '../support/application.ts';
import { visitConsole } from '../support/console.ts';
import { press, proveAddress, titled } from '../support/hosted-page.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { serveTxt, type TxtServer } from '../support/txt-server.ts';
import { VirtualAuthenticator } from '../support/virtual-authenticator.ts';

/** Below `localhost`, so that plain HTTP is a secure context. */
const host = 'login.customer.localhost';

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const args = [...(launchOptions.args ?? []), `--host-resolver-rules=MAP ${host} 127.0.0.1`];
    await use({ ...launchOptions, args });
  },
});

let latchkey: Latchkey;
let admin: AdminApi;
let dns: TxtServer;
let callback: Callback;
let projectId: string;
let clientId: string;
let site: string;

test.beforeAll(async () => {
  dns = await serveTxt();
  latchkey = await startLatchkey({ DNS_SERVERS: dns.address });
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  callback = await listenForCallback();
  projectId = await admin.createProject('Customer');
  ({ clientId } = await admin.createClient({ projectId, name: 'Portal', redirectUris: [callback.redirectUri] }));
  site = latchkey.baseUrl.replace('localhost', host);
});

test.afterAll(async () => {
  await callback.close();
  await latchkey.stop();
  dns.close();
});

/** Begins a sign-in at an issuer; resolves to the claims of the ID token that the page gets. */
async function begin(page: Page, issuer: string): Promise<() => Promise<Record<string, string>>> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback.redirectUri,
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  await page.goto(`${issuer}/authorize?${query}`);
  return async () => {
    const { searchParams } = await callback.next();
    expect(searchParams.get('iss')).toBe(issuer);
    await titled(page, 'Welcome back');
    const form = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: callback.redirectUri };
    const body = new URLSearchParams({ ...form, code: searchParams.get('code') ?? '', code_verifier: verifier });
    // From the page: its origin is registered.
    const answer = await page.evaluate(
      async ([address, text]) => {
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
        return (await fetch(address as string, { method: 'POST', headers, body: text as string })).json();
      },
      [`${issuer}/oauth2/token`, body.toString()],
    );
    return JSON.parse(Buffer.from(answer.id_token.split('.')[1], 'base64url').toString());
  };
}

test('a domain is added in the console, and its users sign in there', async ({ browser, page, context }) => {
  await test.step('the console shows the record, and finds it', async () => {
    const path = `/admin/projects/${projectId}/settings`;
    const { page: console, browserErrors } = await visitConsole(
      browser,
      latchkey,
      admin,
      { email: 'owner@example.com', role: 'OWNER' },
      path,
    );
    await expect(console.getByText('No custom domains')).toBeVisible();
    await console.getByRole('button', { name: 'Add domain' }).click();
    const dialog = console.getByRole('dialog');
    await dialog.getByLabel('Domain').fill('co.uk');
    await dialog.getByRole('button', { name: 'Add domain' }).click();
    await expect(dialog.getByText('public suffix')).toBeVisible();
    await dialog.getByLabel('Domain').fill(host.toUpperCase());
    await console.mouse.move(0, 0);
    await expectAccessible(console);
    await dialog.getByRole('button', { name: 'Add domain' }).click();
    const section = console.getByRole('region', { name: 'Custom domains' });
    await expect(section.getByText(`_latchkey-challenge.${host}`)).toBeVisible();
    await section.getByRole('button', { name: `Check now: ${host}` }).click();
    await expect(section.getByText('record not found')).toBeVisible();
    dns.value = await section.getByText(/^[\w-]{43}$/).innerText();
    await section.getByRole('button', { name: `Check now: ${host}` }).click();
    await expect(section.getByText('Verified')).toBeVisible();
    await expect(section.getByText(site, { exact: true })).toBeVisible();
    await console.mouse.move(0, 0);
    await expectAccessible(console);
    dns.failing = host;
    await section.getByRole('button', { name: `Check now: ${host}` }).click();
    await expect(section.getByText('Its name servers do not answer')).toBeVisible();
    await expect(section.getByText('The domain stops working in 7 days, unless a check succeeds.')).toBeVisible();
    await expect(section.getByText('Needs attention')).toBeVisible();
    await console.mouse.move(0, 0);
    await expectAccessible(console);
    dns.failing = null;
    await section.getByRole('button', { name: `Check now: ${host}` }).click();
    await expect(section.getByText('Its name servers do not answer')).toHaveCount(0);
    await console.mouse.move(0, 0);
    const asked = await fetch(`${latchkey.managementUrl}/internal/domains/check?domain=${host}`);
    expect(asked.status).toBe(200);
    expect((await fetch(`${latchkey.managementUrl}/internal/domains/check?domain=x.${host}`)).status).toBe(404);
    expect(browserErrors).toEqual([]);
    await console.context().close();
  });

  const authenticator = await VirtualAuthenticator.connect(page);
  const inbox = new Inbox(admin, 'ada@example.com');
  const first = await begin(page, site);
  expect(new URL(page.url()).origin).toBe(site);
  await expectAccessible(page);
  await proveAddress(page, inbox);
  await titled(page, 'Create a passkey');
  await press(page, 'Create passkey');
  const { sub, iss } = await first();
  expect(iss).toBe(site);
  expect(await authenticator.credentials()).toMatchObject([{ rpId: host }]);

  await test.step('the passkey signs in there, and is not offered at the base host', async () => {
    await context.clearCookies();
    const second = await begin(page, site);
    await page.getByRole('button', { name: 'Use a passkey', exact: true }).click();
    expect(await second()).toMatchObject({ sub, iss: site });
  });

  await test.step('the account page is served, and the base host has no session', async () => {
    await page.goto(`${site}/account`);
    await expect(page.getByText('ada@example.com').first()).toBeVisible();
    await expectAccessible(page);
    expect((await page.goto(`${site}/admin`))?.status()).toBe(404);
    await page.goto(`${latchkey.baseUrl}/account`);
    await expect(page.getByText('You are not signed in')).toBeVisible();
  });
});
