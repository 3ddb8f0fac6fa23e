import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';

/** `@latchkey/browser/redirect` on a page without a back end: what it accepts as the response to its own sign-in. */

let latchkey: Latchkey;
let admin: AdminApi;
let site: Served;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await admin.createProject('Alone');
  const example = readFileSync(
    fileURLToPath(import.meta.resolve('@latchkey/browser/package.json')).replace(
      'package.json',
      'example/redirect.html',
    ),
    'utf8',
  );
  site = await serve(async (origin) => {
    const redirectUri = `${origin}/callback`;
    const { clientId } = await admin.createClient({ projectId, name: 'Alone', redirectUris: [redirectUri] });
    const page = example
      .replaceAll('https://id.example.com', latchkey.baseUrl)
      .replace("'…'", `'${clientId}'`)
      .replace('https://app.example.com/callback', redirectUri)
      .replace('signIn({ ', 'signIn({ ...window.options, ');
    return (_req, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  });
});

test.afterAll(async () => {
  await site.close();
  await latchkey.stop();
});

const status = (page: Page) => page.getByRole('status');
const signIn = (page: Page) => page.getByRole('button', { name: 'Sign in' }).click();

/** Counts the page's requests to the token endpoint. */
function exchangesOf(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => void (request.url().includes('/oauth2/token') && (count += 1)));
  return () => count;
}

test('a response that this tab did not ask for is not used, and the page stays usable', async ({ page }) => {
  const exchanges = exchangesOf(page);
  const forged = new URLSearchParams({ code: 'stolen', state: 'x', iss: latchkey.baseUrl });
  await page.goto(`${site.origin}/callback?${forged}`);
  await expect(status(page)).toHaveText('Signed out');
  await page.goto(`${site.origin}/callback?error=access_denied&error_description=Injected+text`);
  await expect(status(page)).toHaveText('Signed out');
  expect(exchanges()).toBe(0);
  await signIn(page);
  await signInOnPage(page, admin, 'forged@example.com');
  await expect(status(page)).toHaveText('Hello, forged@example.com');
  expect([exchanges(), page.url()]).toEqual([1, `${site.origin}/callback`]);
  // The session of the tab: not of another one, and not in a storage that outlives it.
  const other = await page.context().newPage();
  await other.goto(`${site.origin}/`);
  await expect(status(other)).toHaveText('Signed out');
  expect(await other.evaluate('localStorage.length')).toBe(0);
});

test('a sign-in returns to the page where it began, and to no other origin', async ({ page }) => {
  await page.goto(`${site.origin}/orders/7`);
  const began = Date.now();
  await signIn(page);
  await signInOnPage(page, admin, 'orders@example.com');
  await expect(status(page)).toHaveText('Hello, orders@example.com');
  expect(page.url()).toBe(`${site.origin}/orders/7`);
  await page.reload();
  await expect(status(page)).toHaveText('Hello, orders@example.com');
  // An access token lasts five minutes from its issue, after `began`. The session at the service outlives it.
  await page.clock.setFixedTime(began + 298_000);
  await page.reload();
  await expect(status(page)).toHaveText('Hello, orders@example.com');
  await page.clock.setFixedTime(Date.now() + 301_000);
  await page.reload();
  await expect(status(page)).toHaveText('Signed out');
  await signIn(page);
  await expect(status(page)).toHaveText('Hello, orders@example.com');
  const refusals = await page.evaluate(async (issuer) => {
    const { createRedirect } = await import(`${issuer}/sdk/redirect.js`);
    const redirect = createRedirect({ issuer, clientId: 'any', redirectUri: '/callback' });
    const places = ['https://elsewhere.example.com/', '//elsewhere.example.com/', 'javascript:alert(1)'];
    const failed = places.map((returnTo) => redirect.signIn({ returnTo }).catch(({ code }: { code: string }) => code));
    return Promise.all(failed);
  }, latchkey.baseUrl);
  expect(refusals).toEqual(['INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
});

test('a page at an origin other than that of its redirect URI shows the address to open', async ({ page }) => {
  const { port } = new URL(site.origin);
  const elsewhere = site.origin.includes('127.0.0.1') ? `http://localhost:${port}` : `http://127.0.0.1:${port}`;
  await page.goto(`${elsewhere}/`);
  await expect(status(page)).toHaveText(
    `Open this page at ${site.origin}, where redirectUri is: it is at ${elsewhere}.`,
  );
  await signIn(page);
  await expect(page).toHaveURL(`${elsewhere}/`);
});

test('a response of another issuer is refused before its code is sent anywhere', async ({ page }) => {
  const exchanges = exchangesOf(page);
  await page.route('**/authorize?*', (route) => {
    const state = new URL(route.request().url()).searchParams.get('state') ?? '';
    const answer = new URLSearchParams({ code: 'x', state, iss: 'https://evil.example.com' });
    return route.fulfill({ status: 303, headers: { Location: `${site.origin}/callback?${answer}` } });
  });
  await page.goto(site.origin);
  await signIn(page);
  await expect(status(page)).toContainText('The response is not of');
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  expect(exchanges()).toBe(0);
});

test('an ID token with the nonce of another sign-in is refused', async ({ page }) => {
  await page.route('**/authorize?*', (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('nonce', 'of-another-sign-in');
    return route.continue({ url: url.href });
  });
  await page.goto(site.origin);
  await signIn(page);
  await signInOnPage(page, admin, 'nonce@example.com');
  await expect(status(page)).toHaveText('The ID token is not for this sign-in.');
  await page.reload();
  await expect(status(page)).toHaveText('Signed out');
});

test('the sign-in names the organization and the connection', async ({ page }) => {
  await page.goto(site.origin);
  await page.evaluate('window.options = { organization: "globex", connection: "c" }');
  const asked = page.waitForRequest('**/authorize?*');
  await signIn(page);
  const { searchParams } = new URL((await asked).url());
  expect([searchParams.get('organization'), searchParams.get('connection')]).toEqual(['globex', 'c']);
});

test('an error of the service is shown, and the next sign-in works', async ({ page }) => {
  await page.goto(site.origin);
  await page.evaluate('window.options = { prompt: "none" }');
  await signIn(page);
  await expect(status(page)).not.toHaveText(/Signed out|^$/);
  expect(page.url()).toBe(`${site.origin}/`);
  await signIn(page);
  await signInOnPage(page, admin, 'again@example.com');
  await expect(status(page)).toHaveText('Hello, again@example.com');
});

test('a browser that blocks site data gets an explanation', async ({ page }) => {
  await page.addInitScript(
    "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
  );
  await page.goto(site.origin);
  await expect(status(page)).toHaveText('The browser refuses site data: use another window.');
});
