import { isAhead, isPast, seconds, secondsLater } from '../kernel/clock.ts';
import type { MfaMethod } from '../projects/project.resource.ts';
import { isByPasskey, type SessionProof } from './session.ts';

/** Changes that weaken an account are allowed for this long after a mail code or factor. */
export const freshSeconds = 5 * 60;

const never = new Date(0);

/** Time of the last proof by the person; 1970 without one, or if a clock that was ahead recorded it: its age is unknown. */
function provedAt(freshAt: Date | null | undefined, now: Date): Date {
  return !freshAt || isAhead(freshAt, now) ? never : freshAt;
}

/** When a proof by the person stops being fresh; 1970 without one. */
export function freshUntil(freshAt: Date | null | undefined, lifetimeSeconds: number, now: Date): Date {
  const at = provedAt(freshAt, now);
  return at === never ? never : secondsLater(at, lifetimeSeconds);
}

/** Whether the person proved the session within `max_age`, in whole seconds (OpenID Connect Core section 3.1.2.1). */
export function isWithinMaxAge(freshAt: Date | null | undefined, maxAgeSeconds: number, now: Date): boolean {
  return seconds(now) - seconds(provedAt(freshAt, now)) <= maxAgeSeconds;
}

/**
 * Whether the person proved the session in a sign-in for a request of this moment, or for a newer one: all proofs of such
 * a sign-in came after its request.
 */
export function isProvedSince({ freshMoment }: { freshMoment?: number | null }, moment: number): boolean {
  return (freshMoment ?? 0) >= moment;
}

/**
 * Whether the user authenticated within {@link freshSeconds}, by a passkey or second factor if they have one other than
 * email. An email factor and a mail code prove the same mailbox, so either is enough. A device key does not count, nor
 * does a factor that a user with a passkey added with only a mail code.
 *
 * @param hasPasskey whether a passkey has verified the user, also while the project's passkeys are off
 * @param isRecovered whether an admin's grant replaced the passkey or factor in this session
 */
export function isFresh(
  session: SessionProof & { freshAt?: Date | null },
  factors: readonly { method: MfaMethod; besidePasskey: boolean }[],
  hasPasskey: boolean,
  now: Date,
  isRecovered = false,
): boolean {
  if (isPast(freshUntil(session.freshAt, freshSeconds, now), now)) return false;
  if (isRecovered) return true;
  // The session does not record which factor was used.
  if (hasPasskey && !isByPasskey(session) && factors.some(({ besidePasskey }) => besidePasskey)) return false;
  return session.amr.includes('mfa') || (!hasPasskey && factors.every(({ method }) => method === 'email'));
}
