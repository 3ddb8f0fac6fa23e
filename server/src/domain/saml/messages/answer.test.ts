import { createPublicKey, generateKeyPairSync, randomBytes, sign as signBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resignedBy, rsaKey, type SampleChange, sample, sampleResponse } from '../../../../test/saml.ts';
import { decrypt, encrypt } from '../security/encryption.ts';
import { canonical } from '../xml/canonical.ts';
import { descendants, type Element } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { type Expected, readAnswer } from './answer.ts';
import { newErrorResponse } from './response.ts';

const idp = rsaKey();
const attacker = rsaKey();
const small = rsaKey(1024);
const sp = rsaKey();

const expected: Expected = {
  keys: [idp.publicKey],
  issuer: sample.issuer,
  audience: sample.audience,
  recipient: sample.recipient,
  requestId: sample.requestId,
  now: sample.at,
};

function outcome(xml: string, change: Partial<Expected> = {}): string {
  try {
    return readAnswer(read(xml), { ...expected, ...change }).subject.value;
  } catch (error) {
    const reason = (error as { reason?: string }).reason;
    if (reason === undefined) throw error;
    return reason;
  }
}

const genuine = await sampleResponse(idp);
const signedWhole = await sampleResponse(idp, { signs: 'response' });
const [, original = '', tail = ''] = /^.*?(<saml:Assertion.*<\/saml:Assertion>)(.*)$/.exec(genuine) ?? [];
const head = genuine.slice(0, genuine.indexOf(original));
const signature = /<ds:Signature .*?<\/ds:Signature>/.exec(original)?.[0] ?? '';
const unsigned = original.replace(signature, '');
const evil = unsigned.replace('>ada<', '>eve<').replace('_assertion1', '_evil');

test('a signed assertion, response or both are accepted', async () => {
  for (const signs of ['assertion', 'response', 'both'] as const) {
    const answer = readAnswer(read(await sampleResponse(idp, { signs })), expected);
    expect(answer.subject.value).toBe('ada');
    expect(answer.attributes).toEqual([{ name: 'email', values: ['ada@example.com'] }]);
    expect(answer.sessionIndex).toBe('_session1');
  }
});

