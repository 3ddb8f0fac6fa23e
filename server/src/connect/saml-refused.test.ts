import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { resignedBy, rsaKey } from '../../test/saml.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import type { SamlForm, SamlLies } from '../../test/saml-provider.ts';
import { system } from '../domain/kernel/actor.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { pemOf, selfSigned } from '../domain/saml/security/certificate.ts';
import { encrypt } from '../domain/saml/security/encryption.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
const now = () => world.app.clock.now();
const at = (seconds: number) => new Date(now().getTime() + seconds * 1000);

/** Nothing but a counter changed. */
async function isUntouched(): Promise<void> {
  expect([await own.identities(), await own.sessions()]).toEqual([[], 0]);
}

const attacker = rsaKey();
const small = rsaKey(1024);

/** Moves the signed assertion into `Extensions`, and puts a forged one in its place (signature wrapping). */
function wrapped(xml: string): string {
  const signed = /<saml:Assertion.*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
  const forged = signed
    .replace(/<ds:Signature .*?<\/ds:Signature>/, '')
    .replace(/ ID="[^"]+"/, ' ID="_forged"')
    .replace(/(<saml:NameID [^>]*>)[^<]*/, '$1victim');
  return xml
    .replace(signed, forged)
    .replace('<samlp:Status>', `<samlp:Extensions>${signed}</samlp:Extensions><samlp:Status>`);
}

const ended = (xml: string, until: string) =>
  resignedBy(saml.provider.key, xml, ' SessionIndex=', ` SessionNotOnOrAfter="${until}" SessionIndex=`);

