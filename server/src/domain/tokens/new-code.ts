import { secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { type Fragment, sql } from '../kernel/sql.ts';

/** Lifetime of an authorization code (decisions: 60 s). */
const codeTtlSeconds = 60;
/** After its expiry, the row outlives the longest access token: UserInfo checks it for revocation. */
const outliveSeconds = 3600 + 60;
export const rememberSeconds = codeTtlSeconds + outliveSeconds;

/** A code to be inserted. */
export interface NewCode {
  random: Random;
  /** SHA-256. */
  hash: string;
  now: Date;
  /** Absent: 60 s from now. */
  expiresAt?: Date;
}

/** The columns of a code (RFC 6749 §4.1.2): values, or SQL expressions over the rows of `from`. */
export interface CodeColumns {
  projectId: string | Fragment;
  clientId: string | Fragment;
  userId: string | Fragment;
  /** The SSO session, for the hosted page. */
  sessionId?: string | Fragment | undefined;
  /** See `storedIssuer`; absent: the base issuer. */
  issuer?: string | null | undefined;
  /** Absent for codes of the browser SDK. */
  redirectUri?: string | undefined;
  codeChallenge?: string | Fragment | undefined;
  /** Thumbprint of the DPoP key that must redeem it; absent: any, or none. */
  dpopJkt?: string | undefined;
  /** Identifiers of APIs (RFC 8707); absent: none. */
  resources?: readonly string[] | undefined;
  scope: string;
  nonce?: string | undefined;
  authTime: Date | Fragment;
  amr: readonly string[] | Fragment;
  /** Absent or null: the default. */
  acr?: string | null | Fragment | undefined;
}

/** SQL: inserts a code for each row of `from`: at most one. */
export function insertedCode(
  { random, hash, now, expiresAt = secondsLater(now, codeTtlSeconds) }: NewCode,
  {
    projectId,
    clientId,
    userId,
    sessionId,
    issuer,
    redirectUri,
    codeChallenge,
    dpopJkt,
    resources,
    scope,
    nonce,
    authTime,
    amr,
    acr,
  }: CodeColumns,
  from: Fragment = sql``,
): Fragment {
  return sql`insert into authorization_codes (project_id, id, hash, client_id, user_id, session_id, issuer, redirect_uri, code_challenge,
      dpop_jkt, resources, scope, nonce, auth_time, amr, acr, created_at, expires_at, forget_at)
    select ${projectId}::uuid, ${random.id()}::uuid, ${hash}, ${clientId}::uuid, ${userId}::uuid, ${sessionId ?? null}::uuid,
      ${issuer ?? null}::text, ${redirectUri ?? null}::text, ${codeChallenge ?? null}::text,
      ${dpopJkt ?? null}::text, ${[...(resources ?? [])]}::text[], ${scope}, ${nonce ?? null}::text,
      ${authTime}::timestamptz, ${amr}::text[], ${acr ?? null}::text, ${now}::timestamptz,
      ${expiresAt}::timestamptz, ${secondsLater(expiresAt, outliveSeconds)}::timestamptz
    ${from}`;
}
