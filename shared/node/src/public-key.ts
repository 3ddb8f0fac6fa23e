import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { InvalidPublicKeyError } from './error.ts';

/** A public key: PEM (also of a certificate), the path of a PEM file, or the bytes of either. */
export type PublicKeyInput = string | Buffer;

const maxLength = 64 * 1024;

/** Reads and validates a public key. Throws {@link InvalidPublicKeyError}. */
export async function readPublicKey(input: PublicKeyInput): Promise<KeyObject> {
  checkKind(input);
  return parsePublicKey(isPem(input) ? input : await readFileOf(input));
}

/** Catches unset environment variables and wrong types. */
function checkKind(input: unknown): void {
  if (input === undefined || input === null) {
    throw new InvalidPublicKeyError('KEY_MISSING', 'publicKey is missing.');
  }
  if (typeof input !== 'string' && !Buffer.isBuffer(input)) {
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key must be a string or Buffer.');
  }
}

/** Whether `input` is the key itself, not a path. */
export function isPem(input: PublicKeyInput): boolean {
  return typeof input !== 'string' || input.includes('-----BEGIN');
}

/** Replaces a literal `
`, common in environment variables, by line breaks. */
export function unescapePem(pem: string): string {
  return pem.includes('\n') ? pem : pem.replaceAll('\\n', '\n');
}

function parsePublicKey(input: string | Buffer): KeyObject {
  if (input.length > maxLength) throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key is too long.');
  const pem = unescapePem(input.toString());
  const armoured = pem.includes('-----BEGIN');
  if (armoured ? /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem) : isPrivate(Buffer.from(input))) {
    throw new InvalidPublicKeyError('KEY_IS_PRIVATE', 'The public key is a private key.');
  }
  let key: KeyObject;
  try {
    key = createPublicKey(armoured ? pem : { key: Buffer.from(input), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key cannot be read.', { cause });
  }
  if (algorithmsOf(key).length === 0) {
    const detail = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyDetails?.modulusLength ?? '';
    const kind = [key.asymmetricKeyType, detail].filter((part) => part !== '').join(' ');
    throw new InvalidPublicKeyError('KEY_TYPE_UNSUPPORTED', `The key type is not supported: ${kind}.`);
  }
  return key;
}

const rsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const curves: Record<string, string[]> = { prime256v1: ['ES256'], secp384r1: ['ES384'], secp521r1: ['ES512'] };
const edwards = ['EdDSA', 'Ed25519'];

/** All supported algorithms (RFC 7518 §3.1, RFC 8037, RFC 9864), asymmetric only. */
export const supportedAlgorithms: readonly string[] = [...rsa, ...Object.values(curves).flat(), ...edwards];

/** Algorithms of a key: determined by its type, never by a token's header. */
export function algorithmsOf(key: KeyObject): string[] {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') return modulusLength >= 2048 ? rsa : [];
  if (key.asymmetricKeyType === 'ec') return curves[namedCurve] ?? [];
  return key.asymmetricKeyType === 'ed25519' ? edwards : [];
}

function isPrivate(der: Buffer): boolean {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) !== undefined;
  } catch {
    return false;
  }
}

async function readFileOf(path: PublicKeyInput): Promise<Buffer> {
  if (path.length === 0) throw new InvalidPublicKeyError('KEY_MISSING', 'The public key is empty.');
  try {
    return await readFile(path);
  } catch (cause) {
    throw new InvalidPublicKeyError('KEY_FILE_UNREADABLE', 'The public key is neither a PEM nor a readable file.', {
      cause,
    });
  }
}
