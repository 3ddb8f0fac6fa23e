import { currentClient, type JudgedClient } from '../clients/client-registry.ts';
import { type Statement, sql } from '../kernel/sql.ts';
import { slidSession } from '../sessions/sessions.ts';

/** A request for a code under a live session. */
export interface SessionCode extends JudgedClient {
  /** SHA-256 of the session cookie's secret. */
  sessionHash: string;
  redirectUri: string;
  codeChallenge: string;
  scope: string;
  nonce: string | undefined;
  /** The user of the request's `id_token_hint`. */
  hintedUserId: string | undefined;
  /** The longest time since more than a device key proved the person. */
  maxAgeSeconds: number | undefined;
}

/** The row of a new code. */
export interface NewCode {
  id: string;
  hash: string;
  expiresAt: Date;
  forgetAt: Date;
}

/** Whether the client is still as judged, and whether the code was issued. */
export interface SessionCodeRow {
  client_is_current: boolean;
  is_issued: boolean;
}

/**
 * One statement: slides the live session, and issues the code if that session answers the request. Does not wait for the
 * disk (decisions/0087).
 */
export function sessionCode(asked: SessionCode, code: NewCode, now: Date): Statement<SessionCodeRow> {
  const { client } = asked;
  return sql<SessionCodeRow>`with client as materialized (${currentClient(asked)}),
    without_waiting as (select set_config('synchronous_commit', 'off', true)),
    seen as (${slidSession({ secretHash: asked.sessionHash, projectId: client.project.id, now })}),
    issued as (
      insert into authorization_codes (id, hash, client_id, user_id, session_id, redirect_uri, code_challenge, scope,
        nonce, auth_time, amr, created_at, expires_at, forget_at)
      select ${code.id}::uuid, ${code.hash}, client.id, seen.user_id, seen.id, ${asked.redirectUri},
        ${asked.codeChallenge}, ${asked.scope}, ${asked.nonce ?? null}, seen.auth_time, seen.amr, ${now}::timestamptz,
        ${code.expiresAt}::timestamptz, ${code.forgetAt}::timestamptz
      from seen join client on client.project_id = seen.project_id
      where seen.user_id = coalesce(${asked.hintedUserId ?? null}::uuid, seen.user_id)
        and coalesce(floor(extract(epoch from ${now}::timestamptz))
          - floor(extract(epoch from coalesce(seen.fresh_at, 'epoch'))) <= ${asked.maxAgeSeconds ?? null}::int, true)
      returning 1
    )
    select exists (select from client) as client_is_current, exists (select from issued) as is_issued
    from without_waiting`;
}
