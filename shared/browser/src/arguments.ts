import { LatchkeyError } from './error.ts';

export const invalid = (message: string): LatchkeyError => new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);

/** `value`, if it is a string. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string.`);
}

/** The members of `value`, an object whose `signal`, if any, is an AbortSignal. A null member counts as absent. */
export function fields<T extends object>(value: T, name: string): T {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} must be an object.`);
  const given = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as T;
  const { signal } = given as { signal?: Partial<AbortSignal> };
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw invalid(`${name}.signal must be an AbortSignal.`);
  return given;
}

/** A pasted one-time code, without whitespace. */
export const pasted = (otp: string): string => text(otp, 'otp').replace(/\s/g, '');
