import { isAllowed } from '../consents/consents.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { byPasskey, meetsPolicy, sessionEnd, statesPasskey } from '../sessions/sessions.ts';

/**
 * SQL: latest end of grant `g` of client `k` and project `p`, used or not. Of the lifetimes of project and client, the
 * shorter one counts: PostgreSQL's `least` ignores null.
 */
const absoluteEnd = sql`g.created_at + make_interval(secs => least(p.refresh_token_ttl_seconds, k.refresh_token_ttl_seconds))`;

/** SQL: when grant `g` ends if it is not used. */
const idleEnd = sql`g.last_used_at + make_interval(secs => least(p.refresh_token_idle_seconds, k.refresh_token_idle_seconds))`;

/** SQL: end of grant `g` if it is not used; without `offline_access`, not after its session. */
export const usableUntil: Fragment = sql`least(${absoluteEnd}, ${idleEnd}, case when not g.offline then (select ${sessionEnd} from sessions s
  where s.project_id = g.project_id and s.id = g.session_id) end)`;

/** SQL condition: the sign-in of user `u` meets the current policies of project `p` and client `k`. */
export function meets(isByPasskey: Fragment): Fragment {
  return sql`(${meetsPolicy(isByPasskey)} and (not k.passkey_required or ${isByPasskey}))`;
}

/**
 * SQL conditions for the use of grant `g` of user `u`, client `k` and project `p`, by the current lifetimes and policies. A session
 * that was idle for too long ends no grant, as it ends no access token.
 */
export function conditionsOf(now: Date) {
  const session = (
    isMet: Fragment,
  ) => sql`exists (select 1 from sessions s where s.project_id = g.project_id and s.id = g.session_id
    and ${isMet})`;
  return {
    isAllowed: isAllowed({
      ...{ isThirdParty: sql`k.third_party`, projectId: sql`g.project_id`, clientId: sql`g.client_id` },
      ...{ userId: sql`g.user_id`, scope: sql`g.scope` },
    }),
    isTimely: sql`least(${absoluteEnd}, ${idleEnd}) > ${now}::timestamptz`,
    hasSession: sql`case when g.offline then true
      else ${session(sql`s.ended_at is null and ${sessionEnd} > ${now}::timestamptz`)} end`,
    meetsPolicy: sql`case when g.offline then ${meets(statesPasskey(sql`g.amr`))} else ${session(meets(byPasskey(sql`s`)))} end`,
  };
}

/** SQL condition: grant `g` of user `u`, client `k` and project `p` may be used; joins them. */
export function isLive(now: Date): Fragment {
  const { isAllowed: allowed, isTimely, hasSession, meetsPolicy: isSufficient } = conditionsOf(now);
  return sql`g.revoked_at is null
    and u.project_id = g.project_id and u.id = g.user_id and u.active
    and k.project_id = g.project_id and k.id = g.client_id and k.disabled_at is null and 'refresh_token' = any(k.grant_types)
    and p.id = g.project_id
    and ${allowed} and ${isTimely} and ${hasSession} and ${isSufficient}`;
}