describe('signature wrapping', () => {
  const inSignature = (content: string) => original.replace('</ds:Signature>', `${content}</ds:Signature>`);
  const evilWith = (content: string) => evil.replace('</saml:Assertion>', `${content}</saml:Assertion>`);
  const withSignature = evil.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);
  const whole = /^<samlp:Response[^>]*>/.exec(signedWhole)?.[0] ?? '';
  const wholeSignature = /<ds:Signature .*?<\/ds:Signature>/.exec(signedWhole)?.[0] ?? '';
  const forgedWhole = signedWhole
    .replace(wholeSignature, '')
    .replace('_response1', '_forged')
    .replace('>ada<', '>eve<');
  const withObject = wholeSignature.replace(
    '</ds:Signature>',
    `<ds:Object>${signedWhole.replace(wholeSignature, '')}</ds:Object></ds:Signature>`,
  );
  test.each([
    [
      'XSW1: the signed response inside the signature of a forged one',
      forgedWhole.replace('</saml:Issuer>', `</saml:Issuer>${withObject}`),
    ],
    [
      'XSW2: the signed response beside its signature in a forged one',
      forgedWhole.replace('</saml:Issuer>', `</saml:Issuer>${signedWhole}${wholeSignature}`),
    ],
    ['XSW3: a forged assertion before the signed one', head + evil + original + tail],
    ['XSW3: a forged assertion after the signed one', head + original + evil + tail],
    ['XSW4: the signed assertion inside a forged one', head + evilWith(original) + tail],
    ['XSW5: the signature in a forged assertion, the original last', head + withSignature + unsigned + tail],
    [
      'XSW6: the original inside the signature in a forged assertion',
      head +
        evil.replace(
          '</saml:Issuer>',
          `</saml:Issuer>${signature.replace('</ds:Signature>', `<ds:Object>${unsigned}</ds:Object></ds:Signature>`)}`,
        ) +
        tail,
    ],
    ['XSW7: the original in Extensions', `${head}<samlp:Extensions>${original}</samlp:Extensions>${evil}${tail}`],
    [
      'XSW8: the original in an Object of the signature',
      head + withSignature.replace('</ds:Signature>', `<ds:Object>${unsigned}</ds:Object></ds:Signature>`) + tail,
    ],
    ['a forged assertion in the Object of the signature', head + inSignature(`<ds:Object>${evil}</ds:Object>`) + tail],
    ['two signatures', head + original.replace('</ds:Signature>', `</ds:Signature>${signature}`) + tail],
    [
      'the same ID twice',
      head + evil.replace('_evil', '_assertion1').replace('</saml:Issuer>', `</saml:Issuer>${signature}`) + tail,
    ],
    [
      'a second SignedInfo',
      head +
        original.replace(
          '</ds:SignedInfo>',
          `</ds:SignedInfo>${/<ds:SignedInfo.*<\/ds:SignedInfo>/.exec(signature)?.[0] ?? ''}`,
        ) +
        tail,
    ],
    [
      'a second Reference',
      head +
        original.replace(
          '</ds:Reference>',
          `</ds:Reference>${/<ds:Reference.*<\/ds:Reference>/.exec(signature)?.[0] ?? ''}`,
        ) +
        tail,
    ],
    [
      'a second DigestValue',
      head + original.replace('</ds:DigestValue>', '</ds:DigestValue><ds:DigestValue>AAAA</ds:DigestValue>') + tail,
    ],
    [
      'the signature of the response on the assertion',
      whole + evil.replace('</saml:Issuer>', `</saml:Issuer>${wholeSignature}`) + tail,
    ],
    ['another name for the signed response', signedWhole.replaceAll('samlp:Response', 'samlp:ArtifactResponse')],
    ['a changed NameID', genuine.replace('>ada<', '>eve<')],
    ['an encrypted assertion besides', head + original + '<saml:EncryptedAssertion/>' + tail],
  ])('refused: %s', (_, xml) => {
    expect(xml).toContain('Response');
    expect(['ada', 'eve']).not.toContain(outcome(xml));
  });

  test('unsigned parts beside a signed assertion are not read', () => {
    const answer = readAnswer(
      read(
        genuine.replace(
          '<samlp:Status>',
          '<samlp:Extensions><x xmlns="urn:x">eve</x></samlp:Extensions><samlp:Status>',
        ),
      ),
      expected,
    );
    expect(JSON.stringify(answer)).not.toContain('eve');
  });
});

describe('comments and other markup in signed text', () => {
  test.each([
    ['NameID', '>ada<', '>a<!-- -->da<'],
    ['DigestValue', '<ds:DigestValue>', '<ds:DigestValue><!-- AAAA -->'],
    ['SignatureValue', '<ds:SignatureValue>', '<ds:SignatureValue><!-- AAAA -->'],
    ['CDATA', '>ada<', '><![CDATA[ada]]><'],
    ['a processing instruction', '>ada<', '>a<?x ?>da<'],
    ['an entity', '>ada<', '>&ada;<'],
  ])('refused: %s', (_, from, to) => {
    expect(['forbidden-markup', 'malformed']).toContain(outcome(genuine.replace(from, to)));
  });
});

