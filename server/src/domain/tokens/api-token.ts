import type { JWTPayload } from 'jose';
import { confirmationOf } from '../clients/dpop/binding.ts';

/** The claim `act` (RFC 8693 section 4.1). */
export interface Act {
  /** Stable user identifier, or the client_id of a client that acts for itself. */
  sub: string;
  /** Absent for an admin who impersonates. */
  client_id?: string;
  /** The issuer of `sub`, if it is another one. */
  iss?: string;
  act?: Act;
}

/** An access token for an API (RFC 9068 section 2.2). */
export interface ApiToken {
  /** `jti`: the row that revokes it. */
  id: string;
  /** The user, or the client that acts on its own behalf. */
  subject: string;
  clientId: string;
  /** The API's identifier. */
  audience: string;
  scope: string;
  /** Thumbprint of the key that it is bound to; null: a bearer token. */
  jkt: string | null;
  /** Claims of the organization of its context; absent: none. */
  organization?: Record<string, unknown>;
  /** Who acts for the subject (RFC 8693 section 4.1); absent: no one. */
  act?: Act;
  ttlSeconds: number;
}

/** The claims of an access token for an API. It is not valid for UserInfo. */
export function apiTokenClaims(token: ApiToken, nowSeconds: number): JWTPayload {
  return {
    sub: token.subject,
    aud: token.audience,
    client_id: token.clientId,
    ...token.organization,
    ...(token.scope === '' ? {} : { scope: token.scope }),
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + token.ttlSeconds,
    jti: token.id,
    ...(token.act === undefined ? {} : { act: token.act }),
    ...confirmationOf(token.jkt),
  };
}
