import { X509Certificate } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rsaKey, sampleResponse } from '../../../test/saml.ts';
import { fromForm, fromQuery, isQuerySigned, redirectTo, relayStateOf } from './bindings.ts';
import { checkFresh, newAuthnRequest, readAuthnRequest } from './messages/authn-request.ts';
import { newLogoutRequest, newLogoutResponse, readLogoutRequest, readLogoutResponse } from './messages/logout.ts';
import { readIdentityProvider, readServiceProvider } from './messages/metadata.ts';
import { bindings, ns } from './names.ts';
import { SamlError } from './saml-error.ts';
import { pemOf, readCertificate } from './security/certificate.ts';
import { signed } from './security/sign.ts';
import { verified } from './security/verify.ts';
import { read } from './xml/reader.ts';

const key = rsaKey();
const at = new Date('2026-11-29T12:00:00Z');
const asked = {
  id: '_r',
  issuer: 'https://sp.example',
  at,
  destination: 'https://idp.example/sso',
  acsUrl: 'https://sp.example/acs',
};

test('a deflate bomb is refused while it inflates', () => {
  const bomb = deflateRawSync(Buffer.alloc(10_000_000, 'a')).toString('base64');
  expect(bomb.length).toBeLessThan(20_000);
  expect(() => fromQuery(bomb)).toThrow('too-large');
});

test('messages that are not base64, not DEFLATE, or too long are refused', () => {
  expect(() => fromForm('no base64!')).toThrow('malformed');
  expect(() => fromQuery(Buffer.from('no deflate').toString('base64'))).toThrow('malformed');
  expect(() => fromForm('A'.repeat(300_000))).toThrow('too-large');
});

test('RelayState has at most 80 bytes', () => {
  expect(relayStateOf('a'.repeat(80))).toBe('a'.repeat(80));
  expect(() => relayStateOf('ä'.repeat(41))).toThrow('too-large');
});

test('a redirect is signed over its parameters', async () => {
  const { xml } = newAuthnRequest(asked);
  const url = await redirectTo('https://idp.example/sso?x=1', { name: 'SAMLRequest', xml, relayState: 'a b&c' }, key);
  const query = url.slice(url.indexOf('?') + 1);
  expect(isQuerySigned(query, 'SAMLRequest', { keys: [key.publicKey] })).toBe(true);
  expect(() =>
    isQuerySigned(query.replace('RelayState=a', 'RelayState=b'), 'SAMLRequest', { keys: [key.publicKey] }),
  ).toThrow('signature-invalid');
  expect(() => isQuerySigned(query.replace('rsa-sha256', 'rsa-md5'), 'SAMLRequest', { keys: [key.publicKey] })).toThrow(
    'algorithm-refused',
  );
  const parameters = new URLSearchParams(query);
  expect(parameters.get('RelayState')).toBe('a b&c');
  expect(readAuthnRequest(read(fromQuery(parameters.get('SAMLRequest') ?? '')))).toMatchObject({
    id: '_r',
    forceAuthn: false,
  });
});

test('a parameter with an encoded name is covered by the signature', async () => {
  const { xml } = newAuthnRequest(asked);
  const url = await redirectTo('https://idp.example/sso', { name: 'SAMLRequest', xml }, key);
  const query = `${new URL(url).search.slice(1)}&%52elayState=forged`;
  expect(new URLSearchParams(query).get('RelayState')).toBe('forged');
  expect(() => isQuerySigned(query, 'SAMLRequest', { keys: [key.publicKey] })).toThrow('signature-invalid');
});

test('a signature with thousands of prefixes is refused before it is canonicalized', async () => {
  const { xml } = await signed(newAuthnRequest(asked), key);
  const transform = `<ds:Transform Algorithm="${ns.exclusive}"`;
  const list = (length: number) =>
    `<ec:InclusiveNamespaces xmlns:ec="${ns.exclusive}" PrefixList="${'a '.repeat(length)}"/>`;
  const changed = (length: number) =>
    read(xml.replace(`${transform}/>`, `${transform}>${list(length)}</ds:Transform>`));
  expect(() => verified(changed(1), { keys: [key.publicKey] })).toThrow('signature-invalid');
  expect(() => verified(changed(50_000), { keys: [key.publicKey] })).toThrow('too-large');
});

test('a request that is too old, from the future, or for another endpoint is refused', () => {
  const request = readAuthnRequest(read(newAuthnRequest(asked).xml));
  const context = { now: at, endpoint: asked.destination, maxAgeSeconds: 300 };
  checkFresh(request, context);
  expect(() => checkFresh(request, { ...context, endpoint: 'https://other.example/sso' })).toThrow(
    'destination-mismatch',
  );
  // The events of a refusal are counted by its detail.
  expect(() => checkFresh({ ...request, destination: 'https://forged.example' }, context)).toThrow(
    /^destination-mismatch: Destination$/,
  );
  expect(() => checkFresh(request, { ...context, now: new Date(at.getTime() + 361_000) })).toThrow('expired');
  expect(() => checkFresh(request, { ...context, now: new Date(at.getTime() - 61_000) })).toThrow('not-yet-valid');
});

