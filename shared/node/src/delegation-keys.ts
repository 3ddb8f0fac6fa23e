import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isPem, unescapePem } from './public-key.ts';

/** Ed25519 signs (RFC 8032), X25519 encrypts (RFC 7748). */
export type Curve = 'ed25519' | 'x25519';

/** Says what is wrong with an option; the reason never repeats any of it. */
export class OptionFault extends Error {}

/** A private key from its PEM or the path of one. Throws {@link OptionFault}. */
export function privateKey(input: string, curve: Curve): KeyObject {
  const pem = pemOf(input);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is no private key in PEM');
  return ofCurve(() => createPrivateKey(pem), curve);
}

/** A public key from its PEM or the path of one. Throws {@link OptionFault}. */
export function publicKey(input: string, curve: Curve): KeyObject {
  const pem = pemOf(input);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is a private key: give the public half');
  return ofCurve(() => createPublicKey(pem), curve);
}

/** The RFC 7638 thumbprint of a key's public half (RFC 8037 §2): how envelopes name keys. */
export function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

function ofCurve(read: () => KeyObject, curve: Curve): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw new OptionFault('cannot be read as PEM');
  }
  if (key.asymmetricKeyType !== curve) throw new OptionFault(`is a key of type ${key.asymmetricKeyType}, not ${curve}`);
  return key;
}

function pemOf(input: string): string {
  if (isPem(input)) return unescapePem(input);
  try {
    return readFileSync(input, 'utf8');
  } catch {
    throw new OptionFault('is neither a PEM nor a file that can be read');
  }
}
