import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rsaKey } from '../../../../test/saml.ts';
import { read } from '../xml/reader.ts';
import { raw } from '../xml/write.ts';
import { decrypt, encrypt } from './encryption.ts';

const sp = rsaKey();
const secret = randomBytes(32);
const sealed = (content = '<a/>') => encrypt(raw(content), sp.publicKey, secret, randomBytes(12)).xml;
const opened = (xml: string, allowsCbc = false) => decrypt(read(xml), { key: sp.privateKey, allowsCbc }).name;
const refused = 'decryption-failed: EncryptedAssertion';
const keyOf = (xml: string) => /<xenc:EncryptedKey>.*<\/xenc:EncryptedKey>/.exec(xml)?.[0] ?? '';
/** With another content, as base64. */
const holding = (xml: string, content: Uint8Array) =>
  xml.replace(
    /(<\/ds:KeyInfo>.*<xenc:CipherValue>)[^<]*/,
    (_, before: string) => before + Buffer.from(content).toString('base64'),
  );

describe('key transport', () => {
  const digest = '<ds:DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"/>';

  test('SHA-1 may be named or not', () => {
    const xml = sealed();
    expect(xml).toContain(digest);
    expect(opened(xml)).toBe('a');
    expect(opened(xml.replace(digest, ''))).toBe('a');
  });

  test.each([
    ['SHA-256', digest.replace('2000/09/xmldsig#sha1', '2001/04/xmlenc#sha256')],
    ['no algorithm', '<ds:DigestMethod/>'],
  ])('another digest is refused: %s', (_, other) => {
    expect(() => opened(sealed().replace(digest, other))).toThrow(refused);
  });

  test('exactly one EncryptedKey, beside which there is no other', () => {
    const xml = sealed();
    const key = keyOf(xml);
    expect(() => opened(xml.replace(key, ''))).toThrow(refused);
    expect(() => opened(xml.replace(key, key + key))).toThrow(refused);
    // SAML also lets it stand beside the EncryptedData.
    const end = '</saml:EncryptedAssertion>';
    const beside = key.replace(
      '>',
      ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#">',
    );
    expect(opened(xml.replace(key, '').replace(end, beside + end))).toBe('a');
    expect(() => opened(xml.replace(end, beside + end))).toThrow(refused);
  });
});

test.each(['', ' Algorithm=""', ' Algorithm="constructor"', ' Algorithm="__proto__"'])(
  'refused as algorithm of the content:%s',
  (algorithm) => {
    const from = ' Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"';
    expect(() => opened(sealed().replace(from, algorithm))).toThrow(refused);
  },
);

test('a content without its whole tag is refused', () => {
  const xml = sealed();
  for (const length of [0, 4, 12, 16, 27, 28]) {
    expect(() => opened(holding(xml, Buffer.alloc(length)))).toThrow(refused);
  }
  const cipher = createCipheriv('aes-256-gcm', secret, Buffer.alloc(12));
  const content = Buffer.concat([cipher.update('<b/>'), cipher.final()]);
  const tag = cipher.getAuthTag();
  expect(opened(holding(xml, Buffer.concat([Buffer.alloc(12), content, tag])))).toBe('b');
  expect(() => opened(holding(xml, Buffer.concat([Buffer.alloc(12), content, tag.subarray(0, 12)])))).toThrow(refused);
});

describe('AES-CBC', () => {
  const gcm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
  const cbc = 'http://www.w3.org/2001/04/xmlenc#aes256-cbc';
  /** @param padded a multiple of 16 bytes */
  const sealedCbc = (padded: string) => {
    const cipher = createCipheriv('aes-256-cbc', secret, Buffer.alloc(16)).setAutoPadding(false);
    const content = Buffer.concat([Buffer.alloc(16), cipher.update(padded, 'latin1'), cipher.final()]);
    return holding(sealed().replace(gcm, cbc), content);
  };

  test('is opened only where it is allowed', () => {
    const xml = sealedCbc(`<a/>${'x'.repeat(11)}\x0c`);
    expect(opened(xml, true)).toBe('a');
    expect(() => opened(xml)).toThrow(refused);
  });

  test.each([
    ['1 byte', `<a>${'x'.repeat(8)}</a>\x01`, 'a'],
    ['16 bytes', `<a>${'x'.repeat(9)}</a>${'x'.repeat(15)}\x10`, 'a'],
  ])('a padding of %s is accepted', (_, padded, name) => {
    expect(opened(sealedCbc(padded), true)).toBe(name);
  });

  test.each([
    ['0 bytes', `<a>${'x'.repeat(7)}</a> \0`],
    ['17 bytes', `<a>${'x'.repeat(8)}</a>${'x'.repeat(16)}\x11`],
  ])('a padding of %s is refused', (_, padded) => {
    expect(padded.length % 16).toBe(0);
    expect(() => opened(sealedCbc(padded), true)).toThrow(refused);
  });
});

test('the key of the content has the length of its algorithm', () => {
  const gcm256 = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
  const gcm128 = 'http://www.w3.org/2009/xmlenc11#aes128-gcm';
  expect(() => opened(sealed().replace(gcm256, gcm128))).toThrow(refused);
});