test.each([
  [
    'a Subject',
    '</samlp:AuthnRequest>',
    '<saml:Subject><saml:NameID>eve</saml:NameID></saml:Subject></samlp:AuthnRequest>',
    'wrong-message',
  ],
  ['another binding', 'HTTP-POST', 'HTTP-Artifact', 'wrong-message'],
  ['both ACS URL and index', 'ForceAuthn', 'AssertionConsumerServiceIndex="1" ForceAuthn', 'malformed'],
  ['no ID', ' ID="_r"', '', 'malformed'],
  ['an ID with markup', ' ID="_r"', ' ID="&lt;script>"', 'malformed'],
  ['no Issuer', '<saml:Issuer>https://sp.example</saml:Issuer>', '', 'malformed'],
  ['another boolean', 'ForceAuthn="false"', 'ForceAuthn="yes"', 'malformed'],
  ['another message', /samlp:AuthnRequest/g, 'samlp:LogoutRequest', 'wrong-message'],
])('a request with %s is refused', (_, from, to, reason) => {
  const { xml } = newAuthnRequest(asked);
  expect(() => readAuthnRequest(read(xml.replace(from, to)))).toThrow(reason);
});

test('interpolated text cannot become markup', () => {
  const issuer = `https://sp.example/"><x a='1'>&amp;\u0001]]>`;
  const written = read(newAuthnRequest({ ...asked, issuer }).xml);
  expect(readAuthnRequest(written).issuer).toBe(issuer.replace('\u0001', '\uFFFD'));
});

test('reads the logout messages that it writes', async () => {
  const envelope = { id: '_l', issuer: 'https://idp.example', at, destination: 'https://sp.example/slo' };
  const request = newLogoutRequest(envelope, { nameId: { format: 'urn:f', value: 'ada' }, sessionIndexes: ['_s'] });
  const read1 = readLogoutRequest(verified(read((await signed(request, key)).xml), { keys: [key.publicKey] }));
  expect(read1).toMatchObject({ id: '_l', nameId: { format: 'urn:f', value: 'ada' }, sessionIndexes: ['_s'] });
  const response = newLogoutResponse({ ...envelope, inResponseTo: '_q' });
  expect(readLogoutResponse(read(response.xml))).toEqual({
    issuer: envelope.issuer,
    issueInstant: at,
    destination: envelope.destination,
    inResponseTo: '_q',
    isSuccess: true,
    status: 'Success',
  });
  const partial = newLogoutResponse({ ...envelope, inResponseTo: '_q' }, 'partialLogout');
  expect(readLogoutResponse(read(partial.xml))).toMatchObject({ isSuccess: false, status: 'Responder PartialLogout' });
});

test('a user of thousands of groups gets a signed response', async () => {
  const values = Array.from({ length: 6000 }, (_, index) => `group ${index} of a large organization`);
  const xml = await sampleResponse(key, { assertion: { attributes: [{ name: 'groups', values }] }, signs: 'both' });
  expect(xml.split('<saml:AttributeValue')).toHaveLength(6001);
});

test('our certificate is a valid X.509 certificate of the key', () => {
  const certificate = new X509Certificate(key.certificate);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.subject).toBe('CN=test');
  expect(certificate.publicKey.equals(key.publicKey)).toBe(true);
  const trusted = readCertificate(pemOf(key.certificate));
  expect(trusted.expiresAt).toEqual(new Date('2036-01-01T00:00:00Z'));
  expect(readCertificate(Buffer.from(key.certificate).toString('base64')).fingerprint).toBe(trusted.fingerprint);
});

test('a certificate of a weak key, or text that is not a certificate, is refused', () => {
  expect(() => readCertificate(pemOf(rsaKey(1024).certificate))).toThrow('algorithm-refused');
  expect(() => readCertificate('hello')).toThrow('malformed');
  const unknownKey = Buffer.from(key.certificate);
  const rsaEncryption = Buffer.from('2a864886f70d010101', 'hex');
  unknownKey[unknownKey.indexOf(rsaEncryption) + 8] = 0x7f;
  expect(() => readCertificate(pemOf(unknownKey))).toThrow(SamlError);
});

test('metadata of several entities, or without the role, is refused', () => {
  const entity = '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="x"/>';
  expect(() => readServiceProvider(entity)).toThrow('malformed');
  const two = `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${entity}${entity}</EntitiesDescriptor>`;
  expect(() => readIdentityProvider(two)).toThrow('malformed');
});

test('the default endpoint of metadata is first', () => {
  const acs = (index: number, isDefault: string) =>
    `<AssertionConsumerService Binding="${bindings.post}" Location="https://sp.example/${index}" index="${index}" isDefault="${isDefault}"/>`;
  const metadata = (isDefault: string) =>
    `<EntityDescriptor xmlns="${ns.metadata}" entityID="x"><SPSSODescriptor>${acs(0, 'false')}${acs(1, isDefault)}</SPSSODescriptor></EntityDescriptor>`;
  for (const isDefault of ['true', '1']) {
    expect(readServiceProvider(metadata(isDefault)).acsUrls[0]).toBe('https://sp.example/1');
  }
});