describe('keys and algorithms', () => {
  const rsa256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
  const transforms = '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>';

  test('another key is refused, even if its certificate is in KeyInfo', async () => {
    expect(outcome(await sampleResponse(attacker))).toBe('signature-invalid');
  });

  test('every signature is refused if there is no key, after all certificates were removed', () => {
    expect(outcome(genuine, { keys: [] })).toBe('signature-invalid');
  });

  test('the second key is accepted, during a rollover', () => {
    expect(outcome(genuine, { keys: [attacker.publicKey, idp.publicKey] })).toBe('ada');
  });

  test('RSA with 1024 bits is refused', async () => {
    expect(outcome(await sampleResponse(small), { keys: [small.publicKey] })).toBe('signature-invalid');
  });

  test('a key of another type is refused', () => {
    const ec = createPublicKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    expect(outcome(genuine, { keys: [ec] })).toBe('signature-invalid');
  });

  test('P-256 is accepted', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const xml = withAlgorithm('http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256', (input) =>
      signBytes('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    );
    expect(outcome(xml, { keys: [publicKey] })).toBe('ada');
  });

  test('SHA-1 is accepted only where it is allowed', () => {
    const xml = withAlgorithm('http://www.w3.org/2000/09/xmldsig#rsa-sha1', (input) =>
      signBytes('sha1', input, idp.privateKey),
    );
    expect(outcome(xml)).toBe('algorithm-refused');
    expect(outcome(xml, { allowsSha1: true })).toBe('ada');
  });

  test.each([
    ['HMAC', genuine.replaceAll(rsa256, 'http://www.w3.org/2000/09/xmldsig#hmac-sha1')],
    ['MD5', genuine.replaceAll(rsa256, 'http://www.w3.org/2001/04/xmldsig-more#rsa-md5')],
    ['an unknown one', genuine.replaceAll(rsa256, 'constructor')],
    ['no transforms', genuine.replace(/<ds:Transforms>.*?<\/ds:Transforms>/, '<ds:Transforms/>')],
    [
      'XSLT',
      genuine.replace(
        transforms,
        `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>${transforms}`,
      ),
    ],
    [
      'XPath',
      genuine.replace(
        'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
        'http://www.w3.org/TR/1999/REC-xpath-19991116',
      ),
    ],
    [
      'inclusive canonicalization',
      genuine.replaceAll(
        'http://www.w3.org/2001/10/xml-exc-c14n#"',
        'http://www.w3.org/TR/2001/REC-xml-c14n-20010315"',
      ),
    ],
    [
      'SHA-1 as digest',
      genuine.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
    ],
  ])('refused: %s', (_, xml) => {
    expect(outcome(xml)).toBe('algorithm-refused');
  });

  test.each([
    ['a Reference to the whole document', genuine.replace('URI="#_assertion1"', 'URI=""')],
    ['a Reference to another element', genuine.replace('URI="#_assertion1"', 'URI="#_response1"')],
    ['a Reference to an address', genuine.replace('URI="#_assertion1"', 'URI="https://evil.example/"')],
    ['a Reference by XPointer', genuine.replace('URI="#_assertion1"', `URI="#xpointer(id('_assertion1'))"`)],
  ])('refused: %s', (_, xml) => {
    expect(outcome(xml)).toBe('signature-invalid');
    // It is refused even if the key signed the reference.
    expect(outcome(withInfoSigned(xml, (input) => signBytes('sha256', input, idp.privateKey)))).toBe(
      'signature-invalid',
    );
  });

  test('a part that the configuration requires to be signed is refused without its own signature', async () => {
    expect(outcome(head + unsigned + tail)).toBe('unsigned');
    expect(outcome(genuine, { wantsResponseSigned: true })).toBe('unsigned');
    expect(outcome(signedWhole, { wantsAssertionSigned: true })).toBe('unsigned');
    const both = await sampleResponse(idp, { signs: 'both' });
    expect(outcome(both, { wantsAssertionSigned: true, wantsResponseSigned: true })).toBe('ada');
  });

  test('a response with an invalid signature is refused, even if its assertion is signed', async () => {
    const both = await sampleResponse(idp, { signs: 'both' });
    expect(outcome(both.replace('Destination=', 'Consent="x" Destination='))).toBe('signature-invalid');
  });
});

/** The sample, signed with other algorithms. */
function withAlgorithm(uri: string, sign: (input: Uint8Array) => Buffer): string {
  return withInfoSigned(genuine.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', uri), sign);
}

function withInfoSigned(changed: string, sign: (input: Uint8Array) => Buffer): string {
  const [info] = descendants(read(changed), 'http://www.w3.org/2000/09/xmldsig#', 'SignedInfo');
  const value = sign(Buffer.from(canonical(info as Element))).toString('base64');
  return changed.replace(/<ds:SignatureValue>.*?</, `<ds:SignatureValue>${value}<`);
}

describe('values', () => {
  const minutes = (count: number) => new Date(sample.at.getTime() + count * 60_000);
  const signedWith = (change: SampleChange) => sampleResponse(idp, change);
  /** Changes a text of the sample before it is signed again. */
  const resigned = (from: string | RegExp, to: string) => resignedBy(idp, genuine, from, to);

  test.each([
    ['Audience', { audience: 'https://other.example' }, 'audience-mismatch'],
    ['Audience that begins like ours', { audience: `${sample.audience}/` }, 'audience-mismatch'],
    ['Recipient', { recipient: 'https://other.example/acs' }, 'destination-mismatch'],
    ['Issuer', { issuer: 'https://other.example' }, 'issuer-mismatch'],
    ['InResponseTo', { requestId: '_request2' }, 'request-mismatch'],
    ['an answer to a request, though there was none', { requestId: null }, 'request-mismatch'],
    ['the end of the assertion', { now: minutes(6) }, 'expired'],
    ['a start in the future', { now: minutes(-2) }, 'not-yet-valid'],
  ] as const)('wrong: %s', (_, change, reason) => {
    expect(outcome(genuine, change)).toBe(reason);
  });

  test('clocks may differ by at most 60 s', () => {
    expect(outcome(genuine, { now: new Date(sample.at.getTime() + 359_000) })).toBe('ada');
    expect(outcome(genuine, { now: new Date(sample.at.getTime() + 360_000) })).toBe('expired');
    expect(outcome(genuine, { now: minutes(-1) })).toBe('ada');
    expect(outcome(genuine, { now: new Date(sample.at.getTime() - 60_001) })).toBe('not-yet-valid');
  });

  test('an unsolicited answer is not accepted as the answer to a request', async () => {
    const xml = await signedWith({ envelope: { inResponseTo: undefined } });
    expect(outcome(xml)).toBe('request-mismatch');
    expect(outcome(xml, { requestId: null })).toBe('ada');
  });

  test('the Issuer of the assertion decides, whatever the response says', async () => {
    const xml = await signedWith({ envelope: { issuer: 'https://other.example' } });
    const disguised = xml.replace(
      '<saml:Issuer>https://other.example</saml:Issuer>',
      `<saml:Issuer>${sample.issuer}</saml:Issuer>`,
    );
    expect(outcome(disguised)).toBe('issuer-mismatch');
  });

  test.each([
    ['no Audience', /<saml:AudienceRestriction>.*?<\/saml:AudienceRestriction>/, '', 'audience-mismatch'],
    [
      'a second AudienceRestriction',
      '</saml:Conditions>',
      '<saml:AudienceRestriction><saml:Audience>x</saml:Audience></saml:AudienceRestriction></saml:Conditions>',
      'audience-mismatch',
    ],
    ['no Recipient', ` Recipient="${sample.recipient}"`, '', 'recipient-mismatch'],
    [
      'another Recipient',
      `Recipient="${sample.recipient}"`,
      'Recipient="https://sp.example/acs/"',
      'recipient-mismatch',
    ],
    ['no end of the confirmation', /NotOnOrAfter="[^"]*" Recipient/, 'Recipient', 'malformed'],
    [
      'an end in a year',
      /NotOnOrAfter="[^"]*" Recipient/,
      'NotOnOrAfter="2027-11-29T12:00:00Z" Recipient',
      'not-yet-valid',
    ],
    [
      'a time without a zone',
      /NotOnOrAfter="[^"]*" Recipient/,
      'NotOnOrAfter="2026-11-29T12:05:00" Recipient',
      'malformed',
    ],
    ['no Conditions', /<saml:Conditions.*?<\/saml:Conditions>/, '', 'malformed'],
    ['no AuthnStatement', /<saml:AuthnStatement.*?<\/saml:AuthnStatement>/, '', 'malformed'],
    [
      'a session that has ended',
      ' SessionIndex=',
      ' SessionNotOnOrAfter="2026-11-29T11:00:00Z" SessionIndex=',
      'expired',
    ],
    ['a sign-in in the future', /AuthnInstant="[^"]*"/, 'AuthnInstant="2026-11-29T13:00:00Z"', 'not-yet-valid'],
    ['another confirmation method', 'cm:bearer', 'cm:holder-of-key', 'subject-unusable'],
    [
      'two confirmations',
      '</saml:Subject>',
      '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/></saml:Subject>',
      'subject-unusable',
    ],
    ['no confirmation', /<saml:SubjectConfirmation .*?<\/saml:SubjectConfirmation>/, '', 'subject-unusable'],
    ['an empty NameID', '>ada<', '><', 'subject-unusable'],
    ['a NameID of spaces', '>ada<', '>  <', 'subject-unusable'],
    ['a NameID with a control character', '>ada<', '>a&#x9;da<', 'subject-unusable'],
    ['a NameID with elements', '>ada<', '><b>ada</b><', 'malformed'],
    ['a long NameID', '>ada<', `>${'a'.repeat(256)}<`, 'subject-unusable'],
    ['a long Format', /NameID Format="[^"]*"/, `NameID Format="urn:${'a'.repeat(252)}"`, 'subject-unusable'],
    ['a Format with a space', /NameID Format="[^"]*"/, 'NameID Format="urn:a b"', 'subject-unusable'],
    [
      'two NameIDs',
      '<saml:SubjectConfirmation ',
      '<saml:NameID>eve</saml:NameID><saml:SubjectConfirmation ',
      'malformed',
    ],
    ['another version', 'ID="_assertion1" Version="2.0"', 'ID="_assertion1" Version="1.1"', 'wrong-message'],
    [
      'two statements',
      '<saml:AttributeStatement>',
      '<saml:AuthnStatement AuthnInstant="2026-11-29T12:00:00Z"/><saml:AttributeStatement>',
      'malformed',
    ],
  ])('signed, but with %s', async (_, from, to, reason) => {
    expect(outcome(await resigned(from, to))).toBe(reason);
  });

  test('white space of XML around a NameID does not count, other spaces do', async () => {
    expect(outcome(await resigned('>ada<', '>\n  ada\t<'))).toBe('ada');
    expect(outcome(await resigned('>ada<', '>ada\u00a0<'))).toBe('ada\u00a0');
    expect(outcome(await resigned('>ada<', '>\u3000ada<'))).toBe('\u3000ada');
  });

  test('a signed response without Destination is refused, an unsigned one needs none', async () => {
    const bare = (xml: string) => xml.replace(/ Destination="[^"]*"/, '');
    for (const signs of ['response', 'both'] as const) {
      const without = await sampleResponse(idp, { signs, withoutDestination: true });
      expect(outcome(without)).toBe('destination-mismatch');
    }
    expect(outcome(bare(genuine))).toBe('ada');
  });

  test('a status that is not Success is refused', () => {
    expect(outcome(genuine.replace('status:Success', 'status:Responder'))).toBe('status-not-success');
  });

  test('our own answer to a refused request is read as a refusal', async () => {
    const { envelope, code } = {
      envelope: {
        id: '_e',
        issuer: sample.issuer,
        at: sample.at,
        destination: sample.recipient,
        inResponseTo: sample.requestId,
      },
      code: 'responder' as const,
    };
    const { xml } = await newErrorResponse(envelope, { code, detail: 'requestDenied' }, idp);
    expect(() => readAnswer(read(xml), expected)).toThrow('status-not-success: RequestDenied');
    expect(outcome(xml.replace('RequestDenied', 'Success'))).toBe('signature-invalid');
  });

  test('another message is refused', () => {
    expect(outcome('<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>')).toBe('wrong-message');
  });
});

