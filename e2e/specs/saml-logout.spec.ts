/** The page that waits for the SAML applications of a session: what their frames can do to it, in a browser. */
import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect, type Page, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { press, titled } from '../support/hosted-page.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';
import { signInOnPage } from '../support/sign-in.ts';
import { testCertificate } from '../support/tls-sites.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let issuer: string;
const servers: Server[] = [];

test.beforeAll(async () => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  await admin.ignoreMessages();
});
test.beforeEach(async () => {
  projectId = await admin.createProject('Logout');
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, mfaPolicy: 'OFF' },
  });
  issuer = await admin.issuerOf(projectId);
});
test.afterAll(() => {
  for (const server of servers) server.close();
});

/** A SAML application at its own port. @param page what its frame shows instead of answering */
async function application(name: string, page?: string): Promise<{ start: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://localhost');
    seen.push(url.pathname);
    const request = url.searchParams.get('SAMLRequest');
    if (request !== null && page === undefined) return res.writeHead(302, { Location: answerTo(name, request) }).end();
    const shown = request === null ? undefined : page;
    res.writeHead(200, { 'Content-Type': 'text/html' }).end(shown ?? `<h1>${name}</h1>`);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { clientId } = await admin.createClient({
    ...{ projectId, name, samlEntityId: `urn:${name}`, redirectUris: [`${origin}/acs`], samlIdpInitiated: true },
    ...{ samlLogoutUri: `${origin}/slo`, samlCertificates: [testCertificate.cert] },
  });
  return { start: `${issuer}/saml/start/${clientId}`, seen };
}

/** The signed LogoutResponse of an application, by redirect (SAML Bindings section 3.4.4.1). */
function answerTo(name: string, request: string): string {
  const id = / ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(request, 'base64')).toString())?.[1];
  const names = 'urn:oasis:names:tc:SAML:2.0';
  const xml = `<p:LogoutResponse xmlns:p="${names}:protocol" ID="_${randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${issuer}/saml/slo" InResponseTo="${id}"><a:Issuer xmlns:a="${names}:assertion">urn:${name}</a:Issuer><p:Status><p:StatusCode Value="${names}:status:Success"/></p:Status></p:LogoutResponse>`;
  const query = new URLSearchParams({
    SAMLResponse: deflateRawSync(xml).toString('base64'),
    SigAlg: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
  });
  const key = createPrivateKey(testCertificate.key);
  const signature = sign('sha256', Buffer.from(query.toString()), { key, dsaEncoding: 'ieee-p1363' });
  return `${issuer}/saml/slo?${query}&Signature=${encodeURIComponent(signature.toString('base64'))}`;
}

async function signIn(page: Page, ...starts: string[]): Promise<void> {
  for (const [at, start] of starts.entries()) {
    await page.goto(start);
    if (at === 0) await signInOnPage(page, admin, `${randomUUID()}@example.com`);
    await page.waitForURL(/\/acs$/);
  }
}

async function signOut(page: Page): Promise<void> {
  await page.goto(`${issuer}/oauth2/end_session`);
  await press(page, 'Sign out');
}

test('leads on by itself when the applications in all frames have answered', async ({ page }) => {
  const [wiki, desk] = [await application('wiki'), await application('desk')];
  await signIn(page, wiki.start, desk.start);
  await signOut(page);
  await titled(page, 'You are signed out');
  await page.waitForURL(`${issuer}/saml/logout?**`);
  await expect(page.locator('#unconfirmed')).toHaveCount(0);
  expect([wiki.seen.at(-1), desk.seen.at(-1)]).toEqual(['/slo', '/slo']);
});

test('leads on after its bound, also if a page in a frame resists, and names its application', async ({ page }) => {
  const escape = `<script>
    try { top.location = '/escaped' } catch {}
    try { open('/escaped', '_top') } catch {}
    parent.postMessage('answered', '*');
    fetch('/ran');
  </script><a id="out" href="/escaped" target="_top">Out</a><script>document.querySelector('#out').click()</script>`;
  const [wiki, rogue] = [await application('wiki'), await application('rogue', escape)];
  await signIn(page, wiki.start, rogue.start);
  await signOut(page);
  await expect.poll(() => rogue.seen).toContain('/ran');
  await page.waitForURL(`${issuer}/saml/logout?**`);
  await expect(page.getByRole('listitem')).toHaveText(['rogue']);
  await expectAccessible(page);
  expect(rogue.seen).not.toContain('/escaped');
});
