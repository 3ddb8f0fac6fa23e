import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rsaKey, sample, sampleResponse } from '../../../test/saml.ts';
import { SAML, samlify } from '../../../test/saml-libraries.mjs';
import { fromForm, fromQuery, isQuerySigned } from './bindings.ts';
import { readAnswer } from './messages/answer.ts';
import { readAuthnRequest } from './messages/authn-request.ts';
import { idpMetadata, readIdentityProvider, readServiceProvider } from './messages/metadata.ts';
import { pemOf } from './security/certificate.ts';
import { decrypt, encrypt } from './security/encryption.ts';
import { verified } from './security/verify.ts';
import { read } from './xml/reader.ts';

const idp = rsaKey();
const sp = rsaKey();
const certificate = pemOf(idp.certificate);
const spCertificate = pemOf(sp.certificate);
const now = () => new Date();

const nodeSaml = (more = {}) =>
  new SAML({
    callbackUrl: sample.recipient,
    issuer: sample.audience,
    entryPoint: 'https://idp.example/sso',
    idpIssuer: sample.issuer,
    idpCert: certificate,
    privateKey: sp.pkcs8,
    signatureAlgorithm: 'sha256',
    validateInResponseTo: 'never',
    ...more,
  });

describe('@node-saml/node-saml', () => {
  test('accepts our response, signed in each way, with its attributes', async () => {
    for (const [signs, wants] of [
      ['both', {}],
      ['assertion', { wantAuthnResponseSigned: false }],
      ['response', { wantAssertionsSigned: false }],
    ] as const) {
      const xml = await sampleResponse(idp, {
        signs,
        envelope: { at: now() },
        assertion: { authTime: now() },
      });
      const { profile } = await nodeSaml(wants).validatePostResponseAsync({
        SAMLResponse: Buffer.from(xml).toString('base64'),
      });
      expect(profile).toMatchObject({ nameID: 'ada', sessionIndex: '_session1', email: 'ada@example.com' });
    }
  });

  test('opens our encrypted assertion', async () => {
    const seal = (assertion: { xml: string }) => encrypt(assertion, sp.publicKey, randomBytes(32), randomBytes(12));
    const xml = await sampleResponse(idp, {
      signs: 'both',
      seal,
      envelope: { at: now() },
      assertion: { authTime: now() },
    });
    const saml = nodeSaml({ decryptionPvk: sp.pkcs8 });
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') });
    expect(profile?.nameID).toBe('ada');
  });

  test('its signed request in a query is read, and refused once it is changed', async () => {
    const url = new URL(await nodeSaml().getAuthorizeUrlAsync('relay state', undefined, {}));
    const query = url.search.slice(1);
    const request = readAuthnRequest(read(fromQuery(url.searchParams.get('SAMLRequest') ?? '')));
    expect(request).toMatchObject({ issuer: sample.audience, acsUrl: sample.recipient });
    const keys = [sp.publicKey];
    expect(isQuerySigned(query, 'SAMLRequest', { keys })).toBe(true);
    for (const changed of [
      query.replace('relay', 'other'),
      query.replace('SigAlg=', 'x=1&SigAlg=').replace(/SAMLRequest=[^&]{4}/, 'SAMLRequest=AAAA'),
    ]) {
      expect(() => isQuerySigned(changed, 'SAMLRequest', { keys })).toThrow('signature-invalid');
    }
    expect(() => isQuerySigned(query, 'SAMLRequest', { keys: [idp.publicKey] })).toThrow('signature-invalid');
    expect(() => isQuerySigned(`${query}&RelayState=x`, 'SAMLRequest', { keys })).toThrow('malformed');
    expect(isQuerySigned(query.replace(/&Signature=.*/, ''), 'SAMLRequest', { keys })).toBe(false);
  });

  test('its signed request in a form is verified', async () => {
    const form = await nodeSaml({
      authnRequestBinding: 'HTTP-POST',
      digestAlgorithm: 'sha256',
      skipRequestCompression: true,
    }).getAuthorizeFormAsync('', undefined);
    const message = read(fromForm(/name="SAMLRequest" value="([^"]+)"/.exec(form)?.[1] ?? ''));
    expect(readAuthnRequest(verified(message, { keys: [sp.publicKey] })).issuer).toBe(sample.audience);
    expect(() => verified(message, { keys: [idp.publicKey] })).toThrow('signature-invalid');
  });

  test('its metadata is read', () => {
    const xml = nodeSaml().generateServiceProviderMetadata(null, spCertificate);
    expect(readServiceProvider(xml)).toMatchObject({
      entityId: sample.audience,
      acsUrls: [sample.recipient],
      signsRequests: true,
      wantsAssertionsSigned: true,
    });
  });
});

