import { isDeepStrictEqual } from 'node:util';

/** The fields that a write changed, with their values before and after, for the audit log. */
export interface Change {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/**
 * Sets the `values` that are not undefined and returns the differences; null if there are none. Callers write out the
 * keys, so that input cannot name a property.
 */
export function change<T extends object>(target: T, values: Partial<T>): Change | null {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const current = target[name as keyof T];
    if (value === undefined || isDeepStrictEqual(current ?? null, value)) continue;
    before[name] = current ?? null;
    after[name] = value;
    target[name as keyof T] = value as T[keyof T];
  }
  return Object.keys(after).length > 0 ? { before, after } : null;
}
