/** Libraries at their defaults, with the issuer of a project, a client ID and a client secret. */
import { expect, type Locator, test } from '@playwright/test';
import * as oidc from 'openid-client';
import { client5App, client6App, expressSecretApp, passportApp, type Registration } from '../clients/secret-apps.ts';
import { type Served, serve } from '../clients/serve.ts';
import { singlePage } from '../clients/single-page.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let issuer: string;
const served: Served[] = [];

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Products');
  issuer = await admin.issuerOf(projectId);
});

test.afterAll(async () => {
  await Promise.all(served.map((one) => one.close()));
  await latchkey.stop();
});

/** Registers a client, and serves the application that `build` creates for it. */
async function applicationOf(
  build: (
    registration: Registration,
  ) => Parameters<typeof serve>[0] extends (origin: string) => infer Built ? Built : never,
  callback: string,
  settings: Record<string, unknown>,
): Promise<string> {
  const party = await serve(async (origin) => {
    const made = await admin.createClient({
      projectId,
      name: 'Product',
      redirectUris: [origin + callback],
      postLogoutRedirectUris: [origin, `${origin}/`],
      ...settings,
    });
    return build({ origin, issuer, clientId: made.clientId, secret: made.clientSecret ?? '' });
  });
  served.push(party);
  return party.origin;
}

async function statusOfUserInfo(accessToken: string): Promise<number> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  return (await fetch(`${issuer}/userinfo`, { headers })).status;
}

