import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CookieBrowser } from '../../test/browser.ts';
import { rsaKey } from '../../test/saml.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import { newAddress } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { isQuerySigned } from '../domain/saml/bindings.ts';
import { readServiceProvider } from '../domain/saml/messages/metadata.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { pemOf, readCertificate } from '../domain/saml/security/certificate.ts';
import { encrypt } from '../domain/saml/security/encryption.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
const metadata = async () => {
  const response = await new CookieBrowser().get(`${world.app.url}/connect/${saml.connection.id}/metadata`);
  expect(response.headers.get('content-type')).toContain('application/samlmetadata+xml');
  return readServiceProvider(await response.text());
};

describe('a sign-in by SAML', () => {
  it('creates the user, and signs in as the same user each time', async () => {
    const email = saml.newPerson({ givenName: 'Ada', 'urn:oid:2.5.4.4': 'Lovelace', preferredLanguage: 'de' });
    const first = await saml.signIn();
    expect(first).toMatchObject({ amr: ['fed'] });
    expect(await world.findUser(email)).toMatchObject({
      ...{ givenName: 'Ada', familyName: 'Lovelace', provenance: 'local' },
      attributes: { locale: 'de' },
    });
    saml.provider.person.attributes['email'] = newAddress();
    expect((await saml.signIn())['sub']).toBe(first['sub']);
    expect((await own.identities()).map(([user]) => user)).toEqual([first['sub']]);
  });

  it('asks by a signed request for a persistent NameID, with the addresses of our metadata', async () => {
    const to = await saml.start(await own.browser());
    expect(to.href.startsWith(`${saml.provider.origin}/sso?tenant=1&SAMLRequest=`)).toBe(true);
    const { acsUrls, entityId, signingCertificates, signsRequests } = await metadata();
    const keys = signingCertificates.map((pem) => readCertificate(pem).key);
    const query = to.search.slice(1).replace('tenant=1&', '');
    expect(isQuerySigned(query, 'SAMLRequest', { keys })).toBe(true);
    await saml.provider.agree(to);
    const { connections } = services();
    expect(connections.callback(saml.connection)).toEqual({
      ...{ redirectUri: null, acsUrl: acsUrls[0], entityId, metadataUrl: entityId },
    });
    expect(signsRequests).toBe(true);
    expect(saml.provider.asked).toMatchObject({
      ...{ issuer: entityId, acsUrl: acsUrls[0], forceAuthn: false, nameIdFormat: nameIdFormats.persistent },
    });
  });

  it('is fresh by AuthnInstant: prompt=login asks with ForceAuthn, and an old session is not enough', async () => {
    await saml.signIn();
    const browser = await own.browser({ prompt: 'login' });
    const form = await saml.answer(browser);
    expect(saml.provider.asked.forceAuthn).toBe(true);
    expect((await saml.finish(browser, form)).pathname).toBe('/authorize/resume');
    const again = await own.browser({ prompt: 'login' });
    saml.provider.lies = { assertion: { authTime: new Date(world.app.clock.now().getTime() - 3600_000) } };
    expect((await saml.through(again)).pathname).toBe('/signin');
  });

  it('accepts an encrypted assertion, and a signed response', async () => {
    const { encryptionCertificates } = await metadata();
    const { key } = readCertificate(encryptionCertificates[0] ?? '');
    const seal = (assertion: Parameters<typeof encrypt>[0]) =>
      encrypt(assertion, key, randomBytes(32), randomBytes(12));
    saml.provider.lies = { seal };
    await saml.signIn();
    for (const signs of ['response', 'both'] as const) {
      saml.provider.lies = { signs };
      await saml.signIn();
    }
    // After a rotation, the provider may still encrypt to the former key.
    await services().samlKeys.rotate(world.project.id, system);
    world.app.clock.turn(31 * 24 * 3600);
    saml.provider.lies = { seal };
    await saml.signIn();
    expect(await own.identities()).toHaveLength(1);
  });

  it('takes the address from a NameID with its format, or from the attribute of the settings', async () => {
    const email = newAddress();
    saml.provider.person = { nameId: email, format: nameIdFormats.email, attributes: {} };
    await saml.signIn();
    expect(await world.findUser(email)).not.toBeNull();
    const other = newAddress();
    saml.provider.person = { nameId: 'x', format: nameIdFormats.persistent, attributes: { email, upn: other } };
    await services().connections.update(saml.connection, { saml: { emailAttribute: 'upn' } }, system);
    await saml.signIn();
    expect(await world.findUser(other)).not.toBeNull();
  });

  it('asks for a code to an address for which the connection does not vouch', async () => {
    await services().connections.update(saml.connection, { saml: { vouchesForEmail: false } }, system);
    const browser = await own.browser();
    expect((await saml.through(browser)).pathname).toBe('/signin');
    expect(await own.identities()).toEqual([]);
  });

  it('gives an account with the address to none but its owner', async () => {
    const owner = await world.user();
    saml.provider.person.attributes['email'] = String(owner.email);
    const browser = await own.browser();
    expect((await saml.through(browser)).pathname).toBe('/signin');
    expect([await own.identities(), await own.sessions()]).toEqual([[], 0]);
    await browser.register(String(owner.email));
    expect((await own.identities()).map(([user]) => user)).toEqual([owner.id]);
  });

  it('is another account with the same NameID in another format', async () => {
    const { nameId } = saml.provider.person;
    await saml.signIn();
    saml.newPerson();
    Object.assign(saml.provider.person, { nameId, format: nameIdFormats.unspecified });
    await saml.signIn();
    expect(new Set((await own.identities()).map(([user]) => user)).size).toBe(2);
  });

  it('works with each certificate of the provider, also during a rollover', async () => {
    const next = rsaKey();
    saml.provider.others = [next];
    await services().connections.update(saml.connection, { saml: { metadataUrl: saml.provider.metadataUrl } }, system);
    await saml.signIn();
    saml.provider.lies = { key: next };
    await saml.signIn();
    // Uploaded by an admin, too.
    const { certificate } = saml.provider.key;
    const certificates = [pemOf(certificate), pemOf(next.certificate)];
    const uploaded = { metadataXml: saml.provider.metadata({ keys: [] }), certificates };
    saml.connection = await saml.connect({ name: 'Uploaded' }, { metadataUrl: null, ...uploaded });
    saml.newPerson();
    await saml.signIn();
    saml.provider.lies = {};
    await saml.signIn();
  });
});

it('metadata of an unknown connection, or of OpenID Connect, is not found', async () => {
  for (const id of ['none', own.connection.id]) {
    const response = await new CookieBrowser().get(`${world.app.url}/connect/${id}/metadata`);
    expect(response.status).toBe(400);
  }
});