describe('an answer of the provider is refused', () => {
  it.each<[string, string, () => SamlLies]>([
    ['the key of an attacker', 'signature', () => ({ key: attacker })],
    ['RSA with 1024 bits', 'signature', () => ({ key: small })],
    ['no signature', 'signature', () => ({ edit: (xml) => xml.replace(/<ds:Signature .*?<\/ds:Signature>/, '') })],
    ['a changed NameID', 'signature', () => ({ edit: (xml) => xml.replace(/(<saml:NameID [^>]*>)/, '$1x') })],
    ['a wrapped signature', 'response', () => ({ edit: wrapped })],
    ['a comment', 'response', () => ({ edit: (xml) => xml.replace('</saml:NameID>', '<!-- -->.evil</saml:NameID>') })],
    ['a DTD', 'response', () => ({ edit: (xml) => `<!DOCTYPE x [<!ENTITY a "b">]>${xml}` })],
    ['no XML', 'response', () => ({ edit: () => 'not XML' })],
    ['DEFLATE', 'response', () => ({ edit: (xml) => deflateRawSync(xml).toString('latin1') })],
    ['SHA-1', 'signature', () => ({ edit: (xml) => xml.replace(/xmldsig-more#rsa-sha256/, 'xmldsig#rsa-sha1') })],
    ['another Issuer', 'issuer', () => ({ envelope: { issuer: 'https://other.example' } })],
    ['the Audience of another', 'audience', () => ({ assertion: { audience: 'https://other.example' } })],
    ['the end of a session that is past', 'time', () => ({ edit: (xml) => ended(xml, '2020-01-01T00:00:00Z') })],
    ['another Destination', 'recipient', () => ({ envelope: { destination: 'https://other.example/acs' } })],
    [
      'another Recipient',
      'recipient',
      () => ({
        envelope: { destination: 'https://other.example/acs' },
        edit: (xml) => xml.replace(/ Destination="[^"]*"/, ''),
      }),
    ],
    ['InResponseTo of another request', 'nonce', () => ({ envelope: { inResponseTo: '_another' } })],
    ['no InResponseTo', 'nonce', () => ({ envelope: { inResponseTo: undefined } })],
    ['times past', 'time', () => ({ envelope: { at: at(-600) } })],
    ['times ahead', 'time', () => ({ envelope: { at: at(600) } })],
    ['AuthnInstant ahead', 'time', () => ({ assertion: { authTime: at(600) } })],
    [
      'no Audience',
      'signature',
      () => ({ edit: (xml) => xml.replace(/<saml:AudienceRestriction>.*?<\/saml:AudienceRestriction>/, '') }),
    ],
    ['an empty NameID', 'subject', () => ({ assertion: { nameId: { format: nameIdFormats.persistent, value: '' } } })],
    [
      'a transient NameID',
      'subject',
      () => ({ assertion: { nameId: { format: nameIdFormats.transient, value: 'x' } } }),
    ],
    [
      '256 characters',
      'subject',
      () => ({ assertion: { nameId: { format: nameIdFormats.persistent, value: 'x'.repeat(256) } } }),
    ],
    [
      'a key of ours for encryption that is not ours',
      'decryption',
      () => ({ seal: (one) => encrypt(one, attacker.publicKey, randomBytes(32), randomBytes(12)) }),
    ],
    ['an error', 'provider-error', () => ({ status: { code: 'responder', detail: 'noAuthnContext' } })],
    ['more than 256 KB', 'response', () => ({ edit: (xml) => `${xml}${' '.repeat(300 << 10)}`.slice(0, 280 << 10) })],
  ])('with %s', async (_, fault, lies) => {
    saml.provider.lies = lies();
    const browser = await own.browser();
    const to = await saml.through(browser);
    expect([to.pathname, to.searchParams.get('connect')]).toEqual(['/signin', 'failed']);
    expect(Object.keys((await saml.stored()).failures)).toEqual([fault]);
    await isUntouched();
    // Honest again: nothing is left behind.
    saml.provider.lies = {};
    expect((await saml.through(browser)).pathname).toBe('/authorize/resume');
  });

  it('that the person ended, without a failure of the connection', async () => {
    saml.provider.lies = { status: { code: 'responder', detail: 'authnFailed', message: '<script>Call us</script>' } };
    const browser = await own.browser();
    const to = await saml.through(browser);
    expect(to.searchParams.get('connect')).toBe('denied');
    expect(await (await browser.browser.get(to.href)).text()).not.toContain('Call us');
    expect((await saml.stored()).failures).toEqual({});
  });

  it.each([
    ['assertion', 'response'],
    ['response', 'assertion'],
    ['both', 'assertion'],
    ['both', 'response'],
  ] as const)('if the connection demands a signature of %s, and only %s has one', async (signed, signs) => {
    await services().connections.update(saml.connection, { saml: { signed } }, system);
    saml.provider.lies = { signs };
    expect((await saml.through(await own.browser())).searchParams.get('connect')).toBe('failed');
    await isUntouched();
    saml.provider.lies = { signs: 'both' };
    await saml.signIn();
  });

  it('signed by the key of another connection, or by our own', async () => {
    const other = rsaKey();
    const metadataXml = saml.provider.metadata({ keys: [other] });
    await saml.connect({ name: 'Other' }, { metadataUrl: null, metadataXml });
    const ours = await services().samlKeys.signing(world.project.id);
    for (const key of [other, { ...other, sign: ours.sign, certificate: ours.certificate }]) {
      saml.provider.lies = { key };
      expect((await saml.through(await own.browser())).searchParams.get('connect')).toBe('failed');
    }
    expect((await saml.stored()).failures).toEqual({ signature: 2 });
    await isUntouched();
  });

  it('signed by a removed or expired certificate', async () => {
    const { connections } = services();
    const former = saml.provider.key;
    saml.provider.key = rsaKey();
    await connections.update(saml.connection, { saml: { metadataUrl: saml.provider.metadataUrl } }, system);
    saml.provider.lies = { key: former };
    expect((await saml.through(await own.browser())).searchParams.get('connect')).toBe('failed');
    const short = { name: 'x', serial: randomBytes(16), from: now(), until: at(3600) };
    const certificates = [pemOf(selfSigned(former.pkcs8, short)), pemOf(saml.provider.key.certificate)];
    const metadataXml = saml.provider.metadata({ keys: [] });
    saml.connection = await saml.connect({ name: 'Short' }, { metadataUrl: null, metadataXml, certificates });
    await saml.signIn();
    world.app.clock.turn(3600);
    expect((await saml.through(await own.browser())).searchParams.get('connect')).toBe('failed');
    expect(Object.keys((await saml.stored()).failures)).toEqual(['signature']);
    saml.provider.lies = {};
    await saml.signIn();
  });
});

describe('an answer is delivered', () => {
  const post = (form: SamlForm, over: Record<string, string>) =>
    new CookieBrowser().post(form.action, { ...form.fields, ...over });

  it('at another connection, or that of OpenID Connect: refused', async () => {
    const other = await saml.connect({ name: 'Other' });
    const browser = await own.browser();
    const form = await saml.answer(browser);
    for (const { id } of [other, own.connection]) {
      const action = form.action.replace(saml.connection.id, id);
      expect((await saml.deliver({ ...form, action })).status).toBe(400);
    }
    const oidc = form.action.replace('/acs', '/callback');
    const { RelayState: state } = form.fields;
    expect((await browser.browser.get(`${oidc}?code=x&state=${state}`)).status).toBe(400);
    expect((await saml.finish(browser, form)).pathname).toBe('/authorize/resume');
  });

  it('for the request of another connection with the same keys: refused by audience and recipient', async () => {
    const other = await saml.connect({ name: 'Other' });
    const browser = await own.browser();
    const theirs = await saml.answer(browser, other);
    const ours = await saml.answer(browser);
    const mixed = { action: ours.action, fields: { ...ours.fields, SAMLResponse: theirs.fields.SAMLResponse } };
    expect((await saml.finish(browser, mixed)).searchParams.get('connect')).toBe('failed');
    await isUntouched();
  });

  it('without a request of ours (IdP-initiated), or with a RelayState that leads elsewhere: refused', async () => {
    const browser = await own.browser();
    const form = await saml.answer(browser);
    for (const RelayState of ['', 'https://attacker.example/', '/account', 'x'.repeat(200)]) {
      const response = await post(form, { RelayState });
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }
    expect((await saml.finish(browser, form)).pathname).toBe('/authorize/resume');
  });

  it('a second time, in the same browser or another one: refused', async () => {
    const browser = await own.browser();
    const form = await saml.answer(browser);
    const delivered = await saml.deliver(form);
    expect((await saml.deliver(form)).status).toBe(400);
    const to = locationOf(delivered).href;
    expect(locationOf(await browser.browser.get(to)).pathname).toBe('/authorize/resume');
    expect((await browser.browser.get(to)).status).toBe(400);
    expect((await saml.deliver(form)).status).toBe(400);
    expect(await own.sessions()).toBe(1);
  });

  it('of 20 at once, one counts', async () => {
    const browser = await own.browser();
    const form = await saml.answer(browser);
    const delivered = await Promise.all(Array.from({ length: 20 }, () => saml.deliver(form)));
    const [good, ...others] = delivered.filter(({ status }) => status === 303);
    expect(others).toEqual([]);
    const to = locationOf(good as Response).href;
    const ends = await Promise.all(Array.from({ length: 20 }, () => browser.browser.get(to)));
    expect(ends.filter((end) => end.status === 303 && locationOf(end).pathname === '/authorize/resume')).toHaveLength(
      1,
    );
    expect(await own.sessions()).toBe(1);
  });

  it('with an assertion that another request has used: refused', async () => {
    saml.provider.lies = { assertion: { id: '_the-same' } };
    await saml.signIn();
    const to = await saml.through(await own.browser());
    expect(to.searchParams.get('connect')).toBe('failed');
    expect((await saml.stored()).failures).toEqual({ replayed: 1 });
    // Another connection has assertions of its own.
    const other = await saml.connect({ name: 'Other' });
    expect((await saml.through(await own.browser(), other)).pathname).not.toBe('/authorize/resume');
    expect((await services().connections.get(services().db.reader(), other)).failures).toEqual({});
  });

  it('by another browser (login CSRF): that one signs in nowhere, and the request stays open', async () => {
    const attackers = await own.browser();
    const form = await saml.answer(attackers);
    const to = locationOf(await saml.deliver(form)).href;
    const victim = await own.browser();
    for (const stranger of [new CookieBrowser(), victim.browser]) {
      expect((await stranger.get(to)).status).toBe(400);
      expect([...stranger.cookies.keys()].some((name) => name.includes('session'))).toBe(false);
    }
    await isUntouched();
    expect(locationOf(await attackers.browser.get(to)).pathname).toBe('/authorize/resume');
  });

  it('by a victim who was sent to a request of the attacker: the attacker cannot continue with it', async () => {
    const attackers = await own.browser();
    const asked = await saml.start(attackers);
    // The victim is signed in at the provider, and follows the link.
    await saml.deliver(await saml.provider.agree(asked));
    const state = asked.searchParams.get('RelayState') ?? '';
    const acs = `${world.app.url}/connect/${saml.connection.id}/acs`;
    for (const query of [`?answer=${state}`, `?RelayState=${state}`, '', '?answer=']) {
      expect((await attackers.browser.get(`${acs}${query}`)).status).toBe(400);
    }
    await isUntouched();
  });

  it('and continued too late, or once the connection is disabled, changed or deleted: refused', async () => {
    const { connections } = services();
    const browser = await own.browser();
    const late = locationOf(await saml.deliver(await saml.answer(browser))).href;
    world.app.clock.turn(301);
    expect((await browser.browser.get(late)).status).toBe(400);
    const disabled = locationOf(await saml.deliver(await saml.answer(browser))).href;
    await connections.setState(saml.connection, 'disabled', system);
    expect(locationOf(await browser.browser.get(disabled)).searchParams.get('connect')).toBe('off');
    await connections.setState(saml.connection, 'enabled', system);
    const changed = locationOf(await saml.deliver(await saml.answer(browser))).href;
    await connections.update(saml.connection, { saml: { signed: 'both' } }, system);
    expect(locationOf(await browser.browser.get(changed)).searchParams.get('connect')).toBe('off');
    const deleted = locationOf(await saml.deliver(await saml.answer(browser))).href;
    await connections.remove(saml.connection, system);
    expect((await browser.browser.get(deleted)).status).toBe(400);
    await isUntouched();
  });
});
