import { createPrivateKey, createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { SamlError } from '../saml-error.ts';
import { keyFault } from './algorithms.ts';

/** A certificate of the other side. Only its key matters: SAML has no certificate chains. */
export interface TrustedCertificate {
  key: KeyObject;
  /** PEM. */
  pem: string;
  fingerprint: string;
  expiresAt: Date;
}

/** Reads a certificate: PEM, or the base64 of metadata. */
export function readCertificate(source: string): TrustedCertificate {
  const { certificate, key } = parsed(source);
  const fault = keyFault(key);
  if (fault !== null) throw new SamlError('algorithm-refused', fault);
  return {
    key,
    pem: certificate.toString(),
    fingerprint: certificate.fingerprint256,
    expiresAt: new Date(certificate.validTo),
  };
}

function parsed(source: string): { certificate: X509Certificate; key: KeyObject } {
  if (source.length > 20_000) throw new SamlError('too-large', 'certificate');
  const [, body = source] = source.split('-----BEGIN CERTIFICATE-----', 2);
  const [base64 = ''] = body.split('-----END CERTIFICATE-----', 1);
  try {
    const certificate = new X509Certificate(Buffer.from(base64.replace(/\s+/g, ''), 'base64'));
    return { certificate, key: certificate.publicKey };
  } catch {
    throw new SamlError('malformed', 'certificate');
  }
}

/**
 * A self-signed certificate (RFC 5280) for an RSA key. Service providers compare the key, not the names.
 *
 * @param pkcs8 the private key, PEM
 * @param serial 16 bytes
 */
export function selfSigned(
  pkcs8: string,
  { name, serial, from, until }: { name: string; serial: Uint8Array; from: Date; until: Date },
): Buffer {
  const key = createPrivateKey(pkcs8);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const algorithm = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name.slice(0, 64))));
  const names = sequence(der(0x31, commonName));
  const positive = Buffer.concat([Buffer.from([1]), serial.subarray(1)]);
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, positive),
    ...[algorithm, names, sequence(time(from), time(until)), names, spki],
  );
  const signature = sign('sha256', content, key);
  return sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
}

/** RFC 5280 section 4.1.2.5: UTCTime until 2049, then GeneralizedTime. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return at.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : der(0x18, Buffer.from(`${digits}Z`));
}

function sequence(...parts: Uint8Array[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Uint8Array = Buffer.alloc(0)): Buffer {
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

export function pemOf(certificate: Uint8Array): string {
  const lines =
    Buffer.from(certificate)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** When the last of these certificates expires. */
export function lastExpiry(certificates: readonly string[]): Date {
  return new Date(Math.max(...certificates.map((pem) => readCertificate(pem).expiresAt.getTime())));
}
