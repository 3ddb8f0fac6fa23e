import { checkNumber } from '../kernel/resource.ts';

/** Lifetimes of a project's sessions and tokens, in whole seconds (service.md 2.6). */
export interface SessionPolicy {
  /** Sliding. */
  idleTimeoutSeconds: number;
  /** Absolute. */
  maxSessionSeconds: number;
  idTokenTtlSeconds: number;
  accessTokenTtlSeconds: number;
  /** Absolute lifetime of an application's refresh tokens after a sign-in. */
  refreshTokenTtlSeconds: number;
  /** Maximum time between two refreshes. */
  refreshTokenIdleSeconds: number;
}

const day = 24 * 3600;

/** Smallest and largest allowed values. A signing key is published for a day after its longest token. */
export const sessionPolicyBounds: Record<keyof SessionPolicy, readonly [number, number]> = {
  idleTimeoutSeconds: [1, 90 * day],
  maxSessionSeconds: [1, 365 * day],
  idTokenTtlSeconds: [1, day],
  accessTokenTtlSeconds: [1, 3600],
  refreshTokenTtlSeconds: [60, 365 * day],
  refreshTokenIdleSeconds: [60, 90 * day],
};

/** Refuses `invalid` if a value is out of bounds. */
export function checkSessionPolicy(policy: Partial<SessionPolicy>): void {
  for (const [field, bounds] of Object.entries(sessionPolicyBounds)) {
    const value = policy[field as keyof SessionPolicy];
    if (value !== undefined) checkSeconds(field, value, bounds);
  }
}

/** Refuses `invalid` unless `value` is a whole number within `bounds`. */
export function checkSeconds(field: string, value: number, bounds: readonly [number, number]): void {
  checkNumber(field, value, bounds, 'seconds');
}
