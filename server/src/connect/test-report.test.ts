import { expect, it } from 'vitest';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { rsaKey } from '../../test/saml.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import type { SamlLies } from '../../test/saml-provider.ts';
import type { Lies } from '../../test/upstream-provider.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { encrypt } from '../domain/saml/security/encryption.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
const at = (seconds: number) => new Date(world.app.clock.now().getTime() + seconds * 1000);
const key = rsaKey();

/** The page of a report: its status, title, and the lines of each value. */
async function pageOf(response: Response) {
  const html = await response.text();
  const plain = (text: string) => text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const rows = [...html.matchAll(/<dt>([^<]*)<\/dt>((?:<dd>[^<]*<\/dd>)*)/g)].map(
    ([, name = '', lines = '']) =>
      [plain(name), [...lines.matchAll(/<dd>([^<]*)/g)].map(([, line = '']) => plain(line))] as const,
  );
  return { status: response.status, html, rows: Object.fromEntries(rows) };
}

async function begun(connection: Connection): Promise<{ browser: CookieBrowser; to: URL }> {
  const state = await services().upstreamSignIns.prepareTest(connection);
  const browser = new CookieBrowser();
  const address = services().connections.testAddress(connection.id, state);
  return { browser, to: locationOf(await browser.get(address)) };
}

async function samlTest(connection = saml.connection) {
  const { browser, to } = await begun(connection);
  const delivered = locationOf(await saml.deliver(await saml.provider.agree(to))).href;
  const page = await pageOf(await browser.get(delivered));
  // Once, and without a session.
  expect((await browser.get(delivered)).status).toBe(400);
  expect([await own.sessions(), await own.identities(), browser.cookies.size]).toEqual([0, [], 0]);
  return page;
}

async function oidcTest(lies: Lies = {}) {
  own.provider.lies = lies;
  const { browser, to } = await begun(own.connection);
  const answer = own.provider.agree(to).href;
  const page = await pageOf(await browser.get(answer));
  const reloaded = await pageOf(await browser.get(answer));
  expect([reloaded.status, reloaded.rows]).toEqual([400, {}]);
  expect(reloaded.html).toContain('This test has ended');
  return page;
}

it('shows what SAML brought, and what was understood', async () => {
  const email = saml.newPerson({ givenName: 'Ada', department: 'Research <b>' });
  const { status, html, rows } = await samlTest();
  expect(status).toBe(200);
  expect(html).toContain('The test succeeded');
  expect(rows).toMatchObject({ Address: [`${email} (verified)`], givenName: ['Ada'] });
  expect(rows['✓ NameID']?.[0]).toBe(saml.provider.person.nameId);
  expect(html).toContain('Research &lt;b&gt;');
  expect(Object.keys(rows).filter((name) => name.startsWith('✗'))).toEqual([]);
  expect((await saml.stored()).lastSuccessAt).not.toBeNull();
});

it.each<[string, string, string, () => SamlLies]>([
  ['the clock', 'Valid', '', () => ({ envelope: { at: at(-900) } })],
  ['the audience', 'Audience', 'Audience URI (SP Entity ID)', () => ({ assertion: { audience: 'https://x.example' } })],
  ['the ACS URL', 'Destination', 'Single sign-on URL', () => ({ envelope: { destination: 'https://x.example/acs' } })],
  [
    'the ACS URL, missing in a signed response',
    'Destination',
    'Single sign-on URL',
    () => ({ signs: 'response', edit: (xml) => xml.replace(/ Destination="[^"]*"/, '') }),
  ],
  ['the issuer', 'Issuer', 'Sign On, Metadata URL', () => ({ envelope: { issuer: 'https://x.example' } })],
  ['the certificate', 'Certificate', 'Sign On, Metadata URL', () => ({ key })],
  ['the request', 'InResponseTo', '', () => ({ envelope: { inResponseTo: undefined } })],
  [
    'the NameID',
    'NameID format',
    'Name ID format',
    () => ({ assertion: { nameId: { format: nameIdFormats.transient, value: 'x' } } }),
  ],
  [
    'a missing signature',
    'Signature of',
    'Signature Algorithm',
    () => ({ edit: (xml) => xml.replace(/<ds:Signature .*?<\/ds:Signature>/, '') }),
  ],
  [
    'the encryption',
    'Assertion',
    'Assertion Encryption',
    () => ({ seal: (one) => encrypt(one, key.publicKey, Buffer.alloc(32), Buffer.alloc(12)) }),
  ],
  ['an error', 'Status', 'Name ID format', () => ({ status: { code: 'requester', detail: 'invalidNameIdPolicy' } })],
])('names %s as what is wrong, and the setting of the provider', async (_, name, label, lies) => {
  const connection = await saml.connect({ preset: 'okta' });
  saml.provider.lies = lies();
  const { status, html, rows } = await samlTest(connection);
  expect(status).toBe(400);
  expect(html).toContain('The test failed');
  const [, expected, setting] = rows[`✗ ${name}`] ?? [];
  expect(expected).toMatch(/^Expected: ./);
  expect(setting).toBe(label === '' ? undefined : `At the provider: ${label}`);
  const stored = await services().connections.get(services().db.reader(), connection);
  expect([stored.state, stored.lastSuccessAt ?? null]).toEqual(['enabled', null]);
});

it('points to a missing address, though the sign-in is valid', async () => {
  saml.provider.person.attributes = {};
  const { status, rows } = await samlTest();
  expect(status).toBe(200);
  expect(rows).toMatchObject({ Address: ['none'], '✗ Mail address': ['none', expect.any(String), expect.any(String)] });
});

it('an answer that is no SAML has no report, but advice', async () => {
  saml.provider.lies = { edit: () => '<script>alert(1)</script>' };
  const { status, html, rows } = await samlTest();
  expect([status, rows]).toEqual([400, {}]);
  expect(html).not.toContain('alert(1)');
});

it('shows the claims of OpenID Connect', async () => {
  Object.assign(own.provider.person, { email: 'ada@example.com', given_name: 'Ada' });
  const { status, rows } = await oidcTest();
  expect(status).toBe(200);
  expect(rows).toMatchObject({ Address: ['ada@example.com (verified)'], givenName: ['Ada'] });
  expect(rows['✓ aud']?.[0]).toBe(own.provider.clientId);
});

it.each<[string, string, () => Lies]>([
  ['the audience', 'aud', () => ({ claims: { aud: 'another' } })],
  ['the issuer', 'iss', () => ({ claims: { iss: 'https://x.example' } })],
  ['the clock', 'iat, exp', () => ({ claims: { iat: 1, exp: 2 } })],
  ['the subject', 'sub', () => ({ claims: { sub: '' } })],
])('names %s of OpenID Connect as what is wrong', async (_, name, lies) => {
  const { status, rows } = await oidcTest(lies());
  expect(status).toBe(400);
  expect(rows[`✗ ${name}`]?.[1]).toMatch(/^Expected: ./);
  expect([await own.sessions(), await own.identities()]).toEqual([0, []]);
});
