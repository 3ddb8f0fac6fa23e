/** Products and libraries at their defaults sign in to an application that is created as the console's wizard creates it. */
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { type APIRequestContext, expect, type Page, test } from '@playwright/test';
import express from 'express';
import { Issuer, Strategy } from 'openid-client-5';
import { actualApp, backstageApp, directusApp, nodeRedApp } from '../clients/product-apps.ts';
import { type Metadata, productShapes, signInAs } from '../clients/product-shapes.ts';
import { client5App, expressSecretApp, passportApp, type Registration } from '../clients/secret-apps.ts';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { visitConsole } from '../support/console.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

const require = createRequire(import.meta.url);

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let metadata: Metadata;
/** The wizard's request for "Web server", other settings at their defaults. */
let sent: Record<string, unknown>;
/** Its last step. */
let shown: string;
/** Its code for other OpenID Connect libraries. */
let settings: string;
const served: Served[] = [];

test.beforeAll(async ({ browser }) => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Products');
  const issuer = await admin.issuerOf(projectId);
  metadata = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Metadata;
  const { context, page } = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
  const creating = page.waitForRequest((request) => (request.postData() ?? '').includes('createClient('));
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/new`);
  await page.getByLabel('Name', { exact: true }).fill('Grafana');
  await page.getByRole('radio', { name: /^Web server/ }).check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Redirect URIs, 1', { exact: true }).fill('https://grafana.example.com/login/generic_oauth');
  await page.getByRole('button', { name: 'Create application', exact: true }).click();
  await expect(page.getByText(/^lk_cs_/)).toBeVisible();
  shown = await page.getByRole('main').innerText();
  await page.getByRole('tab', { name: 'OpenID Connect', exact: true }).click();
  settings = await page.getByRole('region', { name: 'OpenID Connect', exact: true }).innerText();
  sent = ((await creating).postDataJSON() as { variables: { input: typeof sent } }).variables.input;
  await context.close();
});

test.afterAll(async () => {
  await Promise.all(served.map((one) => one.close()));
  await latchkey.stop();
});

/** Another application, by the wizard's own request. */
async function registered(name: string, redirectUri: string, leaving = '/') {
  const postLogoutRedirectUris = [new URL(leaving, redirectUri).href];
  const input = { ...sent, name, redirectUris: [redirectUri], postLogoutRedirectUris };
  const { clientId, clientSecret } = await admin.createClient(input as Parameters<AdminApi['createClient']>[0]);
  return { metadata, clientId, secret: clientSecret ?? '', redirectUri };
}

/** Signs a user in, and follows redirects with the cookies of their browser, up to the redirect URI. */
async function browserOf(
  page: Page,
  email: string,
): Promise<(redirectUri: string) => (address: string) => Promise<URL>> {
  const back = await serve(() => (_req, res) => void res.end('Back'));
  served.push(back);
  const { clientId, redirectUri } = await registered('First', `${back.origin}/callback`);
  const first = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'openid' };
  await page.goto(`${metadata.authorization_endpoint}?${new URLSearchParams(first)}`);
  await signInOnPage(page, admin, email);
  await page.waitForURL(`${back.origin}/**`);
  return (to) => (address) => followed(page.context().request, address, to);
}

async function followed(request: APIRequestContext, address: string, to: string): Promise<URL> {
  let next = address;
  for (let steps = 0; steps < 6 && !next.startsWith(to); steps += 1) {
    const response = await request.get(next, { maxRedirects: 0 });
    const { location } = response.headers();
    if (location === undefined) throw new Error(`${response.status()} ${next}`);
    next = new URL(location, next).href;
  }
  return new URL(next);
}

test('the wizard chooses RS256, optional PKCE, refresh tokens and nothing else for a client secret', () => {
  expect(sent).toMatchObject({
    kind: 'WEB_SERVER',
    tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
    idTokenSignedResponseAlg: 'RS256',
    pkceRequired: false,
    grantTypes: ['AUTHORIZATION_CODE', 'REFRESH_TOKEN'],
    secretKey: false,
    redirectUris: ['https://grafana.example.com/login/generic_oauth'],
    postLogoutRedirectUris: [],
  });
});

test('the last step of the wizard shows what a product asks for: the issuer that fits, client ID and client secret', () => {
  const [, settings = ''] = shown.split('Connection settings');
  const [values = ''] = settings.split('Quickstart');
  expect(values).toContain(metadata.issuer);
  expect(values).not.toContain('Base issuer');
  expect(values).toMatch(/Client ID\s+[0-9a-f-]{36}/);
  expect(shown).toMatch(/lk_cs_/);
  expect(shown.split('Quickstart')[0]).not.toMatch(/lk_[ps]k_/);
});

test('the last step names the endpoints, for products that do not read the discovery document', () => {
  for (const [name, url] of Object.entries(metadata)) {
    if (!/^(?:authorization|token|userinfo|end_session)_endpoint$|^jwks_uri$/.test(name)) continue;
    expect(settings).toContain(url);
    // One field for each, with a button that copies it.
    if (name !== 'jwks_uri') expect(shown.split('\n')).toContain(url);
  }
  expect(shown.split('\n')).toContain('openid profile email groups roles');
});

test('the requests of products at their defaults sign in, and the answers pass their checks', async ({ page }) => {
  const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  const input = { projectId, email: 'replayed@example.com', displayName: 'Ada Lovelace' };
  await admin.run(createUser, { input });
  const visits = await browserOf(page, 'replayed@example.com');
  const logouts: (() => Promise<void>)[] = [];
  for (const shape of productShapes) {
    const redirectUri = 'https://product.example.com/callback';
    const claims = await signInAs(shape, await registered(shape.name, redirectUri), visits(redirectUri), logouts).catch(
      (error: unknown) => String(error),
    );
    expect(claims, shape.name).toMatchObject({ email: 'replayed@example.com' });
  }
  for (const logOut of logouts) await logOut();
});

const products = {
  Actual: { build: actualApp, expected: { identity: 'apps@example.com' } },
  Directus: { build: directusApp, expected: { email: 'apps@example.com', refreshed: true } },
  Backstage: { build: backstageApp, expected: { email: 'apps@example.com', scope: 'openid profile email' } },
  'Node-RED': { build: nodeRedApp, expected: { username: 'apps@example.com' } },
};

test('products on openid-client 5 and Passport sign in with the calls of their sources', async ({ page }) => {
  await browserOf(page, 'apps@example.com');
  for (const [name, { build, expected }] of Object.entries(products)) {
    const party = await servedProduct(name, build);
    const response = await page.context().request.get(`${party.origin}/login`);
    expect(await response.json().catch(() => response.text()), name).toMatchObject(expected);
  }
});

test('Backstage without a session gets login_required; with its prompt `auto`, the user signs in', async ({ page }) => {
  const silent = await servedProduct('Backstage', backstageApp);
  const refused = await page.context().request.get(`${silent.origin}/login`);
  // The strategy turns `login_required` into 401.
  expect(refused.status()).toBe(401);
  const asking = await servedProduct('Backstage', (registration) => backstageApp(registration, 'auto'));
  await page.goto(`${asking.origin}/login`);
  await signInOnPage(page, admin, 'backstage@example.com');
  await page.waitForURL(`${asking.origin}/**`);
  await expect(page.locator('body')).toContainText('backstage@example.com');
});

async function servedProduct(
  name: string,
  build: (registration: Registration) => RequestListener | Promise<RequestListener>,
) {
  const party = await serve(async (origin) => {
    const { clientId, secret } = await registered(name, `${origin}/callback`);
    return build({ origin, issuer: metadata.issuer, clientId, secret });
  });
  served.push(party);
  return party;
}

test('the settings of each product in products.md sign in, with PKCE where it has it', async ({ page }) => {
  const text = readFileSync(new URL('../../server/docs/products.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| \[([^\]]+)\]\(#[\w-]+\) \| (.+?) \| (.+?) \| .+? \| (.+?) \|$/gm)];
  expect(rows.length).toBeGreaterThan(10);
  const visits = await browserOf(page, 'listed@example.com');
  for (const [, name = '', uris = '', scopes = '', pkce = ''] of rows) {
    const path = /`(\/[^`]+)`/.exec(uris)?.[1]?.replace('{name}', 'latchkey') ?? '/callback';
    const scope = new Set(['openid', ...(/`([^`]+)`/.exec(scopes)?.[1] ?? '').split(' ')]);
    for (const authentication of ['basic', 'post'] as const) {
      const redirectUri = `https://product.example.com${path}`;
      const shape = {
        name,
        authentication,
        sendsNonce: false,
        scope: [...scope].join(' '),
        verifies: 'key-of-type',
      } as const;
      const attempt = { ...shape, hasPkce: pkce !== 'none', userInfo: {} };
      const claims = await signInAs(attempt, await registered(name, redirectUri), visits(redirectUri)).catch(
        (error: unknown) => String(error),
      );
      expect(claims, `${name}, ${authentication}`).toMatchObject({ sub: expect.any(String) });
      if (scope.has('email')) expect(claims, name).toMatchObject({ email: 'listed@example.com' });
    }
  }
});

test('the example of Grafana in products.md signs in, refreshes, reads groups and roles, and signs out', async ({
  page,
}) => {
  const text = readFileSync(new URL('../../server/docs/products.md', import.meta.url), 'utf8');
  const [, ini = ''] = /## Grafana\n[\s\S]+?```ini\n([\s\S]+?)```/.exec(text) ?? [];
  const lines = ini.replaceAll('https://id.example.com/p/acme', metadata.issuer).matchAll(/^(\w+) = (.+)$/gm);
  const values = Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
  expect(values).toMatchObject({
    ...{ enabled: 'true', use_pkce: 'true', use_refresh_token: 'true' },
    ...{ auth_url: metadata.authorization_endpoint, token_url: metadata.token_endpoint },
    api_url: metadata.userinfo_endpoint,
  });
  const redirectUri = new URL('/login/generic_oauth', values['root_url']).href;
  expect(text).toContain(`\`${redirectUri}\``);
  const leaving = new URL(values['signout_redirect_url'] ?? '');
  expect(leaving.origin + leaving.pathname).toBe(metadata.end_session_endpoint);
  expect([...leaving.searchParams]).toEqual([
    ['client_id', '…'],
    ['post_logout_redirect_uri', new URL('/login', redirectUri).href],
  ]);
  const visits = await browserOf(page, 'grafana@example.com');
  const logouts: (() => Promise<void>)[] = [];
  // golang.org/x/oauth2 tries the header first.
  const shape = { name: 'Grafana', authentication: 'encoded-basic', sendsNonce: false, verifies: 'any-key' } as const;
  const attempt = { ...shape, scope: values['scopes'] ?? '', hasPkce: true, userInfo: {}, refresh: () => ({}) };
  const claims = await signInAs(
    { ...attempt, logout: { path: '/login', withClientId: true } },
    await registered('Dashboards', redirectUri, '/login'),
    visits(redirectUri),
    logouts,
  );
  expect(claims).toMatchObject({ email: 'grafana@example.com', groups: [], roles: [] });
  expect(claims[values['login_attribute_path'] ?? '']).toBe('grafana@example.com');
  for (const logOut of logouts) await logOut();
  expect(logouts).toHaveLength(1);
});

/** @okta/oidc-middleware: openid-client's strategy for Passport, without PKCE, which reads UserInfo. */
async function oktaApp({ origin, issuer, clientId, secret }: Registration): Promise<RequestListener> {
  const found = await Issuer.discover(`${issuer}/.well-known/openid-configuration`);
  const client = new found.Client({
    client_id: clientId,
    client_secret: secret,
    redirect_uris: [`${origin}/callback`],
  });
  const passport = new (require('passport').Passport)();
  const keep = (user: object, done: (error: null, user: object) => void) => done(null, user);
  passport.serializeUser(keep);
  passport.deserializeUser(keep);
  const verify = (tokens: object, userinfo: object, done: (error: null, user: object) => void) =>
    done(null, { tokens, userinfo });
  passport.use('oidc', new Strategy({ client, params: { scope: 'openid email' }, usePKCE: false }, verify));
  const app = express();
  app.use(require('express-session')({ secret: 'for this test only', resave: false, saveUninitialized: false }));
  app.use(passport.initialize({ userProperty: 'userContext' }));
  app.use(passport.session());
  app.get('/login', passport.authenticate('oidc'));
  app.get('/callback', passport.authenticate('oidc', { successRedirect: '/' }));
  app.get(
    '/',
    (req, res) => void res.json((req as { userContext?: { userinfo: object } }).userContext?.userinfo ?? null),
  );
  return app;
}

const libraries = {
  'openid-client 5': client5App,
  'passport-openidconnect': passportApp,
  'express-openid-connect': expressSecretApp,
  '@okta/oidc-middleware': oktaApp,
};

for (const [name, build] of Object.entries(libraries)) {
  test(`${name} at its defaults signs in`, async ({ page }) => {
    const party = await servedProduct(name, build);
    const email = `${name.replace(/\W+/g, '-').replace(/^-/, '')}@example.com`;
    await page.goto(`${party.origin}/login`);
    await signInOnPage(page, admin, email);
    await page.waitForURL(`${party.origin}/**`);
    await expect(page.locator('body')).toContainText(email);
  });
}