describe('encryption', () => {
  const seal =
    (to = sp.publicKey) =>
    (assertion: { xml: string }) =>
      encrypt(assertion, to, randomBytes(32), randomBytes(12));
  const opens = { decrypt: (encrypted: Element) => decrypt(encrypted, { key: sp.privateKey }) };

  test('an encrypted assertion is accepted if it or the response is signed', async () => {
    for (const signs of ['assertion', 'response', 'both'] as const) {
      const xml = await sampleResponse(idp, { signs, seal: seal() });
      expect(xml).not.toContain('>ada<');
      expect(outcome(xml, opens)).toBe('ada');
      expect(outcome(xml)).toBe('decryption-failed');
    }
  });

  test('all failures are the same error', async () => {
    const xml = await sampleResponse(idp, { seal: seal() });
    const values = [...xml.matchAll(/<xenc:CipherValue>(.*?)</g)].map(([, value = '']) => value);
    const [key = '', content = ''] = values;
    const flipped = (value: string, at: number) => {
      const bytes = Buffer.from(value, 'base64');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes.toString('base64');
    };
    const broken = [
      xml.replace(key, flipped(key, 3)),
      xml.replace(key, flipped(key, 200)),
      xml.replace(content, flipped(content, 0)),
      xml.replace(content, flipped(content, 100)),
      xml.replace(content, flipped(content, Buffer.from(content, 'base64').length - 1)),
      xml.replace(content, 'AAAA'),
      xml.replace('xmlenc11#aes256-gcm', 'xmlenc11#aes192-gcm'),
      xml.replace('http://www.w3.org/2009/xmlenc11#aes256-gcm', 'http://www.w3.org/2001/04/xmlenc#aes256-cbc'),
      xml.replace('http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p', 'http://www.w3.org/2001/04/xmlenc#rsa-1_5'),
      await sampleResponse(idp, { seal: seal(attacker.publicKey) }),
      await sampleResponse(idp, {
        seal: () => encrypt({ xml: 'not XML' }, sp.publicKey, randomBytes(32), randomBytes(12)),
      }),
    ];
    const messages = broken.map((one) => {
      try {
        return readAnswer(read(one), { ...expected, ...opens }).subject.value;
      } catch (error) {
        return String(error);
      }
    });
    expect(new Set(messages)).toEqual(new Set(['SamlError: decryption-failed: EncryptedAssertion']));
  });

  test('an encrypted assertion needs a signature, too: anyone can encrypt for us', async () => {
    const plain = (await sampleResponse(attacker, { signs: 'response', seal: seal() })).replace(
      /<ds:Signature xmlns:ds="[^"]*"><ds:SignedInfo.*?<\/ds:Signature>/,
      '',
    );
    expect(outcome(plain, opens)).toBe('unsigned');
  });

  test('nested encryption is refused', async () => {
    const twice = (assertion: { xml: string }) => seal()(seal()(assertion));
    expect(outcome(await sampleResponse(idp, { seal: twice }), opens)).toBe('decryption-failed');
  });
});

