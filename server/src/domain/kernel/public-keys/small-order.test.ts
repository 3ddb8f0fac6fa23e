import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hasSmallOrder } from './small-order.ts';

const p = 2n ** 255n - 19n;
const encoded = (n: bigint) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse().toString('base64url');
const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let [b, e] = [((base % p) + p) % p, exponent]; e > 0n; e >>= 1n, b = (b * b) % p)
    if (e & 1n) result = (result * b) % p;
  return result;
};
/** RFC 7748 §4.1: the same point on the other curve. */
const onMontgomery = (y: bigint) => ((1n + y) * power(1n - y, p - 2n)) % p;
const number = (hex: string) => BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`);
const eighth = [
  number('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'),
  number('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
];

describe('a public key of small order', () => {
  const ours = generateKeyPairSync('x25519').privateKey;
  const agree = (x: string) =>
    diffieHellman({
      privateKey: ours,
      publicKey: createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x } }),
    });

  it('is recognized on Curve25519: OpenSSL derives no secret from it', () => {
    for (const u of [0n, 1n, p - 1n, p, p + 1n, ...eighth.map(onMontgomery)]) {
      expect(() => agree(encoded(u))).toThrow();
      expect([u, hasSmallOrder(encoded(u), 'x25519')]).toEqual([u, true]);
      expect(hasSmallOrder(encoded(u | (1n << 255n)), 'x25519')).toBe(true);
    }
  });

  it('is recognized on edwards25519, with either sign', () => {
    for (const y of [0n, 1n, p - 1n, p, p + 1n, ...eighth]) {
      expect([y, hasSmallOrder(encoded(y), 'ed25519')]).toEqual([y, true]);
      expect(hasSmallOrder(encoded(y | (1n << 255n)), 'ed25519')).toBe(true);
    }
  });

  it.each(['ed25519', 'x25519'] as const)('is never generated: %s', (curve) => {
    for (let n = 0; n < 100; n += 1) {
      const pair = curve === 'x25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ed25519');
      expect(hasSmallOrder(pair.publicKey.export({ format: 'jwk' }).x ?? '', curve)).toBe(false);
    }
  });
});
