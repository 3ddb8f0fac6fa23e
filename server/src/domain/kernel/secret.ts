import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256 in base64url: how secrets of 256 random bits are stored. They need no slow hash, since they cannot be
 * guessed; what people type (one-time codes) is keyed instead, see `Vault.mac`.
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

/** A UUID in any version; ids from outside are looked up only if they are one, since PostgreSQL refuses the rest. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value);
}

/** Text that PostgreSQL can store: no NUL, no lone surrogate. */
export function isStorableText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** A secret on its way from the settings to what needs it: logged, printed or inspected, it shows nothing. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself, for the one call that needs it. */
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
