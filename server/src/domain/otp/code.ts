import type { Random } from '../kernel/random.ts';
import { typedCode } from './typed-code.ts';

/** `short`: six digits. `long`: ten characters of Crockford base32, 50 bits. */
export type CodeFormat = 'short' | 'long';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const longLength = 10;

export function newCode(random: Random, format: CodeFormat): string {
  if (format === 'short') return String(random.integer(1_000_000)).padStart(6, '0');
  return Array.from({ length: longLength }, () => alphabet[random.integer(alphabet.length)]).join('');
}

/** Normalizes a typed code: {@link typedCode}, with O as 0, and I and L as 1 (Crockford). */
export function normalizeCode(typed: string): string {
  return typedCode(typed).replace(/O/g, '0').replace(/[IL]/g, '1');
}
