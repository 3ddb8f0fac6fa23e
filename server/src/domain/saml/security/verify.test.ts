import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rsaKey } from '../../../../test/saml.ts';
import { newAuthnRequest } from '../messages/authn-request.ts';
import { envelopedSignature, ns } from '../names.ts';
import { canonical } from '../xml/canonical.ts';
import { read } from '../xml/reader.ts';
import { raw } from '../xml/write.ts';
import { signed } from './sign.ts';
import { base64, verified } from './verify.ts';

const key = rsaKey();
const exclusive = ns.exclusive;
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

const transform = (algorithm: string, content = '', name = 'ds:Transform') =>
  `<${name} Algorithm="${algorithm}">${content}</${name}>`;
const prefixes = (count: number) =>
  `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="${Array.from({ length: count }, (_, index) => `p${index}`).join(' ')}"/>`;

interface Parts {
  /** With its white space. */
  id?: string;
  uri?: string;
  signatureMethod?: string;
  digestMethod?: string;
  /** Content of the `CanonicalizationMethod`. */
  canonicalizing?: string;
  transforms?: string;
  /** How base64 is written. */
  broken?: (base64: string) => string;
}

/** A message with a signature that is right in all but what a test changes: the key signed the change, too. */
function message(
  {
    id = ' ID="_m"',
    uri = '#_m',
    signatureMethod = ` Algorithm="${rsaSha256}"`,
    digestMethod = ` Algorithm="${sha256}"`,
    canonicalizing = '',
    transforms = transform(envelopedSignature) + transform(exclusive),
    broken = (base64) => base64,
  }: Parts,
  signing = (input: Buffer): Buffer => sign('sha256', input, key.privateKey),
): string {
  const plain = `<m xmlns="urn:m"${id}><name>ada</name></m>`;
  const digest = createHash('sha256')
    .update(canonical(read(plain)))
    .digest('base64');
  const info = `<ds:SignedInfo xmlns:ds="${ns.signature}"><ds:CanonicalizationMethod Algorithm="${exclusive}">${canonicalizing}</ds:CanonicalizationMethod><ds:SignatureMethod${signatureMethod}/><ds:Reference URI="${uri}"><ds:Transforms>${transforms}</ds:Transforms><ds:DigestMethod${digestMethod}/><ds:DigestValue>${broken(digest)}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const value = signing(Buffer.from(canonical(read(info)))).toString('base64');
  const signature = `<ds:Signature xmlns:ds="${ns.signature}">${info}<ds:SignatureValue>${broken(value)}</ds:SignatureValue></ds:Signature>`;
  return plain.replace('</m>', `${signature}</m>`);
}

/** The reason of the refusal; `ada`: accepted. */
function outcome(xml: string, keys: KeyObject[] = [key.publicKey]): string {
  try {
    return canonical(verified(read(xml), { keys })).includes('<name>ada</name>') ? 'ada' : 'other content';
  } catch (error) {
    const { reason } = error as { reason?: string };
    if (reason === undefined) throw error;
    return reason;
  }
}

test('the message of these tests is accepted', () => {
  expect(outcome(message({}))).toBe('ada');
  expect(outcome(message({}).replace('>ada<', '>eve<'))).toBe('signature-invalid');
});

describe('transforms', () => {
  const enveloped = transform(envelopedSignature);
  const foreign = (algorithm: string) => transform(algorithm, '', 'x:Transform').replace(' ', ' xmlns:x="urn:x" ');

  test.each([
    ['inclusive canonicalization as the second', enveloped + transform(inclusive)],
    ['inclusive canonicalization as the first', transform(inclusive) + transform(exclusive)],
    ['the enveloped signature twice', enveloped + enveloped],
    ['exclusive canonicalization twice', transform(exclusive) + transform(exclusive)],
    ['the enveloped signature alone', enveloped],
    ['exclusive canonicalization alone', transform(exclusive)],
    ['another order', transform(exclusive) + enveloped],
    ['a third one', enveloped + transform(exclusive) + transform(exclusive)],
    ['no algorithm', `${enveloped}<ds:Transform/>`],
    ['an element of another name', enveloped + transform(exclusive, '', 'ds:Other')],
    ['an element of another namespace', enveloped + foreign(exclusive)],
    ['a first element of another name', transform(envelopedSignature, '', 'ds:Other') + transform(exclusive)],
    ['a first element of another namespace', foreign(envelopedSignature) + transform(exclusive)],
    ['XPath in the first', transform(envelopedSignature, '<ds:XPath>a</ds:XPath>') + transform(exclusive)],
    ['XPath in the second', enveloped + transform(exclusive, '<ds:XPath>a</ds:XPath>')],
    ['XPath beside a prefix list', enveloped + transform(exclusive, `${prefixes(1)}<ds:XPath>a</ds:XPath>`)],
  ])('refused, though signed: %s', (_, transforms) => {
    expect(outcome(message({ transforms }))).toBe('algorithm-refused');
  });

  test('a prefix list has at most 32 prefixes', () => {
    const listed = (count: number) => message({ transforms: enveloped + transform(exclusive, prefixes(count)) });
    expect(outcome(listed(32))).toBe('ada');
    expect(outcome(listed(33))).toBe('too-large');
  });
});

describe('CanonicalizationMethod', () => {
  test.each([
    ['another child', '<ds:XPath>a</ds:XPath>'],
    ['a child beside the prefix list', `${prefixes(1)}<ds:XPath>a</ds:XPath>`],
    ['a prefix list of another namespace', '<ds:InclusiveNamespaces PrefixList="p"/>'],
  ])('refused, though signed: %s', (_, canonicalizing) => {
    expect(outcome(message({ canonicalizing }))).toBe('algorithm-refused');
  });

  test('a prefix list has at most 32 prefixes', () => {
    expect(outcome(message({ canonicalizing: prefixes(32) }))).toBe('ada');
    expect(outcome(message({ canonicalizing: prefixes(33) }))).toBe('too-large');
  });
});

test.each([
  ['without ID', '', '#undefined'],
  ['without ID, and a reference to the document', '', ''],
  ['with an empty ID', ' ID=""', '#'],
  ['with an ID in another namespace', ' xmlns:x="urn:x" x:ID="_m"', '#_m'],
])('a signed element %s is refused', (_, id, uri) => {
  expect(outcome(message({ id, uri }))).toBe('signature-invalid');
});

describe('algorithms', () => {
  test.each(['', ...['', 'constructor', 'toString', '__proto__'].map((uri) => ` Algorithm="${uri}"`)])(
    'refused:%s',
    (algorithm) => {
      expect(outcome(message({ signatureMethod: algorithm }))).toBe('algorithm-refused');
      expect(outcome(message({ digestMethod: algorithm }))).toBe('algorithm-refused');
    },
  );

  test.each([
    ['P-256', 'sha256', 'ada'],
    ['P-384', 'sha384', 'ada'],
    ['P-521', 'sha512', 'ada'],
    ['secp256k1', 'sha256', 'signature-invalid'],
    ['P-224', 'sha256', 'signature-invalid'],
  ])('a key on %s, with %s: %s', (namedCurve, hash, expected) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
    const signatureMethod = ` Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-${hash}"`;
    const xml = message({ signatureMethod }, (input) =>
      sign(hash, input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    );
    expect(outcome(xml, [publicKey])).toBe(expected);
  });

  test.each(['sha384', 'sha512'])('RSA with %s is accepted', (hash) => {
    const signatureMethod = ` Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-${hash}"`;
    expect(outcome(message({ signatureMethod }, (input) => sign(hash, input, key.privateKey)))).toBe('ada');
  });
});

