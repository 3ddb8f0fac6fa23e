import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isPem, unescapePem } from './public-key.ts';

/** Ed25519 signs (RFC 8032), X25519 encrypts (RFC 7748). */
export type Curve = 'ed25519' | 'x25519';

/** An invalid option; the message never contains its value. */
export class OptionFault extends Error {}

/** Reads a private key from a PEM or its path. Throws {@link OptionFault}. */
export function privateKey(input: string, curve: Curve): KeyObject {
  const pem = pemOf(input);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is not a private key in PEM');
  return ofCurve(() => createPrivateKey(pem), curve);
}

/** Reads a public key from a PEM or its path. Throws {@link OptionFault}. */
export function publicKey(input: string, curve: Curve): KeyObject {
  const pem = pemOf(input);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is a private key: pass the public key');
  return ofCurve(() => createPublicKey(pem), curve);
}

/** RFC 7638 thumbprint of the public key (RFC 8037 §2), the `kid` in envelopes. */
export function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

function ofCurve(read: () => KeyObject, curve: Curve): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw new OptionFault('is not valid PEM');
  }
  if (key.asymmetricKeyType !== curve) throw new OptionFault(`is a key of type ${key.asymmetricKeyType}, not ${curve}`);
  return key;
}

function pemOf(input: string): string {
  if (isPem(input)) return unescapePem(input);
  try {
    return readFileSync(input, 'utf8');
  } catch {
    throw new OptionFault('is neither a PEM nor a readable file');
  }
}
