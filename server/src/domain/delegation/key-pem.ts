import { createPublicKey, type KeyObject } from 'node:crypto';
import { refuse } from '../kernel/problem.ts';
import { keyObjectFault } from '../kernel/public-keys/public-key.ts';
import { digest } from '../kernel/secret.ts';

/** Ed25519 signs (RFC 8032), X25519 encrypts (RFC 7748). */
export type Curve = 'ed25519' | 'x25519';

const names: Record<Curve, string> = { ed25519: 'Ed25519', x25519: 'X25519' };
const maxLength = 4096;

/**
 * Parses a public key in PEM (RFC 7468 §13). Refuses `invalid`; a private key is refused rather than reduced to its
 * public key, so that the admin notices. The reason never repeats the input.
 */
export function parsePublicPem(pem: string, curve: Curve, field: string): KeyObject {
  const fault = (reason: string) => refuse({ code: 'invalid', field, reason });
  if (pem.length > maxLength) fault(`is longer than ${maxLength} characters`);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    fault('contains a private key: send the public key only, and replace this key, since it has leaked');
  }
  if (!/^\s*-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\s*$/.test(pem)) {
    fault('must be one public key in PEM ("-----BEGIN PUBLIC KEY-----…")');
  }
  let key: KeyObject | undefined;
  try {
    key = createPublicKey(pem);
  } catch {
    fault('cannot be read as a public key');
  }
  if (key?.asymmetricKeyType !== curve) fault(`must be an ${names[curve]} key`);
  const checked = key as KeyObject;
  const broken = keyObjectFault(checked);
  if (broken) fault(`is not accepted: ${broken.reason}`);
  return checked;
}

/** SPKI in PEM. */
export function publicPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** RFC 7638 thumbprint of an RFC 8037 public key. */
export function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = key.export({ format: 'jwk' });
  return digest(JSON.stringify({ crv, kty, x }));
}
