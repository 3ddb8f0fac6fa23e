import { expect, test } from '@playwright/test';
import { authJs } from '../clients/auth-js.ts';
import { expressApp, expressAppJwk } from '../clients/express-app.ts';
import { type Served, serve } from '../clients/serve.ts';
import { singlePage } from '../clients/single-page.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
const served: Served[] = [];

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Relying parties');
});

test.afterAll(async () => {
  await Promise.all(served.map((one) => one.close()));
  await latchkey.stop();
});

/** Registers a public client for a relying party, and serves it. */
async function relyingParty(
  listen: typeof authJs,
  callback: string,
  settings: (origin: string) => Record<string, unknown> = () => ({}),
): Promise<string> {
  const party = await serve(async (origin) => {
    const { clientId } = await admin.createClient({
      projectId,
      name: listen.name,
      redirectUris: [origin + callback],
      postLogoutRedirectUris: [origin, `${origin}/`],
      ...settings(origin),
    });
    return listen(origin, latchkey.baseUrl, clientId);
  });
  served.push(party);
  return party.origin;
}

test('oidc-client-ts signs in from a page of another origin, over CORS, and out', async ({ page }) => {
  const origin = await relyingParty(singlePage, '/');
  await page.goto(origin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await signInOnPage(page, admin, 'spa@example.com');
  await expect(page.locator('pre')).toContainText('"email":"spa@example.com"');
  await expect(page.locator('pre')).toContainText('"sid"');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL((url) => url.origin === origin);
  await expect(page.locator('pre')).toHaveText('null');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${latchkey.baseUrl}/signin**`);
});

test('Auth.js signs in, with PKCE, state and nonce checked', async ({ page }) => {
  const origin = await relyingParty(authJs, '/auth/callback/latchkey');
  await page.goto(`${origin}/auth/signin`);
  await page.getByRole('button', { name: /Latchkey/ }).click();
  await signInOnPage(page, admin, 'authjs@example.com');
  await page.waitForURL(`${origin}/**`);
  await page.goto(`${origin}/auth/session`);
  await expect(page.locator('body')).toContainText('"email":"authjs@example.com"');
});

test('express-openid-connect signs in and out, and receives back-channel logouts', async ({ page, browser }) => {
  const origin = await relyingParty(expressApp, '/callback', (at) => ({
    backchannelLogoutUri: `${at}/backchannel-logout`,
    logoutTokenTyp: 'LOGOUT',
    tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT',
    jwks: JSON.stringify(expressAppJwk),
  }));
  const address = 'express@example.com';
  await page.goto(`${origin}/login`);
  await signInOnPage(page, admin, address);
  await page.waitForURL(`${origin}/`);
  await expect(page.locator('body')).toContainText(address);

  await test.step('its logout returns to it, signed out', async () => {
    await page.goto(`${origin}/logout`);
    await page.waitForURL(`${origin}/`);
    await expect(page.locator('body')).toHaveText('null');
  });

  await test.step('the next sign-in asks again', async () => {
    await page.goto(`${origin}/login`);
    await page.waitForURL(`${latchkey.baseUrl}/signin**`);
  });

  await test.step('a logout elsewhere ends its session', async () => {
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${origin}/`);
    await expect(page.locator('body')).toContainText(address);
    const outside = await browser.newPage();
    await outside.context().addCookies(await page.context().cookies(latchkey.baseUrl));
    await outside.goto(`${latchkey.baseUrl}/oauth2/end_session`);
    await outside.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expect(outside.getByText('You are signed out')).toBeVisible();
    await expect(async () => {
      await page.goto(`${origin}/`);
      await expect(page.locator('body')).toHaveText('null', { timeout: 100 });
    }).toPass();
    await outside.close();
  });
});
