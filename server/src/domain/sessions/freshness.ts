import type { EntityManager } from '@mikro-orm/postgresql';
import type { Passkeys } from '../credentials/passkeys.ts';
import type { Clock } from '../kernel/clock.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Mfa } from '../mfa/mfa.ts';
import { freshSeconds, isFresh } from '../policy/freshness.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import type { Session } from './session.entity.ts';

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
