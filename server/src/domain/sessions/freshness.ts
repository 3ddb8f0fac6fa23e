import type { EntityManager } from '@mikro-orm/postgresql';
import type { Passkeys } from '../credentials/passkeys.ts';
import { type Clock, isAhead, isPast, secondsLater } from '../kernel/clock.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import type { Session } from './session.entity.ts';
import { isByPasskey } from './sessions.ts';

/** Changes that weaken an account are allowed for this long after a mail code or factor. */
export const freshSeconds = 5 * 60;

/**
 * Whether the user authenticated within {@link freshSeconds}, by a passkey or second factor if they have one other than
 * email. An email factor and a mail code prove the same mailbox, so either is enough. A device key does not count, nor
 * does a factor that a user with a passkey added with only a mail code.
 *
 * @param hasPasskey whether a passkey has verified the user, also while the project's passkeys are off
 * @param isRecovered whether an admin's grant stood in place of the passkey or factor in this session
 */
export function isFresh(
  session: Pick<Session, 'amr' | 'freshAt' | 'passkeyId'>,
  factors: readonly Pick<Enrolment, 'method' | 'besidePasskey'>[],
  hasPasskey: boolean,
  now: Date,
  isRecovered = false,
): boolean {
  const { amr, freshAt } = session;
  if (!freshAt || isAhead(freshAt, now) || isPast(secondsLater(freshAt, freshSeconds), now)) return false;
  if (isRecovered) return true;
  // The session does not record which factor was used.
  if (hasPasskey && !isByPasskey(session) && factors.some(({ besidePasskey }) => besidePasskey)) return false;
  return amr.includes('mfa') || (!hasPasskey && factors.every(({ method }) => method === 'email'));
}

/**
 * Ends the freshness of a user's live sessions, because of a change to what proved it: the sessions continue, and the user
 * confirms again. Joins; the user is locked.
 *
 * @param keepSessionId the session that makes the change
 */
export async function endFreshness(em: EntityManager, user: TenantKey, keepSessionId: string | null): Promise<void> {
  await execute(
    em,
    sql`update sessions set fresh_at = null, fresh_moment = null
      where project_id = ${user.project.id} and user_id = ${user.id} and ended_at is null and fresh_at is not null
        and id is distinct from ${keepSessionId}::uuid`,
  );
}

export interface FreshnessDeps {
  clock: Clock;
  passkeys: Pick<Passkeys, 'isHeldBy'>;
  mfa: Pick<Mfa, 'factors' | 'recoveryGrants'>;
}

/** {@link isFresh}, by the factors and passkeys that the user has now. */
export async function isFreshNow(
  { clock, mfa, passkeys }: FreshnessDeps,
  em: EntityManager,
  user: User,
  session: Session,
): Promise<boolean> {
  const factors = await mfa.factors(em, user);
  const hasPasskey = await passkeys.isHeldBy(em, { projectId: user.project.id, userId: user.id });
  const isRecovered = await mfa.recoveryGrants.wasUsedIn(em, user, session.id, freshSeconds);
  return isFresh(session, factors, hasPasskey, clock.now(), isRecovered);
}
