import { LatchkeyError } from './error.ts';

export const invalid = (message: string): LatchkeyError => new LatchkeyError('INVALID_ARGUMENT', 'fatal', message);

/** `value`, if it is a string. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string.`);
}

/** The members that are neither undefined nor null, which count as absent. */
export const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter((entry) => entry[1] != null)) as T;

/** {@link given} of an object whose `signal`, if any, is an AbortSignal. */
export function fields<T extends object>(value: T, name: string): T {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} must be an object.`);
  const members = given(value) as T & { signal?: Partial<AbortSignal> };
  if (members.signal && !members.signal.addEventListener) throw invalid(`${name}.signal must be an AbortSignal.`);
  return members;
}

/** A pasted one-time code, without whitespace. */
export const pasted = (otp: string): string => text(otp, 'otp').replace(/\s/g, '');
