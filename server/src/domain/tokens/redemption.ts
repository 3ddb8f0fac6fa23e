import type { JudgedAssertion } from '../clients/client-assertions.ts';
import type { Actor } from '../kernel/actor.ts';
import { seconds, secondsLater } from '../kernel/clock.ts';
import { digest } from '../kernel/secret.ts';
import type { Sql } from '../kernel/statement.ts';
import type { Grant } from './claims.ts';

/**
 * `none`: by naming itself. `api-key`: by its secret key. `assertion`: by `private_key_jwt`. `trial`: not at all, since
 * it is the service itself that tries a sign-in of the client.
 */
export type ClientAuthentication = 'none' | 'api-key' | 'assertion' | 'trial';

export interface Exchange {
  code: string;
  /** The client that has authenticated, or, for a public one, has named itself. */
  clientId: string;
  codeVerifier: string | undefined;
  redirectUri: string | undefined;
  /** How the client has authenticated: codes of the SDK need a secret of its back end. */
  authenticatedBy: ClientAuthentication;
  actor: Actor;
}

/** How old the note of a client's part in a session may grow, so that a busy session is not a busy row. */
const participationSeconds = 60;

/**
 * The code is looked up by its hash alone, and what belongs to it by key: left to itself, a plan that was made while
 * the tables were empty may go through every code of every user (decisions/0087).
 */
const found = `code as materialized (
    select id, client_id, user_id, session_id from authorization_codes where hash = ?
  )`;

/**
 * Every condition stands in the `where`, so that of any number of tries one row changes once; what can change under a
 * concurrent try is asked of `c`, the row itself. @param further condition
 */
const redeemed = (further: string) => `redeemed as (
    update authorization_codes c set used_at = ?::timestamptz
    from code, users u, clients k, projects p
    where c.id = code.id and c.client_id = ? and c.used_at is null and c.revoked_at is null and c.expires_at > ?::timestamptz
      and c.code_challenge is not distinct from ?::text and c.redirect_uri is not distinct from ?::text
      and case when c.redirect_uri is null then ?::text <> 'none'
               else k.token_endpoint_auth_method = 'none' or ?::text in ('assertion', 'trial') end
      and u.id = code.user_id and u.active
      and k.id = ? and k.disabled_at is null
      and p.id = k.project_id and p.id = u.project_id
      and (code.session_id is null or (select s.ended_at is null from sessions s where s.id = code.session_id))
      ${further}
    returning c.id, c.client_id, c.user_id, c.session_id, c.scope, c.nonce, c.auth_time, c.amr, u.email, u.phone,
      u.user_name, p.id as project_id, p.id_token_ttl_seconds,
      coalesce(k.access_token_ttl_seconds, p.access_token_ttl_seconds) as access_token_ttl_seconds
  )`;

/** The client's part in the session, and the audit event. */
const noted = `joined as (
    insert into participations (session_id, client_id, first_at, last_at)
    select session_id, client_id, ?::timestamptz, ?::timestamptz from redeemed r
    where session_id is not null and coalesce((select p.last_at <= ?::timestamptz from participations p
      where p.session_id = r.session_id and p.client_id = r.client_id), true)
    on conflict (session_id, client_id) do update set last_at = excluded.last_at
  ), told as (
    insert into audit_events (id, project_id, at, type, result, actor_kind, actor_id, subject_kind, subject_id,
      subject_name, client_id, ip, user_agent, request_id)
    select ?::uuid, project_id, ?::timestamptz, 'token.issued', 'success', 'client', client_id, 'user', user_id, user_name,
      client_id, ?::text, ?::text, ?::text from redeemed
  )`;

const plain = `with ${found}, ${redeemed('')}, ${noted} select * from redeemed`;

/** The client assertion is noted by the same statement, whatever becomes of the code, and once. */
const withAssertion = `with client as (
    select id from clients where id = ?::uuid and version = ?::int and disabled_at is null
  ), used as (
    insert into used_assertions (client_id, jti_hash, forget_at)
    select id, ?, ?::timestamptz from client on conflict do nothing returning 1
  ), ${found}, ${redeemed('and exists (select from used)')}, ${noted}
  select exists (select from client) as client_is_current, exists (select from used) as assertion_is_fresh, r.*
  from (values (1)) one left join redeemed r on true`;

/**
 * One statement redeems the code: one round trip, one commit, and it tells all that the tokens are made of.
 * @param eventId of the audit event, if it comes to that
 */
export function redemption(
  exchange: Exchange,
  assertion: JudgedAssertion | undefined,
  eventId: string,
  now: Date,
): Sql {
  const { actor, codeVerifier } = exchange;
  const params = [
    digest(exchange.code),
    now,
    exchange.clientId,
    now,
    codeVerifier === undefined ? null : digest(codeVerifier),
    exchange.redirectUri ?? null,
    exchange.authenticatedBy,
    exchange.authenticatedBy,
    exchange.clientId,
    now,
    now,
    secondsLater(now, -participationSeconds),
    eventId,
    now,
    actor.ip ?? null,
    actor.userAgent ?? null,
    actor.requestId ?? null,
  ];
  if (!assertion) return { text: plain, params };
  const { clientId, clientVersion, jtiHash, forgetAt } = assertion;
  return { text: withAssertion, params: [clientId, clientVersion, jtiHash, forgetAt, ...params] };
}

/** What it tells: without an assertion a row if the code was redeemed; with one always a row, perhaps without a code. */
export interface RedemptionRow {
  client_is_current?: boolean;
  assertion_is_fresh?: boolean;
  id: string | null;
  client_id: string;
  user_id: string;
  session_id: string | null;
  scope: string;
  nonce: string | null;
  auth_time: Date | string;
  amr: string[];
  email: string | null;
  phone: string | null;
  id_token_ttl_seconds: number;
  access_token_ttl_seconds: number;
}

export function toGrant(row: RedemptionRow): Grant {
  return {
    codeId: row.id as string,
    clientId: row.client_id,
    subject: row.user_id,
    sessionId: row.session_id,
    scope: row.scope,
    nonce: row.nonce,
    authTimeSeconds: seconds(new Date(row.auth_time)),
    amr: row.amr,
    email: row.email,
    phone: row.phone,
    idTokenTtlSeconds: row.id_token_ttl_seconds,
    accessTokenTtlSeconds: row.access_token_ttl_seconds,
  };
}
