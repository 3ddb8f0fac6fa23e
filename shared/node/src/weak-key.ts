import type { JWK } from 'jose';
import { fromBase64url, isBase64url } from './bytes.ts';

/** Bits of an RSA modulus; more than these make each verification slow. */
const rsaBits = [2048, 8192] as const;
/** Below it, a signature can be forged without the private key; above, each verification is slow. */
const rsaExponent = [65_537n, 0xffff_ffffn] as const;
/** The prime of Curve25519 and edwards25519. */
const prime = 2n ** 255n - 19n;
/** Canonical points of small order: y on edwards25519 (RFC 8032), u on Curve25519 (RFC 7748 §7). */
const smallOrder: Record<string, readonly bigint[]> = {
  Ed25519: [
    0n,
    1n,
    prime - 1n,
    0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
    0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n,
  ],
  X25519: [
    0n,
    1n,
    prime - 1n,
    0x00b8495f16056286fdb1329ceb8d09da6ac49ff1fae35616aeb8413b7c7aebe0n,
    0x57119fd0dd4e22d8868e1c58c45c44045bef839c55b1d0b1248c50a3bc959c5fn,
  ],
};

/**
 * Why a public key is insecure, without naming its value; undefined: it is secure. Points of EC are checked by Web
 * Crypto.
 */
export function weaknessOf({ kty, crv = '', n, e, x }: JWK): string | undefined {
  if (kty === 'RSA') return rsaWeakness(numberIn(n), numberIn(e));
  const weak = smallOrder[crv];
  if (!weak) return undefined;
  const point = numberIn(x, true);
  // Without the sign bit of an Ed25519 point (RFC 8032 §5.1.2).
  const value = point !== null && crv === 'Ed25519' ? BigInt.asUintN(255, point) : point;
  if (value === null || value >= prime) return `${crv} in an encoding that is not canonical`;
  return weak.includes(value) ? `${crv} of small order` : undefined;
}

function rsaWeakness(n: bigint | null, e: bigint | null): string | undefined {
  const bits = n === null ? 0 : n.toString(2).length;
  if (bits < rsaBits[0] || bits > rsaBits[1]) return `rsa ${bits}`;
  const isSound = e !== null && e % 2n === 1n && e >= rsaExponent[0] && e <= rsaExponent[1];
  return isSound ? undefined : `rsa with the exponent ${e}`;
}

function numberIn(text: string | undefined, isLittleEndian = false): bigint | null {
  if (!text || !isBase64url(text)) return null;
  const bytes = fromBase64url(text);
  if (isLittleEndian) bytes.reverse();
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`);
}