describe('samlify', () => {
  const signingWanted = (xml: string) =>
    xml.replace('<md:IDPSSODescriptor ', '<md:IDPSSODescriptor WantAuthnRequestsSigned="true" ');
  const ours = idpMetadata({ entityId: sample.issuer, ssoUrl: 'https://idp.example/sso', sloUrl: null }, [
    idp.certificate,
  ]).xml;
  const metadata = signingWanted(ours);
  const provider = samlify.ServiceProvider({
    entityID: sample.audience,
    assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: sample.recipient }],
    wantAssertionsSigned: true,
    authnRequestsSigned: true,
    privateKey: sp.pkcs8,
    signingCert: spCertificate,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    encPrivateKey: sp.pkcs8,
    encryptCert: spCertificate,
  });
  const upstream = samlify.IdentityProvider({
    entityID: sample.issuer,
    singleSignOnService: [
      { Binding: samlify.Constants.namespace.binding.post, Location: 'https://idp.example/sso' },
      { Binding: samlify.Constants.namespace.binding.redirect, Location: 'https://idp.example/sso' },
    ],
    privateKey: idp.pkcs8,
    signingCert: certificate,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    isAssertionEncrypted: true,
    dataEncryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    messageSigningOrder: 'sign-then-encrypt',
  });

  test('as service provider, accepts our response by our metadata', async () => {
    const us = samlify.IdentityProvider({ metadata });
    const xml = await sampleResponse(idp, {
      signs: 'both',
      envelope: { at: now() },
      assertion: { authTime: now() },
    });
    const body = { SAMLResponse: Buffer.from(xml).toString('base64') };
    const { extract } = await provider.parseLoginResponse(us, 'post', { body });
    expect(extract).toMatchObject({ nameID: 'ada', attributes: { email: 'ada@example.com' } });
  });

  test('its metadata are read, and their endpoints and certificates found', () => {
    const sp = readServiceProvider(provider.getMetadata());
    expect(sp).toMatchObject({ entityId: sample.audience, acsUrls: [sample.recipient], signsRequests: true });
    expect([sp.signingCertificates.length, sp.encryptionCertificates.length]).toEqual([1, 1]);
    const found = readIdentityProvider(upstream.getMetadata());
    expect(found).toMatchObject({ entityId: sample.issuer, ssoUrl: 'https://idp.example/sso' });
    expect(found.signingCertificates).toEqual([certificate]);
  });

  test('as identity provider, its encrypted and signed response is read', async () => {
    const asked = provider.createLoginRequest(samlify.IdentityProvider({ metadata }), 'redirect');
    const url = new URL(asked.context);
    expect(isQuerySigned(url.search.slice(1), 'SAMLRequest', { keys: [sp.publicKey] })).toBe(true);
    const { id } = readAuthnRequest(read(fromQuery(url.searchParams.get('SAMLRequest') ?? '')));
    const { context } = await upstream.createLoginResponse(
      provider,
      { extract: { request: { id } } },
      'post',
      { email: 'ada@example.com' },
      { customTagReplacement: (template: string) => ({ id: '_response1', context: filled(template, id) }) },
    );
    const answer = readAnswer(read(fromForm(context)), {
      keys: [idp.publicKey],
      issuer: sample.issuer,
      audience: sample.audience,
      recipient: sample.recipient,
      requestId: id,
      now: now(),
      decrypt: (encrypted) => decrypt(encrypted, { key: sp.privateKey }),
    });
    expect(answer.subject.value).toBe('ada@example.com');
  });
});

/** samlify's own template has no AuthnStatement, which SAML Profiles section 4.1.4.2 demands. */
function filled(template: string, requestId: string): string {
  const [at, until] = [new Date().toISOString(), new Date(Date.now() + 300_000).toISOString()];
  const statement = `<saml:AuthnStatement AuthnInstant="${at}" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:X509</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  return samlify.SamlLib.replaceTagsByValue(template.replace('{AuthnStatement}', statement), {
    ...{ ID: '_response1', AssertionID: '_assertion1', IssueInstant: at, ConditionsNotBefore: at },
    ...{ Destination: sample.recipient, SubjectRecipient: sample.recipient, InResponseTo: requestId },
    ...{ Issuer: sample.issuer, Audience: sample.audience, StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success' },
    ...{ ConditionsNotOnOrAfter: until, SubjectConfirmationDataNotOnOrAfter: until, AttributeStatement: '' },
    ...{ NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress', NameID: 'ada@example.com' },
  });
}