const secret = { tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC' };
const applications = [
  ['openid-client 5', client5App, { ...secret, idTokenSignedResponseAlg: 'RS256' }],
  ['openid-client 6', client6App, { tokenEndpointAuthMethod: 'CLIENT_SECRET_POST', idTokenSignedResponseAlg: 'ES256' }],
  ['express-openid-connect', expressSecretApp, { ...secret, idTokenSignedResponseAlg: 'RS256', pkceRequired: false }],
  ['passport-openidconnect', passportApp, { ...secret, pkceRequired: false }],
] as const;

for (const [name, build, settings] of applications) {
  test(`${name} signs in with a client secret and signs out`, async ({ page }) => {
    const origin = await applicationOf(build, '/callback', settings);
    const address = `${name.replaceAll(' ', '-')}@example.com`;
    await page.goto(`${origin}/login`);
    expect(page.url()).toContain(`${latchkey.baseUrl}/signin`);
    await signInOnPage(page, admin, address);
    await page.waitForURL(`${origin}/**`);
    await expect(page.locator('body')).toContainText(address);
    await page.goto(`${origin}/access-token`);
    const accessToken = JSON.parse(await page.locator('body').innerText());
    expect(await statusOfUserInfo(accessToken)).toBe(200);

    await page.goto(`${origin}/logout`);
    await page.waitForURL(`${origin}/`);
    await expect(page.locator('body')).toHaveText('null');
    expect(await statusOfUserInfo(accessToken)).toBe(401);
    await page.goto(`${origin}/login`);
    expect(page.url()).toContain(`${latchkey.baseUrl}/signin`);
  });
}

test('oidc-client-ts signs in from a page of another origin and signs out', async ({ page }) => {
  const build = ({ origin, clientId }: Registration) => singlePage(origin, issuer, clientId);
  const origin = await applicationOf(build, '/', {});
  await page.goto(origin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await signInOnPage(page, admin, 'page@example.com');
  await expect(page.locator('pre')).toContainText('"email":"page@example.com"');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL((url) => url.origin === origin);
  await expect(page.locator('pre')).toHaveText('null');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${latchkey.baseUrl}/signin**`);
});

test('openid-client 6 signs in a device that has no browser', async ({ page }) => {
  const { clientId } = await admin.createClient({
    projectId,
    name: 'Television',
    redirectUris: [],
    grantTypes: ['DEVICE_CODE'],
  });
  const options = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), options);
  const device = await oidc.initiateDeviceAuthorization(config, { scope: 'openid email' });
  const polling = oidc.pollDeviceAuthorizationGrant(config, device);

  await page.goto(device.verification_uri);
  await page.getByLabel('Code').fill(device.user_code.toLowerCase());
  await page.getByRole('button', { name: 'Continue' }).click();
  await signInOnPage(page, admin, 'device@example.com');
  await expect(page.getByRole('heading')).toHaveText('Sign in to Television on another device?');
  await expect(page.getByRole('definition').first()).toContainText('device@example.com');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByRole('heading')).toHaveText('Device connected');

  const tokens = await polling;
  expect(tokens.claims()?.iss).toBe(issuer);
  const { email } = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '');
  expect(email).toBe('device@example.com');

  await test.step('a link shows its code, and a denial reaches the device', async () => {
    const second = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
    const refused = oidc.pollDeviceAuthorizationGrant(config, second).catch((error: unknown) => error);
    await page.goto(second.verification_uri_complete ?? '');
    await expect(page.locator('main')).toContainText(second.user_code);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'The codes match' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect(page.getByRole('heading')).toHaveText('Access denied');
    expect(await refused).toMatchObject({ error: 'access_denied' });
  });
});

test('openid-client 6 gets a token for an API and introspects it', async () => {
  const create = 'mutation ($input: CreateApiInput!) { createApi(input: $input) { id } }';
  const grant = 'mutation ($input: SetApiGrantInput!) { setApiGrant(input: $input) { scopes } }';
  const resource = 'https://api.example.com';
  const scopes = [{ key: 'orders:read', description: 'Read orders' }];
  const input = { projectId, name: 'Orders', identifier: resource, scopes };
  const { createApi } = await admin.run<{ createApi: { id: string } }>(create, { input });
  const settings = { ...secret, grantTypes: ['CLIENT_CREDENTIALS'], adminScopes: ['users:read'] };
  const { clientId, clientSecret } = await admin.createClient({ projectId, name: 'Job', ...settings });
  await admin.run(grant, { input: { clientId, apiId: createApi.id, scopes: ['orders:read'] } });
  const discover = { execute: [oidc.allowInsecureRequests] };
  const job = await oidc.discovery(new URL(issuer), clientId, clientSecret ?? '', undefined, discover);
  const { access_token, expires_in, id_token } = await oidc.clientCredentialsGrant(job, {
    resource,
    scope: 'orders:read',
  });
  expect([expires_in, id_token]).toEqual([900, undefined]);
  expect(await oidc.tokenIntrospection(job, access_token)).toMatchObject({
    active: true,
    aud: resource,
    sub: clientId,
  });
  await oidc.tokenRevocation(job, access_token);
  expect(await oidc.tokenIntrospection(job, access_token)).toEqual({ active: false });

  const forAdmin = await oidc.clientCredentialsGrant(job, { resource: `${latchkey.baseUrl}/admin` });
  const asked = { query: `{ users(projectId: "${projectId}") { totalCount } }` };
  const body = JSON.stringify(asked);
  const url = new URL(`${latchkey.baseUrl}/admin/graphql`);
  const headers = new Headers({ 'Content-Type': 'application/json' });
  const response = await oidc.fetchProtectedResource(job, forAdmin.access_token, url, 'POST', body, headers);
  expect(await response.json()).toMatchObject({ data: { users: {} } });
});

test('a third-party application gets a code only after its user allows it, by keyboard', async ({ page }) => {
  const settings = { tokenEndpointAuthMethod: 'CLIENT_SECRET_POST', thirdParty: true };
  const origin = await applicationOf(client6App, '/callback', settings);
  await page.goto(`${origin}/login`);
  await signInOnPage(page, admin, 'asked@example.com');
  await expect(page.getByRole('heading', { name: 'Product asks for access' })).toBeVisible();
  await expect(page.getByText('See your email address')).toBeVisible();
  await expectAccessible(page);
  await tabTo(page, page.getByRole('button', { name: 'Allow' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(`${origin}/callback**`);
  await expect(page.locator('body')).toContainText('asked@example.com');
  // Remembered, until it is removed.
  await page.goto(`${origin}/login`);
  await expect(page.locator('body')).toContainText('asked@example.com');
  await page.goto(`${latchkey.baseUrl}/account`);
  const access = page.getByRole('region', { name: 'Applications with access' });
  await access.getByText('Remove', { exact: true }).click();
  await access.getByRole('button', { name: 'Remove access: Product' }).click();
  await expect(access).toHaveCount(0);
  await page.goto(`${origin}/login`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(/error=access_denied/);
});

test('an application may be slow, and redirect to another site, after consent and logout', async ({ page }) => {
  const home = await serve(() => (_, response) => response.end('Home'));
  // The application responds only after a second click.
  const waiting: (() => void)[] = [];
  const product = await serve(() => (_, response) => {
    waiting.push(() => response.writeHead(302, { Location: home.origin }).end());
  });
  served.push(home, product);
  const leave = async (button: Locator) => {
    const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
    // By position: a click on the element would wait for the application.
    const click = () => page.mouse.click(x + 5, y + 5);
    await click();
    await expect.poll(() => waiting.length).toBe(1);
    await click();
    waiting.pop()?.();
    await page.waitForURL(`${home.origin}/`);
  };
  const redirectUri = `${product.origin}/callback`;
  const settings = { redirectUris: [redirectUri], postLogoutRedirectUris: [redirectUri], thirdParty: true };
  const { clientId } = await admin.createClient({ projectId, name: 'Product', ...settings });
  const asked = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'openid' },
    ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
  };
  await page.goto(`${issuer}/authorize?${new URLSearchParams(asked)}`);
  await signInOnPage(page, admin, 'elsewhere@example.com');
  await leave(page.getByRole('button', { name: 'Allow' }));
  const leaving = { client_id: clientId, post_logout_redirect_uri: redirectUri };
  await page.goto(`${issuer}/oauth2/end_session?${new URLSearchParams(leaving)}`);
  await leave(page.getByRole('button', { name: 'Sign out', exact: true }));
});
