import { digest } from '../kernel/secret.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import type { RefreshToken } from './refresh-token.ts';

/** A grant to be written, with its first token. */
export interface NewGrant {
  id: string;
  token: RefreshToken;
  /** Thumbprint of the DPoP key that it is bound to; null: none. */
  dpopJkt: string | null;
}

/** SQL: inserts the grant for the redeemed code in `from`, at most one. */
export function newGrant({ id, token, dpopJkt }: NewGrant, now: Date, from: Fragment): Fragment {
  return sql`insert into refresh_grants (project_id, id, family_hash, client_id, user_id, session_id, offline, issuer, dpop_jkt, resources, scope, auth_time,
      amr, acr, current_hash, created_at, last_used_at)
    select project_id, ${id}::uuid, ${digest(token.family)}, client_id, user_id, session_id,
      'offline_access' = any(string_to_array(scope, ' ')), issuer, ${dpopJkt}::text, resources, scope, auth_time, amr, acr, ${digest(token.text)},
      ${now}::timestamptz, ${now}::timestamptz
    from ${from}`;
}
