import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { type NewAssertion, newResponse, type Signs } from '../src/domain/saml/messages/response.ts';
import { nameIdFormats, ns } from '../src/domain/saml/names.ts';
import { selfSigned } from '../src/domain/saml/security/certificate.ts';
import { type SigningKey, signed } from '../src/domain/saml/security/sign.ts';
import { canonical } from '../src/domain/saml/xml/canonical.ts';
import { descendants, type Element } from '../src/domain/saml/xml/element.ts';
import { read } from '../src/domain/saml/xml/reader.ts';
import { type Markup, raw } from '../src/domain/saml/xml/write.ts';

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
  /** Signs the response without that attribute. */
  withoutDestination?: boolean;
}

/** The XML of a response. */
export async function sampleResponse(
  key: SigningKey,
  { envelope, assertion, signs = 'assertion', seal, withoutDestination }: SampleChange = {},
) {
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
    { signs, key, seal },
  );
  return withoutDestination ? signedWithout(made.xml, / Destination="[^"]*"/, key) : made.xml;
}

/** A response with a signed assertion or without, changed, and signed as a whole instead. */
async function signedWithout(xml: string, part: RegExp, key: SigningKey): Promise<string> {
  const unsigned = xml
    .replace(part, '')
    .replace(/(<samlp:Response.*?<\/saml:Issuer>)<ds:Signature .*?<\/ds:Signature>/, '$1');
  return (await signed(raw(unsigned), key)).xml;
}

/** A response whose signed assertion is changed, and signed again. */
export async function resignedBy(key: SigningKey, xml: string, from: string | RegExp, to: string): Promise<string> {
  const changed = xml.replace(from, to);
  if (changed === xml) throw new Error('nothing to change');
  const [assertion] = descendants(read(changed), ns.assertion, 'Assertion');
  const [own] = descendants(assertion as Element, ns.signature, 'Signature');
  const digest = createHash('sha256')
    .update(canonical(assertion as Element, { without: own as Element }))
    .digest('base64');
  const digested = changed.replace(/<ds:DigestValue>.*?</, `<ds:DigestValue>${digest}<`);
  const [info] = descendants(read(digested), ns.signature, 'SignedInfo');
  const value = Buffer.from(await key.sign(Buffer.from(canonical(info as Element)))).toString('base64');
  return digested.replace(/<ds:SignatureValue>.*?</, `<ds:SignatureValue>${value}<`);
}
