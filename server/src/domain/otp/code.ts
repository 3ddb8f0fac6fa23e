import type { Random } from '../kernel/random.ts';

/** `short`: six digits. `long`: ten characters of Crockford base32, 50 bits. */
export type CodeFormat = 'short' | 'long';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const longLength = 10;

export function newCode(random: Random, format: CodeFormat): string {
  if (format === 'short') return String(random.integer(1_000_000)).padStart(6, '0');
  return Array.from({ length: longLength }, () => alphabet[random.integer(alphabet.length)]).join('');
}

/** A typed code as it is compared: without spaces and dashes, in upper case, O read as 0, I and L as 1 (Crockford). */
export function normalizeCode(typed: string): string {
  return typed.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
}
