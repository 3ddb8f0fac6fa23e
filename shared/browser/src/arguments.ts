import { LatchkeyError } from './error.ts';

export const invalid = (message: string): LatchkeyError => new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);

/** `value`, if it is a string. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string.`);
}

/** `value`, if it is an object whose `signal`, if any, is an AbortSignal. */
export function fields<T extends object>(value: T, name: string): T {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} must be an object.`);
  const { signal } = value as { signal?: Partial<AbortSignal> | null };
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw invalid(`${name}.signal must be an AbortSignal.`);
  return value;
}

/** A pasted one-time code, without whitespace. */
export const pasted = (otp: string): string => text(otp, 'otp').replace(/\s/g, '');
