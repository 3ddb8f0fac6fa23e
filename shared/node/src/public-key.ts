import type { CryptoKey, JWK } from 'jose';
import { textOf, toBase64url } from './bytes.ts';
import { InvalidPublicKeyError } from './error.ts';
import { readTextFile } from './files.ts';
import { jose } from './jose.ts';
import { derIn, isPem, keyFormatOf, unescapePem } from './key-format.ts';
import { weaknessOf } from './weak-key.ts';

/** A public key: PEM (also of a certificate), the path of a PEM file, or the bytes of a PEM or DER. */
export type PublicKeyInput = string | Uint8Array;

/** A public key. Its type determines the algorithms, never the header of a token. */
export interface VerificationKey {
  algorithms: readonly string[];
  /** Web Crypto binds each key to one algorithm. `alg` must be one of `algorithms`. */
  importFor(alg: string): Promise<CryptoKey>;
}

const maxLength = 64 * 1024;
const rsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
/** RFC 7518 §3.1, RFC 8037, RFC 9864. */
const algorithms: Record<string, readonly string[]> = {
  rsa,
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  ed25519: ['EdDSA', 'Ed25519'],
};

/** All supported algorithms, asymmetric only. */
export const supportedAlgorithms: readonly string[] = Object.values(algorithms).flat();

/** Reads and validates a public key. Throws {@link InvalidPublicKeyError}. */
export async function readPublicKey(input: PublicKeyInput): Promise<VerificationKey> {
  checkKind(input);
  const content = typeof input === 'string' && !isPem(input) ? readFile(input) : input;
  if (content.length > maxLength) throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key is too long.');
  const pem = unescapePem(typeof content === 'string' ? content : textOf(content));
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) isPrivate();
  if (isPem(pem) && pem.includes('-----BEGIN CERTIFICATE-----')) return ofCertificate(pem);
  return ofSpki(isPem(pem) ? spkiIn(pem) : typeof content === 'string' ? null : Uint8Array.from(content));
}

/** A key of a JSON Web Key Set, or null if its type is unknown or it is malformed. */
export async function ofJwk(jwk: JWK): Promise<VerificationKey | null> {
  const type = jwk.kty === 'RSA' ? 'rsa' : jwk.crv === 'Ed25519' ? 'ed25519' : (jwk.crv ?? '');
  const { importJWK } = await jose();
  return usable(type, async (alg) => {
    // `alg` of the set is checked by its reader; `ext`, `use` and `key_ops` do not matter to a check of signatures.
    const { crv, e, kty, n, x, y } = jwk;
    return (await importJWK({ crv, e, kty, n, x, y } as JWK, alg)) as CryptoKey;
  }).catch(() => null);
}

/** Catches unset environment variables and wrong types. */
function checkKind(input: unknown): void {
  if (input === undefined || input === null) {
    throw new InvalidPublicKeyError('KEY_MISSING', 'publicKey is missing.');
  }
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) {
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key must be a string or bytes.');
  }
  if (input.length === 0) throw new InvalidPublicKeyError('KEY_MISSING', 'The public key is empty.');
}

function readFile(path: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw new InvalidPublicKeyError('KEY_FILE_UNREADABLE', 'The public key is neither a PEM nor a readable file.', {
      cause,
    });
  }
}

/** `PUBLIC KEY`, or `RSA PUBLIC KEY` (RFC 8017 A.1.1) wrapped as a `PUBLIC KEY`. */
function spkiIn(pem: string): Uint8Array<ArrayBuffer> | null {
  const bare = derIn(pem, 'RSA PUBLIC KEY');
  if (!bare) return derIn(pem, 'PUBLIC KEY');
  const algorithm = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
  const bits = [0x03, ...lengthOf(bare.length + 1), 0x00, ...bare];
  return Uint8Array.from([0x30, ...lengthOf(algorithm.length + bits.length), ...algorithm, ...bits]);
}

function lengthOf(length: number): number[] {
  return length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
}

async function ofSpki(der: Uint8Array<ArrayBuffer> | null): Promise<VerificationKey> {
  const format = der && keyFormatOf(der);
  if (!der || !format) throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key cannot be read.');
  if (format.isPrivate) isPrivate();
  if (!algorithms[format.type]) unsupported(format.type);
  const { importSPKI } = await jose();
  const base64 = toBase64url(der).replaceAll('-', '+').replaceAll('_', '/');
  const pem = `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----`;
  return readable(() => usable(format.type, (alg) => importSPKI(pem, alg)));
}

/** jose does not reveal the type of a certificate's key: try each. */
async function ofCertificate(pem: string): Promise<VerificationKey> {
  const { importX509 } = await jose();
  const certificate = `${pem.split('-----END CERTIFICATE-----')[0]}-----END CERTIFICATE-----`;
  for (const type of Object.keys(algorithms)) {
    const key = await usable(type, (alg) => importX509(certificate, alg)).catch((error: unknown) => {
      if (error instanceof InvalidPublicKeyError) throw error;
    });
    if (key) return key;
  }
  throw new InvalidPublicKeyError('KEY_MALFORMED', 'The certificate cannot be read, or its key is not supported.');
}

async function readable(read: () => Promise<VerificationKey>): Promise<VerificationKey> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof InvalidPublicKeyError) throw cause;
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key cannot be read.', { cause });
  }
}

/** Imports the key once, so that a malformed one is found now. */
async function usable(type: string, importAs: (alg: string) => Promise<CryptoKey>): Promise<VerificationKey> {
  const [first = '', ...further] = algorithms[type] ?? [];
  const key = await importAs(first);
  const { exportJWK } = await jose();
  const weakness = weaknessOf(await exportJWK(key));
  if (weakness) unsupported(weakness);
  const imported = new Map([[first, Promise.resolve(key)]]);
  const importFor = (alg: string) => {
    const known = imported.get(alg) ?? importAs(alg);
    imported.set(alg, known);
    return known;
  };
  return { algorithms: [first, ...further], importFor };
}

function isPrivate(): never {
  throw new InvalidPublicKeyError('KEY_IS_PRIVATE', 'The public key is a private key.');
}

function unsupported(type: string): never {
  throw new InvalidPublicKeyError('KEY_TYPE_UNSUPPORTED', `The key type is not supported: ${type}.`);
}
