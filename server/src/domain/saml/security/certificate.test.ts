import { randomBytes, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rsaKey } from '../../../../test/saml.ts';
import { pemOf, readCertificate, selfSigned } from './certificate.ts';

const key = rsaKey();
const at = { from: new Date('2026-01-01T00:00:00Z'), until: new Date('2036-01-01T00:00:00Z') };
const made = (change: Partial<Parameters<typeof selfSigned>[1]> = {}, { pkcs8 } = key) =>
  selfSigned(pkcs8, { name: 'test', serial: randomBytes(16), ...at, ...change });
const hex = (text: string) => Buffer.from(text).toString('hex');

test('our certificate is of version 3, and of the key that signed it', () => {
  const bytes = made();
  const certificate = new X509Certificate(bytes);
  expect(certificate.verify(key.publicKey)).toBe(true);
  expect(certificate.subject).toBe('CN=test');
  expect(certificate.issuer).toBe('CN=test');
  expect(bytes.toString('hex')).toContain('a003020102');
});

test('the serial number is positive', () => {
  const { serialNumber } = new X509Certificate(made({ serial: Buffer.alloc(16, 0xff) }));
  expect(serialNumber).toBe(`01${'FF'.repeat(15)}`);
});

describe('DER has the shortest form of each length', () => {
  test.each([
    [127, `${'ä'.repeat(63)}a`, '0c7f'],
    [128, 'ä'.repeat(64), '0c8180'],
    [129, `${'ä'.repeat(63)}金`, '0c8181'],
    [192, '金'.repeat(64), '0c81c0'],
  ])('a name of %i bytes', (_, name, head) => {
    const bytes = made({ name });
    expect(bytes.toString('hex').split(head + hex(name))).toHaveLength(3);
    expect(new X509Certificate(bytes).verify(key.publicKey)).toBe(true);
  });

  test.each([
    [254, 2024, '0381fe00'],
    [255, 2032, '0381ff00'],
    [256, 2040, '0382010000'],
    [257, 2048, '0382010100'],
  ])('a signature of %i bytes', (_, bits, head) => {
    const other = rsaKey(bits);
    const bytes = made({}, other);
    expect(bytes.subarray(-bits / 8 - head.length / 2).toString('hex', 0, head.length / 2)).toBe(head);
    expect(new X509Certificate(bytes).verify(other.publicKey)).toBe(true);
  });
});

test('a name is cut after 64 characters', () => {
  expect(new X509Certificate(made({ name: 'a'.repeat(65) })).subject).toBe(`CN=${'a'.repeat(64)}`);
});

test('times are UTCTime until 2049, GeneralizedTime from 2050', () => {
  const [last, first] = [new Date('2049-12-31T23:59:58.999Z'), new Date('2050-01-01T00:00:00Z')];
  const bytes = made({ from: last, until: first });
  expect(bytes.toString('hex')).toContain(`170d${hex('491231235958Z')}180f${hex('20500101000000Z')}`);
  expect(readCertificate(pemOf(bytes)).expiresAt).toEqual(first);
  expect(new Date(new X509Certificate(bytes).validFrom)).toEqual(new Date('2049-12-31T23:59:58Z'));
});

test('a certificate is read as PEM with text around it, and as base64 with line breaks', () => {
  const bytes = made();
  const { fingerprint256 } = new X509Certificate(bytes);
  const pem = pemOf(bytes);
  expect(pem.split('\n').every((line) => line.length <= 64)).toBe(true);
  const lines = pem.split('\n').slice(1, -2);
  for (const source of [pem, `subject=test\n${pem}more`, lines.join('\r\n'), ` ${lines.join('\n  ')}\n`]) {
    expect(readCertificate(source).fingerprint).toBe(fingerprint256);
  }
  expect(readCertificate(pem.padEnd(20_000)).fingerprint).toBe(fingerprint256);
  expect(() => readCertificate(pem.padEnd(20_001))).toThrow('too-large: certificate');
});
