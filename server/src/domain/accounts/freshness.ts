import { isPast, secondsLater } from '../kernel/clock.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import type { Session } from '../sessions/session.entity.ts';

/** Changes that weaken an account are allowed for this long after a mail code or factor. */
export const freshSeconds = 5 * 60;

/**
 * Whether the user authenticated within {@link freshSeconds}, by a passkey or second factor if they have one other than
 * e-mail. An e-mail factor and a mail code prove the same mailbox, so either is enough. A device key does not count.
 *
 * @param hasPasskey whether a passkey has verified the user, also while the project's passkeys are off
 * @param isRecovered whether an admin's grant stood in place of the passkey or factor in this session
 */
export function isFresh(
  { amr, freshAt }: Pick<Session, 'amr' | 'freshAt'>,
  factors: readonly Pick<Enrolment, 'method'>[],
  hasPasskey: boolean,
  now: Date,
  isRecovered = false,
): boolean {
  if (!freshAt || isPast(secondsLater(freshAt, freshSeconds), now)) return false;
  return amr.includes('mfa') || isRecovered || (!hasPasskey && factors.every(({ method }) => method === 'email'));
}
