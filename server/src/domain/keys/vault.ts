import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { Random } from '../kernel/random.ts';

/** The sealed bytes were made under another master key, moved to another row, or altered. */
export class VaultError extends Error {
  readonly reason: 'other-master-key' | 'altered';

  constructor(reason: 'other-master-key' | 'altered') {
    super(
      reason === 'other-master-key'
        ? 'This database was sealed under another master key. Set MASTER_KEY to the one it was made with.'
        : 'Sealed data was altered, or belongs to another record.',
    );
    this.name = 'VaultError';
    this.reason = reason;
  }
}

const version = 1;
const headerLength = 1 + 4 + 12;
const tagLength = 16;

/**
 * Seals what must be read again (signing keys, TOTP secrets, message texts) with AES-256-GCM. Each purpose has a key
 * of its own, derived from the master key (HKDF-SHA256); the record's identity is associated data, so that a sealed
 * value is worthless in another row. Layout: version, 4 bytes that name the master key, 12 of nonce, text, 16 of tag.
 */
export class Vault {
  private readonly masterKey: Uint8Array;
  private readonly random: Random;
  private readonly derived = new Map<string, Buffer>();
  private readonly name: Buffer;

  /** @param masterKey 32 bytes */
  constructor(masterKey: Uint8Array, random: Random) {
    this.masterKey = masterKey;
    this.random = random;
    this.name = this.keyFor('name').subarray(0, 4);
  }

  seal(purpose: string, id: string, plain: Uint8Array | string): Buffer {
    const nonce = this.random.bytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keyFor(`seal:${purpose}`), nonce);
    cipher.setAAD(Buffer.from(`${purpose}:${id}`));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.from([version]), this.name, nonce, text, cipher.getAuthTag()]);
  }

  /** Throws {@link VaultError}. */
  open(purpose: string, id: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed);
    if (bytes.length < headerLength + tagLength || bytes[0] !== version) throw new VaultError('altered');
    if (!bytes.subarray(1, 5).equals(this.name)) throw new VaultError('other-master-key');
    const decipher = createDecipheriv('aes-256-gcm', this.keyFor(`seal:${purpose}`), bytes.subarray(5, headerLength));
    decipher.setAAD(Buffer.from(`${purpose}:${id}`));
    decipher.setAuthTag(bytes.subarray(-tagLength));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(headerLength, -tagLength)), decipher.final()]);
    } catch {
      throw new VaultError('altered');
    }
  }

  /** A keyed hash (HMAC-SHA256, base64url) for what is short enough to be guessed, such as six digits. */
  mac(purpose: string, id: string, text: string): string {
    return createHmac('sha256', this.keyFor(`mac:${purpose}`))
      .update(`${id}\0${text}`)
      .digest('base64url');
  }

  private keyFor(purpose: string): Buffer {
    let key = this.derived.get(purpose);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', this.masterKey, Buffer.alloc(0), `latchkey:${purpose}`, 32));
      this.derived.set(purpose, key);
    }
    return key;
  }
}
