import type { Random } from '../kernel/random.ts';

/** `short`: six digits. `long`: ten characters of Crockford base32, 50 bits. */
export type CodeFormat = 'short' | 'long';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const longLength = 10;

export function newCode(random: Random, format: CodeFormat): string {
  if (format === 'short') return String(random.integer(1_000_000)).padStart(6, '0');
  return Array.from({ length: longLength }, () => alphabet[random.integer(alphabet.length)]).join('');
}

/** Normalizes a typed code: strips spaces and dashes, upper-cases, maps O to 0 and I, L to 1 (Crockford). */
export function normalizeCode(typed: string): string {
  return typed.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
}
