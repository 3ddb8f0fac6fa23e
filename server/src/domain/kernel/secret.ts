import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256 in base64url, for storing 256-bit random secrets, which need no slow hash. Guessable values (one-time codes)
 * use a keyed hash, see `Vault.mac`.
 */
export function digest(secret: string | Uint8Array): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Compares in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const left = Buffer.from(digest(a));
  const right = Buffer.from(digest(b));
  return timingSafeEqual(left, right);
}

/**
 * True for a UUID of any version in the form in which ids are stored and shown. Check ids from input before a lookup:
 * PostgreSQL also finds a row by its id in upper case, which then is not equal to the id of the row, and throws on other text.
 */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value);
}

/** True for text that PostgreSQL can store: no NUL, no lone surrogate. */
export function isStorableText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Wraps a secret, so that logging, printing or inspecting it does not reveal it. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden;
  }
}

const hidden = '[secret]';
