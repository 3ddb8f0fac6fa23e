import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import { processSkewSeconds, secondsLater } from '../kernel/clock.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import { byPasskey, slidSession } from '../sessions/sessions.ts';
import { addressKeys, userNameKey } from '../users/login.ts';
import { type AcrRequest, metAcrOf } from './acr.ts';
import { insertedCode, type NewCode } from './new-code.ts';

/** A request for a code under a live session. */
export interface SessionCode extends CheckedClient {
  /** See `storedIssuer`. */
  issuer: string | null;
  /** SHA-256 of the session cookie's secret. */
  sessionHash: string;
  redirectUri: string;
  /** Absent: the client may omit PKCE. */
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code. */
  dpopJkt?: string | undefined;
  /** Identifiers of APIs (RFC 8707). */
  resources: readonly string[];
  scope: string;
  nonce: string | undefined;
  /** The user of the request's `id_token_hint`. */
  hintedUserId: string | undefined;
  /** `login_hint`, if it must name the user of the session. */
  loginHint?: string | undefined;
  /** Maximum seconds since the last proof by more than a device key. */
  maxAgeSeconds: number | undefined;
  /** Whether a third-party client asks for the user's consent again (`prompt=consent`). */
  asksConsent: boolean;
  /** Absent: the request asks for none. */
  acr?: AcrRequest | undefined;
}

/**
 * Whether the client is unchanged, whether the code was issued, and whether a live session lacks the acr that the
 * request needs. `asking_session_id`: the session that meets the request, except that its user must be asked.
 */
export interface SessionCodeRow {
  client_is_current: boolean;
  is_issued: boolean;
  lacks_acr: boolean;
  asking_session_id: string | null;
}

/**
 * One statement: slides the live session, and issues the code if the session satisfies the request. Uses
 * synchronous_commit = off (decisions/0087).
 */
export function sessionCode(asked: SessionCode, made: NewCode): Statement<SessionCodeRow> {
  const { client, redirectUri, codeChallenge, dpopJkt, resources, scope, nonce, hintedUserId, maxAgeSeconds } = asked;
  const { now } = made;
  // See `isAhead`.
  const provedAt = sql`case when seen.fresh_at > ${secondsLater(now, processSkewSeconds)}::timestamptz then 'epoch' else coalesce(seen.fresh_at, 'epoch') end`;
  const lacksAcr = asked.acr ? lacking(asked.acr) : sql`false`;
  const meetingPolicy = sql`select seen.*, client.id as client_id from seen join client on client.project_id = seen.project_id
    where seen.user_id = coalesce(${hintedUserId ?? null}::uuid, seen.user_id)
      and coalesce(floor(extract(epoch from ${now}::timestamptz))
        - floor(extract(epoch from ${provedAt})) <= ${maxAgeSeconds ?? null}::int, true)
      and not ${lacksAcr} and ${asked.loginHint === undefined ? sql`true` : isNamedBy(asked.loginHint)}
      and (not ${client.passkeyRequired}::boolean or ${byPasskey(sql`seen`)})`;
  const asksAgain = client.thirdParty && asked.asksConsent;
  const code = {
    ...fromSession,
    issuer: asked.issuer,
    redirectUri,
    codeChallenge,
    dpopJkt,
    resources,
    scope,
    nonce,
    acr: asked.acr && metAcrOf(asked.acr.values, sql`seen.amr`),
  };
  return sql<SessionCodeRow>`with client as materialized (${currentClient(asked)}),
    without_waiting as (select set_config('synchronous_commit', 'off', true)),
    seen as (${slidSession({ secretHash: asked.sessionHash, projectId: client.project.id, now })}),
    meeting_policy as materialized (${meetingPolicy}),
    issued as (${insertedCode(made, code, sql`from meeting_policy seen where not ${asksAgain}::boolean`)} returning 1)
    select exists (select from client) as client_is_current, exists (select from issued) as is_issued,
      exists (select from seen where ${lacksAcr}) as lacks_acr,
      (select seen.id from meeting_policy seen where not exists (select from issued)) as asking_session_id
    from without_waiting`;
}

/**
 * Whether the hint names the session's user. No other user is looked up: whether another one has the name must not decide,
 * or any user could find out which addresses have accounts.
 */
function isNamedBy(hint: string): Fragment {
  const names = [userNameKey(hint), ...addressKeys(hint)];
  return sql`exists (select from users u where u.project_id = seen.project_id and u.id = seen.user_id
    and (u.user_name_key = any(${names}::text[]) or u.email_key = any(${names}::text[]) or u.id::text = ${hint}))`;
}

/**
 * The session does not meet the request: an essential one, or one that its user could meet with a passkey. Otherwise an
 * application that asks everyone for passkeys would ask those without one for a code each time.
 */
function lacking({ values, essential }: AcrRequest): Fragment {
  return sql`(${metAcrOf(values, sql`seen.amr`)} is null and (${essential}::boolean or exists (select from credentials k
    join projects p on p.id = k.project_id where k.project_id = seen.project_id and k.user_id = seen.user_id
      and k.user_verified and k.revoked_at is null and p.passkeys)))`;
}

const fromSession = {
  projectId: sql`seen.project_id`,
  clientId: sql`seen.client_id`,
  userId: sql`seen.user_id`,
  sessionId: sql`seen.id`,
  authTime: sql`seen.auth_time`,
  amr: sql`seen.amr`,
};
