import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { InvalidPublicKeyError } from './error.ts';

/** A public key: its PEM (also of a certificate), the path of a PEM file, or the bytes of either in a Buffer. */
export type PublicKeyInput = string | Buffer;

const maxLength = 64 * 1024;

/** Reads a public key and makes sure that it is one. Throws {@link InvalidPublicKeyError}. */
export async function readPublicKey(input: PublicKeyInput): Promise<KeyObject> {
  checkKind(input);
  return parsePublicKey(isPem(input) ? input : await readFileOf(input));
}

/** An environment variable that is not set, and what no types have kept out. */
function checkKind(input: unknown): void {
  if (input === undefined || input === null) {
    throw new InvalidPublicKeyError('KEY_MISSING', 'There is no public key.');
  }
  if (typeof input !== 'string' && !Buffer.isBuffer(input)) {
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key is neither text nor a Buffer.');
  }
}

/** `input` is the key itself, not a path. */
export function isPem(input: PublicKeyInput): boolean {
  return typeof input !== 'string' || input.includes('-----BEGIN');
}

/** PEM as environments often hold it, with `\n` written out. */
export function unescapePem(pem: string): string {
  return pem.includes('\n') ? pem : pem.replaceAll('\\n', '\n');
}

export function parsePublicKey(input: string | Buffer): KeyObject {
  if (input.length > maxLength)
    throw new InvalidPublicKeyError('KEY_MALFORMED', 'The public key is too long to be one.');
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
    throw new InvalidPublicKeyError(
      'KEY_TYPE_UNSUPPORTED',
      `The public key is of a kind that verifies no token: ${kind}.`,
    );
  }
  return key;
}

const rsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const curves: Record<string, string[]> = { prime256v1: ['ES256'], secp384r1: ['ES384'], secp521r1: ['ES512'] };
const edwards = ['EdDSA', 'Ed25519'];

/** Every algorithm that this library verifies (RFC 7518 §3.1, RFC 8037, RFC 9864): none of them with a shared secret. */
export const supportedAlgorithms: readonly string[] = [...rsa, ...Object.values(curves).flat(), ...edwards];

/** The algorithms that a key can serve; its type decides, never a token's header. */
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
    throw new InvalidPublicKeyError(
      'KEY_FILE_UNREADABLE',
      'The public key is neither a PEM nor a file that can be read.',
      {
        cause,
      },
    );
  }
}
