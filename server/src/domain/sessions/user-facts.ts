import { type Fragment, sql } from '../kernel/sql.ts';
import type { UserFacts } from '../policy/session.ts';
import type { MfaMethod } from '../projects/project.resource.ts';

/** The columns of {@link userFacts}. */
export interface UserFactsRow {
  factors: MfaMethod[];
  holds_passkey: boolean;
}

/** SQL: two columns, the credentials of this user that policies ask for. @param isAsked false: no rule needs them */
export function userFacts(projectId: string, userId: Fragment, isAsked = true): Fragment {
  if (!isAsked) return sql`'{}'::text[] as factors, false as holds_passkey`;
  return sql`${factorsOf(projectId, userId)} as factors, ${holdsPasskey(projectId, userId)} as holds_passkey`;
}

/** SQL condition: the user has the credentials that were read. @param isAsked as for {@link userFacts} */
export function areUnchanged(projectId: string, userId: Fragment, facts: UserFacts, isAsked = true): Fragment {
  if (!isAsked) return sql`true`;
  return sql`${factorsOf(projectId, userId)} = ${[...facts.factors]}::text[]
    and ${holdsPasskey(projectId, userId)} = ${facts.holdsPasskey}::boolean`;
}

export function toUserFacts({ factors, holds_passkey: holdsPasskey }: UserFactsRow): UserFacts {
  return { factors, holdsPasskey };
}

/** SQL: the methods of the user's verified factors, without suspended ones (`isSuspended`). */
export function factorsOf(projectId: string, userId: Fragment): Fragment {
  return sql`array(select e.method from enrolments e where e.project_id = ${projectId}::uuid and e.user_id = ${userId}
    and e.verified_at is not null and (e.method <> 'sms' or e.phone is not null) order by e.method)`;
}

/** SQL condition: a passkey has verified the user. */
export function holdsPasskey(projectId: string, userId: Fragment): Fragment {
  return sql`exists (select 1 from credentials k where k.project_id = ${projectId}::uuid and k.user_id = ${userId}
    and k.user_verified and k.revoked_at is null)`;
}
