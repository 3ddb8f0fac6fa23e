import { currentClient, type JudgedClient } from '../clients/client-registry.ts';
import type { Random } from '../kernel/random.ts';
import { type Statement, sql } from '../kernel/sql.ts';
import { slidSession } from '../sessions/sessions.ts';
import { insertedCode } from './new-code.ts';

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
  /** Maximum seconds since the last proof by more than a device key. */
  maxAgeSeconds: number | undefined;
}

/** Whether the client is unchanged, and whether the code was issued. */
export interface SessionCodeRow {
  client_is_current: boolean;
  is_issued: boolean;
}

/**
 * One statement: slides the live session, and issues the code if the session satisfies the request. Uses
 * synchronous_commit = off (decisions/0087).
 */
export function sessionCode(
  asked: SessionCode,
  made: { random: Random; code: string; now: Date },
): Statement<SessionCodeRow> {
  const { client, redirectUri, codeChallenge, scope, nonce, hintedUserId, maxAgeSeconds } = asked;
  const { now } = made;
  const answersRequest = sql`from seen join client on client.project_id = seen.project_id
    where seen.user_id = coalesce(${hintedUserId ?? null}::uuid, seen.user_id)
      and coalesce(floor(extract(epoch from ${now}::timestamptz))
        - floor(extract(epoch from coalesce(seen.fresh_at, 'epoch'))) <= ${maxAgeSeconds ?? null}::int, true)`;
  const code = { ...fromSession, redirectUri, codeChallenge, scope, nonce };
  return sql<SessionCodeRow>`with client as materialized (${currentClient(asked)}),
    without_waiting as (select set_config('synchronous_commit', 'off', true)),
    seen as (${slidSession({ secretHash: asked.sessionHash, projectId: client.project.id, now })}),
    issued as (${insertedCode(made, code, answersRequest)} returning 1)
    select exists (select from client) as client_is_current, exists (select from issued) as is_issued
    from without_waiting`;
}

const fromSession = {
  projectId: sql`seen.project_id`,
  clientId: sql`client.id`,
  userId: sql`seen.user_id`,
  sessionId: sql`seen.id`,
  authTime: sql`seen.auth_time`,
  amr: sql`seen.amr`,
};
