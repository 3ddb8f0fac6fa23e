import { meetsPolicy } from '../sessions/sessions.ts';

/** What a code under a live session is asked with, besides the code itself. */
export interface SessionCode {
  /** SHA-256 of the session cookie's secret. */
  sessionHash: string;
  projectId: string;
  clientId: string;
  /** The version of the client that the request was checked against. */
  clientVersion: number;
  redirectUri: string;
  codeChallenge: string;
  scope: string;
  nonce: string | undefined;
  /** The user that the request hints at. */
  hintedUserId: string | undefined;
  /** How long ago more than a device key may have proved the person. */
  maxAgeSeconds: number | undefined;
}

/** The row that is to be written. */
export interface NewCode {
  id: string;
  hash: string;
  expiresAt: Date;
  forgetAt: Date;
}

/**
 * One statement: slides the session where it is live by all its limits and today's policy, its user active with the
 * factors that are required today, and gives
 * the code where the session answers the request and the client is still the one that was checked. No row: no code.
 *
 * The session is looked up by its hash alone, as a code is when it is redeemed. And nobody waits for the disk: a crash of
 * the database forgets the codes of its last moments, whose users are told to try again; redeeming one waits for both.
 */
export const sessionCodeStatement = `with session as materialized (
    select id, user_id, project_id from sessions where secret_hash = ?
  ), seen as (
    update sessions s set last_seen_at = ?::timestamptz,
      idle_expires_at = ?::timestamptz + p.idle_timeout_seconds * interval '1 second'
    from session, users u, projects p, (select set_config('synchronous_commit', 'off', true)) quickly
    where s.id = session.id and session.project_id = ?::uuid and s.ended_at is null
      and u.id = session.user_id and u.active and p.id = session.project_id
      and least(s.idle_expires_at, s.expires_at, s.last_seen_at + p.idle_timeout_seconds * interval '1 second',
        s.created_at + p.max_session_seconds * interval '1 second') > ?::timestamptz
      and ${meetsPolicy}
    returning s.id, s.project_id, s.user_id, s.auth_time, s.fresh_at, s.amr
  )
  insert into authorization_codes (id, hash, client_id, user_id, session_id, redirect_uri, code_challenge, scope, nonce,
    auth_time, amr, created_at, expires_at, forget_at)
  select ?::uuid, ?, k.id, seen.user_id, seen.id, ?, ?, ?, ?, seen.auth_time, seen.amr, ?::timestamptz, ?::timestamptz,
    ?::timestamptz
  from seen join clients k on k.id = ?::uuid and k.project_id = seen.project_id
  where k.disabled_at is null and k.version = ?::int and seen.user_id = coalesce(?::uuid, seen.user_id)
    and coalesce(floor(extract(epoch from ?::timestamptz))
      - floor(extract(epoch from coalesce(seen.fresh_at, 'epoch'))) <= ?::int, true)`;

export function sessionCodeParameters(asked: SessionCode, code: NewCode, now: Date): unknown[] {
  return [
    asked.sessionHash,
    now,
    now,
    asked.projectId,
    now,
    code.id,
    code.hash,
    asked.redirectUri,
    asked.codeChallenge,
    asked.scope,
    asked.nonce ?? null,
    now,
    code.expiresAt,
    code.forgetAt,
    asked.clientId,
    asked.clientVersion,
    asked.hintedUserId ?? null,
    now,
    asked.maxAgeSeconds ?? null,
  ];
}
