import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import { publicKeyFault } from '../kernel/public-keys/public-key.ts';

/** COSE algorithms of passkeys, preferred first: EdDSA (Ed25519), ES256, RS256. */
export const passkeyAlgorithms = [-8, -7, -257] as const;
export type PasskeyAlgorithm = (typeof passkeyAlgorithms)[number];

/** Authenticator data (WebAuthn §6.1), without its extensions. */
export interface AuthenticatorData {
  /** SHA-256 in base64url. */
  rpIdHash: string;
  userPresent: boolean;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
  signCount: number;
  /** Only in registrations. `credentialId` and `publicKey` (COSE) are base64url, `aaguid` is a UUID. */
  attested?: { aaguid: string; credentialId: string; publicKey: string };
}

const flag = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40, ED: 0x80 };

/** Parses authenticator data. Throws RangeError if it is truncated, has trailing bytes or is not well-formed CBOR. */
export function parseAuthenticatorData(bytes: Buffer): AuthenticatorData {
  const flags = bytes.readUInt8(32);
  const has = (bit: number) => (flags & bit) !== 0;
  const data: AuthenticatorData = {
    rpIdHash: bytes.toString('base64url', 0, 32),
    userPresent: has(flag.UP),
    userVerified: has(flag.UV),
    backupEligible: has(flag.BE),
    backedUp: has(flag.BS),
    signCount: bytes.readUInt32BE(33),
  };
  let end = 37;
  if (has(flag.AT)) {
    const idStart = end + 18;
    const idEnd = idStart + bytes.readUInt16BE(idStart - 2);
    const aaguid = bytes.toString('hex', end, end + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    end = cborEnd(bytes, idEnd);
    data.attested = {
      aaguid,
      credentialId: bytes.toString('base64url', idStart, idEnd),
      publicKey: bytes.toString('base64url', idEnd, end),
    };
  }
  if (has(flag.ED)) end = cborEnd(bytes, end);
  if (end !== bytes.length) throw new RangeError('trailing bytes');
  return data;
}

/** Maximum nesting of CBOR. Attestation objects nest four deep. */
const deepest = 8;

/**
 * The offset after the CBOR item at `at` (RFC 8949). Throws RangeError if the item is truncated, nested too deep, tagged
 * or of indefinite length, which CTAP2 does not allow. The library accepts truncated strings and ignores trailing bytes.
 */
export function cborEnd(bytes: Buffer, at: number, depth = 0): number {
  const initial = bytes.readUInt8(at);
  const [major, info] = [initial >> 5, initial & 0x1f];
  if (depth > deepest || info > 27) throw new RangeError('unsupported CBOR');
  const width = info < 24 ? 0 : 2 ** (info - 24);
  const next = at + 1 + width;
  if (next > bytes.length) throw new RangeError('truncated CBOR');
  if (major < 2) return next;
  if (major === 7 && info >= 20 && info !== 24) return next;
  if (major > 5) throw new RangeError('unsupported CBOR');
  const argument = width === 0 ? info : bytes.readUIntBE(at + 1, width);
  let end = next;
  if (major < 4) end += argument;
  else for (let left = major === 5 ? 2 * argument : argument; left > 0; left -= 1) end = cborEnd(bytes, end, depth + 1);
  if (end > bytes.length) throw new RangeError('truncated CBOR');
  return end;
}

/** Members of a COSE key (RFC 9052 §7, RFC 9053 §7, RFC 8230 §4). */
const cose = { kty: 1, alg: 3, crv: -1, x: -2, y: -3, n: -1, e: -2 };

/**
 * A COSE public key with its algorithm, or null if the key is not one of {@link passkeyAlgorithms}, has other members
 * than required (WebAuthn §6.5.1), is weak or not on its curve.
 */
export function passkeyKeyOf(publicKey: string): { alg: PasskeyAlgorithm; key: KeyObject } | null {
  try {
    const bytes = Buffer.from(publicKey, 'base64url');
    if (cborEnd(bytes, 0) !== bytes.length) return null;
    const members = decodeCredentialPublicKey(new Uint8Array(bytes)) as unknown as Map<number, unknown>;
    const alg = passkeyAlgorithms.find((offered) => offered === members.get(cose.alg));
    const jwk = alg && jwkOf[alg](members);
    if (!jwk || publicKeyFault(jwk)) return null;
    return { alg, key: createPublicKey({ key: jwk, format: 'jwk' }) };
  } catch {
    return null;
  }
}

const bytesOf = (value: unknown, min: number, max = min): string | undefined =>
  value instanceof Uint8Array && value.length >= min && value.length <= max
    ? Buffer.from(value).toString('base64url')
    : undefined;

const jwkOf: Record<PasskeyAlgorithm, (key: Map<number, unknown>) => JsonWebKey | null> = {
  [-8](key) {
    const x = bytesOf(key.get(cose.x), 32);
    if (key.size !== 4 || key.get(cose.kty) !== 1 || key.get(cose.crv) !== 6 || !x) return null;
    return { kty: 'OKP', crv: 'Ed25519', x };
  },
  [-7](key) {
    const [x, y] = [bytesOf(key.get(cose.x), 32), bytesOf(key.get(cose.y), 32)];
    if (key.size !== 5 || key.get(cose.kty) !== 2 || key.get(cose.crv) !== 1 || !x || !y) return null;
    return { kty: 'EC', crv: 'P-256', x, y };
  },
  /** 2048 to 4096 bits, and the exponent that all authenticators use: 65537. */
  [-257](key) {
    const [n, e] = [bytesOf(key.get(cose.n), 256, 512), bytesOf(key.get(cose.e), 3)];
    if (key.size !== 4 || key.get(cose.kty) !== 3 || !n || e !== 'AQAB') return null;
    return { kty: 'RSA', n, e };
  },
};

/** Whether the key signed the bytes; synchronous, as for device proofs (decisions/0085). */
export function isSignedBy(
  { alg, key }: { alg: PasskeyAlgorithm; key: KeyObject },
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  // ES256 signs in DER (WebAuthn §6.5.5); OpenSSL would also accept BER.
  if (alg === -7 && !isEcdsaSignature(signature)) return false;
  return verify(alg === -8 ? null : 'sha256', bytes, key, signature);
}

/** True for two integers in DER (RFC 3279 §2.2.3), as ES256 signs. */
export function isEcdsaSignature(bytes: Uint8Array): boolean {
  const [sequence, length, first, rLength = 0] = bytes;
  const [second, sLength] = bytes.subarray(4 + rLength);
  const tagged = sequence === 0x30 && first === 0x02 && second === 0x02;
  return tagged && length === bytes.length - 2 && sLength === bytes.length - 6 - rLength;
}
