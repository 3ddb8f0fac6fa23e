import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyObjectFault, publicKeyFault } from './public-key.ts';

const jwkOf = (key: { publicKey: { export(of: { format: 'jwk' }): JsonWebKey } }) =>
  key.publicKey.export({ format: 'jwk' });
const rsa = jwkOf(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const p256 = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const ed25519 = jwkOf(generateKeyPairSync('ed25519'));
const x25519 = jwkOf(generateKeyPairSync('x25519'));

const bytes = (...octets: number[]) => Buffer.from(octets).toString('base64url');
const modulus = (bits: number, last = 0xff) => {
  const n = Buffer.alloc(bits / 8, 0xff);
  n[n.length - 1] = last;
  return n.toString('base64url');
};
const prime = 2n ** 255n - 19n;
const littleEndian = (n: bigint) =>
  Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse().toString('base64url');

describe('a public key', () => {
  it.each<[string, JsonWebKey]>([
    ['RSA of 2048 bits', rsa],
    ['RSA of 4096 bits', { kty: 'RSA', n: modulus(4096), e: 'AQAB' }],
    [
      'RSA with a leading zero octet',
      { ...rsa, n: Buffer.concat([Buffer.of(0), Buffer.from(rsa.n ?? '', 'base64url')]).toString('base64url') },
    ],
    ['RSA with the largest exponent', { ...rsa, e: bytes(0xff, 0xff, 0xff, 0xff) }],
    ['P-256', p256],
    ['P-384', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }))],
    ['P-521', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-521' }))],
    ['Ed25519', ed25519],
    ['Ed25519 with the sign bit', { ...ed25519, x: littleEndian(3n | (1n << 255n)) }],
    ['X25519', x25519],
  ])('is accepted: %s', (_name, key) => {
    expect(publicKeyFault(key)).toBeNull();
  });

  it.each<[string, string, object]>([
    ['n', 'RSA of 1024 bits', { ...rsa, n: modulus(1024) }],
    [
      'n',
      'RSA of 2047 bits',
      { ...rsa, n: Buffer.concat([Buffer.of(0x7f), Buffer.alloc(255, 0xff)]).toString('base64url') },
    ],
    [
      'n',
      'RSA of 2040 bits, filled with zeros',
      { ...rsa, n: Buffer.concat([Buffer.alloc(1), Buffer.alloc(255, 0xff)]).toString('base64url') },
    ],
    ['n', 'RSA of 8192 bits', { ...rsa, n: modulus(8192) }],
    ['n', 'an even modulus', { ...rsa, n: modulus(2048, 0xfe) }],
    ['n', 'no modulus', { kty: 'RSA', e: 'AQAB' }],
    ['n', 'a modulus that is no text', { ...rsa, n: 7 }],
    ['e', 'the exponent 1', { ...rsa, e: bytes(1) }],
    ['e', 'the exponent 2', { ...rsa, e: bytes(2) }],
    ['e', 'the exponent 3', { ...rsa, e: bytes(3) }],
    ['e', 'the exponent 65535', { ...rsa, e: bytes(0xff, 0xff) }],
    ['e', 'the exponent 65536', { ...rsa, e: bytes(1, 0, 0) }],
    ['e', 'an even exponent', { ...rsa, e: bytes(1, 0, 2) }],
    ['e', 'an exponent of 33 bits', { ...rsa, e: bytes(1, 0, 0, 0, 1) }],
    ['e', 'an exponent as long as the modulus', { ...rsa, e: modulus(2048) }],
    ['e', 'no exponent', { kty: 'RSA', n: rsa.n }],
    ['e', 'an exponent with padding', { ...rsa, e: 'AQAB=' }],
    ['y', 'a point off the curve', { ...p256, y: p256.x }],
    ['y', 'the point of another curve', { ...p256, y: bytes(...Array.from({ length: 32 }, () => 0)) }],
    ['x', 'a short coordinate', { ...p256, x: bytes(1) }],
    ['y', 'no second coordinate', { kty: 'EC', crv: 'P-256', x: p256.x }],
    ['x', 'a coordinate in another encoding', { ...p256, x: `${p256.x?.slice(0, -1)}B` }],
    ['crv', 'secp256k1', { ...p256, crv: 'secp256k1' }],
    ['crv', 'a curve named as a property', { ...p256, crv: 'constructor' }],
    ['x', 'an Ed25519 point of small order', { ...ed25519, x: littleEndian(1n) }],
    ['x', 'an X25519 point of small order', { ...x25519, x: littleEndian(0n) }],
    ['x', 'Ed25519 beyond the prime', { ...ed25519, x: littleEndian(prime + 3n) }],
    ['x', 'Ed25519 beyond the prime with the sign bit', { ...ed25519, x: littleEndian((prime + 3n) | (1n << 255n)) }],
    ['x', 'X25519 beyond the prime', { ...x25519, x: littleEndian(prime + 9n) }],
    ['x', 'X25519 with the unused bit', { ...x25519, x: littleEndian(9n | (1n << 255n)) }],
    ['x', 'Ed25519 of 31 bytes', { ...ed25519, x: 'A'.repeat(42) }],
    ['crv', 'Ed448', { ...ed25519, crv: 'Ed448' }],
    ['kty', 'a secret', { kty: 'oct', k: 'AAAA' }],
    ['kty', 'nothing', {}],
  ])('is refused for its %s: %s', (member, _name, key) => {
    const fault = publicKeyFault(key);
    expect(fault).toMatchObject({ member });
    for (const value of Object.values(key)) {
      if (String(value).length > 6) expect(fault?.reason).not.toContain(String(value));
    }
  });

  it('of another type is refused after OpenSSL has read it', () => {
    expect(keyObjectFault(generateKeyPairSync('ed448').publicKey)).not.toBeNull();
    expect(
      keyObjectFault(generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).publicKey),
    ).not.toBeNull();
    expect(keyObjectFault(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)).toBeNull();
  });
});