test('base64 may have line breaks', () => {
  const lines = (base64: string) => (base64.match(/.{1,20}/g) ?? []).join('\n');
  expect(outcome(message({ broken: lines }))).toBe('ada');
  expect(outcome(message({ broken: (value) => `\n${lines(value).replaceAll('\n', '&#13;\n\t')}\n` }))).toBe('ada');
});

test.each(['AAA', 'AAAA=', 'AA=A', '=AAA', 'AA==AAAA', 'A===', 'AA-_', 'AAAA!', 'AAA\u00e4'])(
  'not base64: %s',
  (value) => {
    expect(() => base64(value)).toThrow('malformed: base64');
  },
);

test('our signature follows the Issuer, which must be first', async () => {
  const { xml } = newAuthnRequest({
    ...{ id: '_r', issuer: 'https://sp.example', at: new Date('2026-11-29T12:00:00Z') },
    ...{ destination: 'https://idp.example/sso', acsUrl: 'https://sp.example/acs' },
  });
  expect((await signed(raw(xml), key)).xml).toContain('</saml:Issuer><ds:Signature ');
  const issuer = /<saml:Issuer>.*<\/saml:Issuer>/.exec(xml)?.[0] ?? '';
  for (const first of [`<samlp:Extensions/>${issuer}`, 'text', '']) {
    await expect(signed(raw(xml.replace(issuer, first)), key)).rejects.toThrow('no Issuer');
  }
});
