import {
  constants,
  createCipheriv,
  createDecipheriv,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { ns } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { attribute, child, descendants, type Element, required, text } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { type Markup, markup } from '../xml/write.ts';
import { base64 } from './verify.ts';

interface ContentAlgorithm {
  cipher: 'aes-128-gcm' | 'aes-256-gcm' | 'aes-128-cbc' | 'aes-256-cbc';
  /** Of the key. */
  bytes: number;
}

const contents: Readonly<Record<string, ContentAlgorithm>> = {
  'http://www.w3.org/2009/xmlenc11#aes128-gcm': { cipher: 'aes-128-gcm', bytes: 16 },
  'http://www.w3.org/2009/xmlenc11#aes256-gcm': { cipher: 'aes-256-gcm', bytes: 32 },
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc': { cipher: 'aes-128-cbc', bytes: 16 },
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc': { cipher: 'aes-256-cbc', bytes: 32 },
};
const aes256Gcm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
const oaep = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';
const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';

/**
 * Opens an `EncryptedAssertion`: RSA-OAEP with SHA-1 as mask (XML Encryption 1.1 section 5.5.2), AES-GCM. All failures are the same
 * error: different ones would be a decryption oracle.
 *
 * @param allowsCbc AES-CBC has no integrity: a padding oracle could read the plaintext. Some products support nothing else
 */
export function decrypt(
  encrypted: Element,
  { key, allowsCbc = false }: { key: KeyObject; allowsCbc?: boolean },
): Element {
  try {
    return read(plainOf(encrypted, key, allowsCbc));
  } catch {
    throw new SamlError('decryption-failed', encrypted.name);
  }
}

function plainOf(encrypted: Element, key: KeyObject, allowsCbc: boolean): Buffer {
  const data = required(encrypted, ns.encryption, 'EncryptedData');
  const [wrapped, another] = descendants(encrypted, ns.encryption, 'EncryptedKey');
  const content = contents[algorithmOf(data)];
  if (!wrapped || another || !content || algorithmOf(wrapped) !== oaep || !isSha1(wrapped)) throw new Error();
  const secret = privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }, valueOf(wrapped));
  if (secret.length !== content.bytes) throw new Error();
  const { cipher } = content;
  if (cipher === 'aes-128-cbc' || cipher === 'aes-256-cbc') {
    if (!allowsCbc) throw new Error();
    return cbcPlain(cipher, secret, valueOf(data));
  }
  const value = valueOf(data);
  if (value.length < 28) throw new Error();
  const decipher = createDecipheriv(cipher, secret, value.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(value.subarray(-16));
  return Buffer.concat([decipher.update(value.subarray(12, -16)), decipher.final()]);
}

/** XML Encryption section 5.2: the last byte is the length of the padding, whose other bytes are arbitrary. */
function cbcPlain(cipher: string, secret: Buffer, value: Buffer): Buffer {
  const decipher = createDecipheriv(cipher, secret, value.subarray(0, 16)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(value.subarray(16)), decipher.final()]);
  const padding = padded.at(-1) ?? 0;
  if (padding < 1 || padding > 16) throw new Error();
  return padded.subarray(0, -padding);
}

function algorithmOf(encrypted: Element): string {
  return attribute(required(encrypted, ns.encryption, 'EncryptionMethod'), 'Algorithm') ?? '';
}

function isSha1(wrapped: Element): boolean {
  const digest = child(required(wrapped, ns.encryption, 'EncryptionMethod'), ns.signature, 'DigestMethod');
  return digest === undefined || attribute(digest, 'Algorithm') === sha1;
}

function valueOf(encrypted: Element): Buffer {
  return base64(text(required(required(encrypted, ns.encryption, 'CipherData'), ns.encryption, 'CipherValue')));
}

/** Seals an assertion for a service provider: AES-256-GCM, and RSA-OAEP for its key. @param secret 32 bytes; @param nonce 12 */
export function encrypt(assertion: Markup, recipient: KeyObject, secret: Uint8Array, nonce: Uint8Array): Markup {
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(assertion.xml), cipher.final(), cipher.getAuthTag()]);
  const key = publicEncrypt({ key: recipient, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }, secret);
  return markup`<saml:EncryptedAssertion xmlns:saml="${ns.assertion}"><xenc:EncryptedData xmlns:xenc="${ns.encryption}" Type="${ns.encryption}Element"><xenc:EncryptionMethod Algorithm="${aes256Gcm}"/><ds:KeyInfo xmlns:ds="${ns.signature}"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${oaep}"><ds:DigestMethod Algorithm="${sha1}"/></xenc:EncryptionMethod><xenc:CipherData><xenc:CipherValue>${key.toString('base64')}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${sealed.toString('base64')}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:EncryptedAssertion>`;
}
