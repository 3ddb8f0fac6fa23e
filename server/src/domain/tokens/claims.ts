import type { JWTPayload } from 'jose';
import { confirmationOf } from '../clients/dpop/binding.ts';
import type { IdTokenAlgorithm } from '../kernel/openid.ts';
import { defaultAcr } from '../policy/acr.ts';

/** The scope of SDK codes, whose requests name none. */
export const sdkScope = 'openid profile email phone';

/** The granted scopes: those of the request that are known, without duplicates, in its order. */
export function grantedScope(requested: string, known: readonly string[]): string {
  return [...new Set(requested.split(' '))].filter((scope) => known.includes(scope)).join(' ');
}

/** Clamps the access token's lifetime silently (service.md 2.6). */
export function clampAccessTokenTtl(requestedSeconds: number): number {
  return Math.min(3600, Math.max(1, Math.trunc(requestedSeconds)));
}

/** What is granted to a client about a user, from which the tokens are built. Times are Unix seconds. */
export interface Grant {
  projectId: string;
  /** Becomes `jti` of the access token. */
  codeId: string;
  clientId: string;
  userId: string;
  /** `sub`. */
  subject: string;
  sessionId: string | null;
  scope: string;
  nonce: string | null;
  authTimeSeconds: number;
  amr: string[];
  /** Null: {@link defaultAcr}. */
  acr: string | null;
  email: string | null;
  phone: string | null;
  /** Thumbprint of the key that the tokens are bound to (RFC 9449 §6.1); null: bearer tokens. */
  jkt: string | null;
  /** As the client registered it. */
  idTokenAlgorithm: IdTokenAlgorithm;
  idTokenTtlSeconds: number;
  accessTokenTtlSeconds: number;
  /** The API that the access token is for, with the scopes that it grants the client; null: UserInfo. */
  api: { audience: string; granted: readonly string[]; ttlSeconds: number } | null;
}

/** ID token claims (OpenID Connect Core §2; service.md 2.3), limited to the granted scopes. */
export function idTokenClaims(grant: Grant, tokenId: string, nowSeconds: number): JWTPayload {
  const scopes = grant.scope.split(' ');
  return {
    sub: grant.subject,
    aud: grant.clientId,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + grant.idTokenTtlSeconds,
    jti: tokenId,
    auth_time: grant.authTimeSeconds,
    amr: grant.amr,
    acr: grant.acr ?? defaultAcr,
    ...(grant.sessionId === null ? {} : { sid: grant.sessionId }),
    ...confirmationOf(grant.jkt),
    ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    ...(grant.email !== null && scopes.includes('email') ? { email: grant.email, email_verified: true } : {}),
    ...(grant.phone !== null && scopes.includes('phone') ? { phone_number: grant.phone, phone: grant.phone } : {}),
  };
}

/** Access token claims (RFC 9068 §2.2). The token is valid for UserInfo only. */
export function accessTokenClaims(grant: Grant, issuer: string, nowSeconds: number): JWTPayload {
  return {
    sub: grant.subject,
    aud: issuer,
    client_id: grant.clientId,
    scope: grant.scope,
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + clampAccessTokenTtl(grant.accessTokenTtlSeconds),
    jti: grant.codeId,
    auth_time: grant.authTimeSeconds,
    acr: grant.acr ?? defaultAcr,
    amr: grant.amr,
    ...confirmationOf(grant.jkt),
  };
}

/** An access token for an API (RFC 9068 section 2.2). */
export interface ApiToken {
  /** `jti`: the row that revokes it. */
  id: string;
  /** `sub` of the user, or the client that acts on its own behalf. */
  subject: string;
  clientId: string;
  /** The API's identifier. */
  audience: string;
  scope: string;
  /** Thumbprint of the key that it is bound to; null: a bearer token. */
  jkt: string | null;
  ttlSeconds: number;
}

/** The claims of an access token for an API. It is not valid for UserInfo. */
export function apiTokenClaims(token: ApiToken, nowSeconds: number): JWTPayload {
  return {
    sub: token.subject,
    aud: token.audience,
    client_id: token.clientId,
    ...(token.scope === '' ? {} : { scope: token.scope }),
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + token.ttlSeconds,
    jti: token.id,
    ...confirmationOf(token.jkt),
  };
}
