import type { Random } from '../../kernel/random.ts';
import { typedCode } from '../../otp/typed-code.ts';

/** Consonants without Y (RFC 8628 section 6.1): no words, and no letters that look like digits. 20^8 codes: 34.5 bits. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;

/** A user code without its dash. */
export function newUserCode(random: Random): string {
  return Array.from({ length }, () => alphabet[random.integer(alphabet.length)]).join('');
}

/** As people see it: `WDJB-MJHT`. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;
}

/** The code that was typed, in any case, with or without dashes and spaces; null if it cannot be one. */
export function typedUserCode(typed: string): string | null {
  const code = typedCode(typed).replace(/[^A-Z0-9]/g, '');
  return code.length === length && [...code].every((letter) => alphabet.includes(letter)) ? code : null;
}
