import { createHmac } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const stepSeconds = 30;

/** An authenticator app (RFC 6238, SHA-1, six digits, 30 seconds). */
export class AuthenticatorApp {
  readonly #secret: Buffer;
  readonly #now: () => number;
  #shown = 0;

  /**
   * @param secret base32, spaces allowed
   * @param now clock in milliseconds since 1970
   */
  constructor(secret: string, now: () => number = Date.now) {
    this.#now = now;
    const bits = [...secret.replace(/\s/g, '')].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'));
    this.#secret = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  }

  /** The current code, or, if it was used, the next one: the service tolerates one step ahead. */
  next(): string {
    this.#shown = Math.max(this.#shown + 1, Math.floor(this.#now() / 1000 / stepSeconds));
    return this.#code(this.#shown);
  }

  /** The last code returned. */
  last(): string {
    return this.#code(this.#shown);
  }

  #code(step: number): string {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(step));
    const hash = createHmac('sha1', this.#secret).update(counter).digest();
    const offset = (hash.at(-1) ?? 0) & 15;
    return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
  }
}

/** A different six-digit code. */
export const otherThan = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
