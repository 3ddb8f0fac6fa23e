import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type NewAssertion, newResponse, type Signs } from '../src/domain/saml/messages/response.ts';
import { nameIdFormats } from '../src/domain/saml/names.ts';
import { selfSigned } from '../src/domain/saml/security/certificate.ts';
import type { SigningKey } from '../src/domain/saml/security/sign.ts';
import type { Markup } from '../src/domain/saml/xml/write.ts';

/** A signing key with its certificate, and its halves. */
export interface TestKey extends SigningKey {
  publicKey: KeyObject;
  privateKey: KeyObject;
  pkcs8: string;
}

export function rsaKey(modulusLength = 2048): TestKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const dates = { from: new Date('2026-01-01T00:00:00Z'), until: new Date('2036-01-01T00:00:00Z') };
  return {
    sign: async (input) => sign('sha256', input, privateKey),
    certificate: selfSigned(pkcs8, { name: 'test', serial: randomBytes(16), ...dates }),
    publicKey: createPublicKey(createPrivateKey(pkcs8)),
    privateKey,
    pkcs8,
  };
}

/** One sign-in of an identity provider for a service provider. */
export const sample = {
  at: new Date('2026-11-29T12:00:00Z'),
  issuer: 'https://idp.example/saml',
  audience: 'https://sp.example/metadata',
  recipient: 'https://sp.example/acs',
  requestId: '_request1',
};

export interface SampleChange {
  envelope?: Partial<Parameters<typeof newResponse>[0]>;
  assertion?: Partial<NewAssertion>;
  signs?: Signs;
  seal?: (assertion: Markup) => Markup;
}

/** The XML of a response. */
export async function sampleResponse(key: SigningKey, { envelope, assertion, signs, seal }: SampleChange = {}) {
  const made = await newResponse(
    {
      ...{ id: '_response1', issuer: sample.issuer, at: sample.at },
      ...{ destination: sample.recipient, inResponseTo: sample.requestId, ...envelope },
    },
    {
      id: '_assertion1',
      nameId: { format: nameIdFormats.persistent, value: 'ada' },
      audience: sample.audience,
      authTime: sample.at,
      contextClass: 'urn:oasis:names:tc:SAML:2.0:ac:classes:X509',
      sessionIndex: '_session1',
      attributes: [{ name: 'email', values: ['ada@example.com'] }],
      ...assertion,
    },
    { signs: signs ?? 'assertion', key, seal },
  );
  return made.xml;
}
