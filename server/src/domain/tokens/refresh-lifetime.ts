import { type Fragment, sql } from '../kernel/sql.ts';
import { sessionEnd } from '../sessions/sessions.ts';

/**
 * SQL: latest end of grant `g` of client `k` and project `p`, used or not. Of the lifetimes of project and client, the
 * shorter one counts: PostgreSQL's `least` ignores null.
 */
const absoluteEnd = sql`g.created_at + make_interval(secs => least(p.refresh_token_ttl_seconds, k.refresh_token_ttl_seconds))`;

/** SQL: when grant `g` ends if it is not used. */
const idleEnd = sql`g.last_used_at + make_interval(secs => least(p.refresh_token_idle_seconds, k.refresh_token_idle_seconds))`;

/** SQL: the earlier of both. */
export const grantEnd: Fragment = sql`least(${absoluteEnd}, ${idleEnd})`;

/** SQL: end of grant `g` if it is not used; without `offline_access`, not after its session. */
export const usableUntil: Fragment = sql`least(${grantEnd}, case when not g.offline then (select ${sessionEnd} from sessions s
  where s.project_id = g.project_id and s.id = g.session_id) end)`;
