import type { CryptoKey } from 'jose';
import { toBase64url } from '../bytes.ts';
import { readTextFile } from '../files.ts';
import { jose } from '../jose.ts';
import { derIn, isPem, keyFormatOf, unescapePem } from '../key-format.ts';
import { weaknessOf } from '../weak-key.ts';

/** Ed25519 signs (RFC 8032), X25519 encrypts (RFC 7748). */
export type Curve = 'ed25519' | 'x25519';

/** A key and the RFC 7638 thumbprint of its public part (RFC 8037 §2), the `kid` in envelopes. */
interface DelegationKey {
  key: CryptoKey;
  kid: string;
}

/** A validated key; imported at its first use, because Web Crypto does that asynchronously. */
export type LazyKey = () => Promise<DelegationKey>;

/** An invalid option; the message never contains its value. */
export class OptionFault extends Error {}

const names = { ed25519: 'Ed25519', x25519: 'X25519' } as const;
const algorithms = { ed25519: 'EdDSA', x25519: 'ECDH-ES' } as const;

/** Reads a private key from a PEM or its path. Throws {@link OptionFault}. */
export function privateKey(input: string, curve: Curve): LazyKey {
  const pem = pemOf(input);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is not a private key in PEM');
  check(derIn(pem, 'PRIVATE KEY|RSA PRIVATE KEY|EC PRIVATE KEY'), curve);
  return once(async () => {
    const { importPKCS8 } = await jose();
    // Extractable only to compute the public part.
    const whole = await importPKCS8(pem, algorithms[curve], { extractable: true });
    return { key: await importPKCS8(pem, algorithms[curve]), kid: await thumbprint(whole) };
  });
}

/** Reads a public key from a PEM or its path. Throws {@link OptionFault}. */
export function publicKey(input: string, curve: Curve): LazyKey {
  const pem = pemOf(input);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new OptionFault('is a private key: pass the public key');
  const der = derIn(pem, 'PUBLIC KEY');
  check(der, curve);
  // RFC 8410 §4: the key is the end of the DER.
  const x = toBase64url((der as Uint8Array).slice(-32));
  const weakness = weaknessOf({ kty: 'OKP', crv: names[curve], x });
  if (weakness) throw new OptionFault(`is not accepted: ${weakness}`);
  return once(async () => {
    const { importSPKI } = await jose();
    const key = await importSPKI(pem, algorithms[curve], { extractable: true });
    return { key, kid: await thumbprint(key) };
  });
}

async function thumbprint(key: CryptoKey): Promise<string> {
  const { calculateJwkThumbprint, exportJWK } = await jose();
  const { crv, kty, x } = await exportJWK(key);
  return calculateJwkThumbprint({ crv, kty, x } as Parameters<typeof calculateJwkThumbprint>[0]);
}

function check(der: Uint8Array | null, curve: Curve): void {
  const format = der && keyFormatOf(der);
  if (!format) throw new OptionFault('is not valid PEM');
  if (format.type !== curve) throw new OptionFault(`is a key of type ${format.type}, not ${curve}`);
}

function once(read: () => Promise<DelegationKey>): LazyKey {
  let reading: Promise<DelegationKey> | undefined;
  return () => (reading ??= read());
}

/** The PEM, or that of a file. Throws {@link OptionFault}. */
export function pemOf(input: string): string {
  if (isPem(input)) return unescapePem(input);
  try {
    return readTextFile(input);
  } catch {
    throw new OptionFault('is neither a PEM nor a readable file');
  }
}
