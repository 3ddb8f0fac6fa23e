import type { CryptoKey } from 'jose';
import { fromBase64url, isBase64url, textOf, toBase64url, utf8 } from '../bytes.ts';

const saltLength = 16;
const ivLength = 12;
const tagLength = 16;

/**
 * Encrypts and authenticates text with AES-256-GCM. Each value has its own key, derived from a secret and a random
 * salt (HKDF, RFC 5869), so the number of values under one secret has no limit. `context` is authenticated with it.
 */
export class Sealer {
  private readonly keys: Promise<CryptoKey[]>;
  private readonly context: Uint8Array<ArrayBuffer>;

  /** @param secrets the first one seals; each one opens */
  constructor(secrets: readonly string[], context: string) {
    this.context = utf8(context);
    const imported = secrets.map((secret) =>
      crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveKey']),
    );
    this.keys = Promise.all(imported);
  }

  async seal(text: string): Promise<string> {
    const [key] = await this.keys;
    const salt = crypto.getRandomValues(new Uint8Array(saltLength));
    const iv = crypto.getRandomValues(new Uint8Array(ivLength));
    const box = await crypto.subtle.encrypt(
      this.parameters(iv),
      await this.derived(key as CryptoKey, salt, 'encrypt'),
      utf8(text),
    );
    return toBase64url(Uint8Array.from([...salt, ...iv, ...new Uint8Array(box)]));
  }

  /** The text, and whether an earlier secret sealed it; undefined if no secret opens it. */
  async open(sealed: string): Promise<{ text: string; isOld: boolean } | undefined> {
    const bytes = isBase64url(sealed) ? fromBase64url(sealed) : new Uint8Array();
    if (bytes.length < saltLength + ivLength + tagLength) return undefined;
    const salt = bytes.slice(0, saltLength);
    const iv = bytes.slice(saltLength, saltLength + ivLength);
    for (const [index, key] of (await this.keys).entries()) {
      const opened = await this.derived(key, salt, 'decrypt')
        .then((own) => crypto.subtle.decrypt(this.parameters(iv), own, bytes.slice(saltLength + ivLength)))
        .catch(() => undefined);
      if (opened) return { text: textOf(new Uint8Array(opened)), isOld: index > 0 };
    }
    return undefined;
  }

  private parameters(iv: Uint8Array<ArrayBuffer>) {
    return { name: 'AES-GCM', iv, additionalData: this.context };
  }

  private derived(key: CryptoKey, salt: Uint8Array<ArrayBuffer>, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
    const how = { name: 'HKDF', hash: 'SHA-256', salt, info: utf8('latchkey session cookie') };
    return crypto.subtle.deriveKey(how, key, { name: 'AES-GCM', length: 256 }, false, [use]);
  }
}
