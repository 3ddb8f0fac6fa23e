import { describe, expect, test } from 'vitest';
import { rsaKey } from '../../../../test/saml.ts';
import { bindings, ns } from '../names.ts';
import { pemOf } from '../security/certificate.ts';
import { keyInfo } from '../security/sign.ts';
import { readIdentityProvider, readServiceProvider } from './metadata.ts';

const idp = rsaKey();

describe('metadata', () => {
  const other = rsaKey();
  const key = (use: string, { certificate } = idp) =>
    `<KeyDescriptor${use}>${keyInfo(certificate).xml}</KeyDescriptor>`;
  const entity = (role: string, content: string, entityId = 'x') =>
    `<EntityDescriptor xmlns="${ns.metadata}" entityID="${entityId}"><${role}>${content}</${role.split(' ')[0]}></EntityDescriptor>`;
  const sp = (content: string, entityId?: string) => readServiceProvider(entity('SPSSODescriptor', content, entityId));
  const endpoint = (name: string, binding: string, url: string) => `<${name} Binding="${binding}" Location="${url}"/>`;
  const acs = (index: number, more = '', binding: string = bindings.post) =>
    `<AssertionConsumerService Binding="${binding}" Location="https://sp.example/${index}" index="${index}"${more}/>`;

  test('a key is for what its use says, and for both without one', () => {
    const [pem, otherPem] = [pemOf(idp.certificate), pemOf(other.certificate)];
    const found = sp(key(' use="signing"') + key(' use="encryption"', other));
    expect([found.signingCertificates, found.encryptionCertificates]).toEqual([[pem], [otherPem]]);
    const both = sp(key('') + key('', other));
    expect([both.signingCertificates, both.encryptionCertificates]).toEqual([
      [pem, otherPem],
      [pem, otherPem],
    ]);
  });

  test('endpoints are those of HTTP-POST, by default and index', () => {
    expect(sp(acs(2) + acs(1) + acs(0, '', bindings.redirect)).acsUrls).toEqual([
      'https://sp.example/1',
      'https://sp.example/2',
    ]);
    expect(sp(acs(0) + acs(1) + acs(2, ' isDefault="true"')).acsUrls).toEqual(
      [2, 0, 1].map((index) => `https://sp.example/${index}`),
    );
  });

  test('an identity provider has its endpoints of HTTP-Redirect', () => {
    const post = endpoint('SingleSignOnService', bindings.post, 'https://idp.example/post');
    const sso = endpoint('SingleSignOnService', bindings.redirect, 'https://idp.example/sso');
    const slo = endpoint('SingleLogoutService', bindings.redirect, 'https://idp.example/slo');
    const found = readIdentityProvider(
      entity('IDPSSODescriptor WantAuthnRequestsSigned="1"', key(' use="signing"') + post + sso + slo),
    );
    expect(found).toEqual({
      ...{ entityId: 'x', ssoUrl: 'https://idp.example/sso', sloUrl: 'https://idp.example/slo' },
      ...{ signingCertificates: [pemOf(idp.certificate)], wantsRequestsSigned: true },
    });
    expect(readIdentityProvider(entity('IDPSSODescriptor', sso))).toMatchObject({
      ...{ sloUrl: undefined, signingCertificates: [], wantsRequestsSigned: false },
    });
    expect(() => readIdentityProvider(entity('IDPSSODescriptor', post))).toThrow('malformed: no SingleSignOnService');
  });

  test('an entity ID has at most 1024 characters', () => {
    expect(sp('', 'a'.repeat(1024)).entityId).toHaveLength(1024);
    expect(() => sp('', 'a'.repeat(1025))).toThrow('malformed: entityID');
    expect(() => sp('', '')).toThrow('malformed: entityID');
    expect(() => readServiceProvider(entity('SPSSODescriptor', '').replace(' entityID="x"', ''))).toThrow(
      'malformed: entityID',
    );
  });

  test('a certificate that is none is refused', () => {
    expect(() => sp(key('').replace(/<ds:X509Certificate>[^<]*/, '<ds:X509Certificate>AAAA'))).toThrow('malformed');
  });
});
