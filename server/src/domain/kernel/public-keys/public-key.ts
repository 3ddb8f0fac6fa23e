import { createPublicKey, type JsonWebKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { isBase64url } from '../base64url.ts';
import { hasSmallOrder } from './small-order.ts';

/** Bits of an RSA modulus: fewer are weak (NIST SP 800-131A), and more make each verification slow. */
const rsaBits = [2048, 4096] as const;
/** An RSA exponent. Below it, a signature can be forged without the private key; above, each verification is slow. */
const rsaExponent = [65_537n, 0xffff_ffffn] as const;
/** Octets of a coordinate (RFC 7518 section 6.2.1). */
const coordinates: Record<string, number> = { 'P-256': 32, 'P-384': 48, 'P-521': 66 };
/** The prime of Curve25519 and edwards25519. */
const prime = 2n ** 255n - 19n;

/** Why a public key is refused. Neither text contains the key. */
export interface KeyFault {
  /** The member of the JWK (RFC 7518 section 6, RFC 8037 section 2). */
  member: string;
  /** The rule that it breaks, as in `e must be …`. */
  reason: string;
}

/**
 * Checks a public key, wherever one is taken or used: RSA of 2048 to 4096 bits whose exponent is odd and has 17 to 32
 * bits, a point on P-256, P-384 or P-521, or a canonical Ed25519 or X25519 key that has no small order. Null: none of it fails.
 */
export function publicKeyFault(key: object): KeyFault | null {
  const jwk = key as JsonWebKey;
  const { kty, crv } = jwk;
  if (kty === 'RSA') return rsaFault(jwk);
  if (kty === 'EC') return pointFault(jwk);
  if (kty !== 'OKP') return { member: 'kty', reason: 'kty must be RSA, EC or OKP' };
  if (crv === 'Ed25519' || crv === 'X25519') return curve25519Fault(jwk, crv === 'Ed25519' ? 'ed25519' : 'x25519');
  return { member: 'crv', reason: 'crv must be Ed25519 or X25519' };
}

/** The same for a key that OpenSSL has read. */
export function keyObjectFault(key: KeyObject): KeyFault | null {
  try {
    return publicKeyFault(key.export({ format: 'jwk' }));
  } catch {
    return { member: 'kty', reason: 'kty must be RSA, EC or OKP' };
  }
}

/** The same for the key of a certificate, which may be unreadable. */
export function certificateKeyFault(certificate: X509Certificate): KeyFault | null {
  try {
    return keyObjectFault(certificate.publicKey);
  } catch {
    return { member: 'kty', reason: 'kty must be RSA, EC or OKP' };
  }
}

function rsaFault({ n, e }: JsonWebKey): KeyFault | null {
  const [least, most] = rsaBits;
  const modulus = numberIn(n, most / 8 + 1);
  const bits = modulus === null ? 0 : modulus.toString(2).length;
  if (modulus === null || modulus % 2n === 0n || bits < least || bits > most) {
    return { member: 'n', reason: `n must be an odd number of ${least} to ${most} bits` };
  }
  const exponent = numberIn(e, 5);
  const [smallest, largest] = rsaExponent;
  if (exponent !== null && exponent % 2n === 1n && exponent >= smallest && exponent <= largest) return null;
  return { member: 'e', reason: `e must be odd, at least ${smallest}, and below 2^32` };
}

function pointFault(key: JsonWebKey): KeyFault | null {
  const size = typeof key.crv === 'string' && Object.hasOwn(coordinates, key.crv) ? coordinates[key.crv] : undefined;
  if (size === undefined) return { member: 'crv', reason: `crv must be ${Object.keys(coordinates).join(', ')}` };
  for (const member of ['x', 'y'] as const) {
    if (bytesIn(key[member], size)?.length !== size)
      return { member, reason: `${member} must be ${size} bytes in base64url` };
  }
  const { kty, crv, x, y } = key;
  try {
    // OpenSSL refuses a point that is not on the curve.
    createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' });
    return null;
  } catch {
    return { member: 'y', reason: `x and y must be a point on ${crv}` };
  }
}

function curve25519Fault({ x }: JsonWebKey, curve: 'ed25519' | 'x25519'): KeyFault | null {
  const bytes = bytesIn(x, 32);
  if (bytes?.length !== 32) return { member: 'x', reason: 'x must be 32 bytes in base64url' };
  if (hasSmallOrder(x as string, curve)) return { member: 'x', reason: 'x must not be a point of small order' };
  const encoded = Uint8Array.from(bytes).reverse();
  // The sign of an Ed25519 point (RFC 8032 section 5.1.2).
  if (curve === 'ed25519') encoded[0] = (encoded[0] as number) & 0x7f;
  if (numberOf(encoded) < prime) return null;
  return { member: 'x', reason: 'x must be below 2^255 - 19, its canonical encoding' };
}

/** An unsigned big-endian number, of which some libraries write a leading zero octet. */
function numberIn(text: unknown, longest: number): bigint | null {
  const bytes = bytesIn(text, longest);
  return bytes && numberOf(bytes);
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function bytesIn(text: unknown, longest: number): Buffer | null {
  const isText = typeof text === 'string' && text !== '' && text.length <= Math.ceil((longest * 4) / 3);
  return isText && isBase64url(text) ? Buffer.from(text, 'base64url') : null;
}