test('no mutation of a genuine document is accepted as another one', async () => {
  const both = await sampleResponse(idp, { signs: 'both' });
  const documents = [genuine, signedWhole, both];
  const pieces = [
    evil,
    original,
    signature,
    '<',
    '>',
    '"',
    '&lt;',
    'eve',
    '_evil',
    ' ',
    '/',
    'ID="_assertion1"',
    '<saml:NameID>eve</saml:NameID>',
    'xmlns:saml="urn:x"',
    '<ds:Object>',
    '</ds:Object>',
    '',
  ];
  const truth = JSON.stringify(readAnswer(read(genuine), expected));
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...documents),
      fc.array(fc.tuple(fc.nat(), fc.nat(60), fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 }))), {
        minLength: 1,
        maxLength: 3,
      }),
      (document, edits) => {
        let xml = document;
        for (const [at, length, text] of edits) {
          const from = at % xml.length;
          xml = xml.slice(0, from) + text + xml.slice(from + (at % 3 === 0 ? 0 : length));
        }
        try {
          expect(JSON.stringify(readAnswer(read(xml), expected))).toBe(truth);
        } catch (error) {
          if ((error as { name?: string }).name !== 'SamlError') throw error;
          refused += 1;
        }
      },
    ),
    { numRuns: 3000 },
  );
  // Edits outside of the signed part, or of white space in tags, change nothing.
  expect(refused).toBeGreaterThan(2000);
});
