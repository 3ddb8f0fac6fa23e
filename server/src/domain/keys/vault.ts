import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { OperatorError } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { sameSecret } from '../kernel/secret.ts';

/** The sealed bytes were created under another master key, moved to another row, or altered. */
export class VaultError extends OperatorError {
  constructor(readonly reason: 'other-master-key' | 'altered') {
    super(
      reason === 'other-master-key'
        ? 'This database was sealed under another master key. Set MASTER_KEY to the one it was created with.'
        : 'Sealed data was altered, or belongs to another record.',
    );
    this.name = 'VaultError';
  }
}

const version = 1;
const headerLength = 1 + 4 + 12;
const tagLength = 16;

/**
 * Encrypts signing keys, TOTP secrets and message texts with AES-256-GCM. Each purpose has its own key, derived from
 * the master key (HKDF-SHA256); the record's id is associated data, so that a sealed value cannot be opened in another
 * row. Layout: version, name of the master key (4 bytes), nonce (12), ciphertext, tag (16).
 *
 * During a change of the master key there are two: the first seals, both open.
 */
export class Vault {
  private readonly first: Keyring;
  private readonly keyrings: readonly Keyring[];

  /**
   * @param masterKey 32 bytes
   * @param second 32 bytes: opens, never seals
   */
  constructor(
    masterKey: Uint8Array,
    private readonly random: Random,
    second?: Uint8Array,
  ) {
    this.first = new Keyring(masterKey);
    this.keyrings = second === undefined ? [this.first] : [this.first, new Keyring(second)];
  }

  /** Fingerprint of the sealing master key: 8 hexadecimal digits, which reveal nothing about it. */
  get name(): string {
    return this.first.name.toString('hex');
  }

  seal(purpose: string, id: string, plain: Uint8Array | string): Buffer {
    const nonce = this.random.bytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.first.key(`seal:${purpose}`), nonce);
    cipher.setAAD(Buffer.from(`${purpose}:${id}`));
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.from([version]), this.first.name, nonce, text, cipher.getAuthTag()]);
  }

  /** Throws {@link VaultError}. */
  open(purpose: string, id: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed);
    if (bytes.length < headerLength + tagLength || bytes[0] !== version) throw new VaultError('altered');
    const ring = this.keyrings.find(({ name }) => bytes.subarray(1, 5).equals(name));
    if (!ring) throw new VaultError('other-master-key');
    const nonce = bytes.subarray(5, headerLength);
    const decipher = createDecipheriv('aes-256-gcm', ring.key(`seal:${purpose}`), nonce, { authTagLength: tagLength });
    decipher.setAAD(Buffer.from(`${purpose}:${id}`));
    decipher.setAuthTag(bytes.subarray(-tagLength));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(headerLength, -tagLength)), decipher.final()]);
    } catch {
      throw new VaultError('altered');
    }
  }

  /** Whether this was sealed under the current master key. */
  isCurrent(sealed: Uint8Array): boolean {
    return Buffer.from(sealed).subarray(1, 5).equals(this.first.name);
  }

  /** The name of the master key that this was sealed under, if it is not one of ours; else null. */
  missingFor(sealed: Uint8Array): string | null {
    const name = Buffer.from(sealed).subarray(1, 5);
    return this.keyrings.some((ring) => ring.name.equals(name)) ? null : name.toString('hex');
  }

  /** A keyed hash (HMAC-SHA256, base64url) for guessable values, such as six digits. */
  mac(purpose: string, id: string, text: string): string {
    return keyedHash(this.first.key(`mac:${purpose}`), id, text);
  }

  /** The keyed hashes under each master key. */
  macs(purpose: string, id: string, text: string): string[] {
    return this.keyrings.map((ring) => keyedHash(ring.key(`mac:${purpose}`), id, text));
  }

  /** Whether `mac` is the keyed hash of `text`, in constant time. */
  matches(purpose: string, id: string, text: string, mac: string): boolean {
    return this.macs(purpose, id, text).filter((one) => sameSecret(one, mac)).length > 0;
  }

  /** The keys of the keyed hashes of one purpose under each master key, the sealing one first. */
  macKeys(purpose: string): { masterKey: string; key: Buffer }[] {
    return this.keyrings.map((ring) => ({ masterKey: ring.name.toString('hex'), key: ring.key(`mac:${purpose}`) }));
  }
}

/** A keyed hash with a {@link RetiredMacKey}. */
export function keyedHash(key: Uint8Array, id: string, text: string): string {
  return createHmac('sha256', key).update(`${id}\0${text}`).digest('base64url');
}

/** The keys derived from one master key. */
class Keyring {
  readonly name: Buffer;
  private readonly derived = new Map<string, Buffer>();

  constructor(private readonly masterKey: Uint8Array) {
    this.name = this.key('name').subarray(0, 4);
  }

  key(purpose: string): Buffer {
    let key = this.derived.get(purpose);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', this.masterKey, Buffer.alloc(0), `latchkey:${purpose}`, 32));
      this.derived.set(purpose, key);
    }
    return key;
  }
}
