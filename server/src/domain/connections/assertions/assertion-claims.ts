import { isSubject } from '../oidc/id-token.ts';
import { personOf } from '../upstream-person.ts';
import type { UpstreamPerson } from '../upstream-request.entity.ts';

/** Expected values of an identity assertion. */
export interface ExpectedAssertion {
  /** Of the connection. */
  issuer: string;
  /** Google Workspace only. */
  hostedDomain: string | null;
  /** The issuer that received it. */
  audience: string;
  /** The client that sent it. */
  clientId: string;
  nowSeconds: number;
}

/** What a valid assertion says. */
export interface AssertionClaims {
  person: UpstreamPerson;
  jti: string;
  /** Seconds since 1970, with the skew. */
  usableUntil: number;
  /** Separated by spaces; null: it names none. */
  scope: string | null;
  /** Null: it names none. */
  resources: string[] | null;
  /** Thumbprint of the key whose proof it needs; null: none. */
  jkt: string | null;
}

type ClaimFault =
  | 'malformed'
  | 'untrusted-issuer'
  | 'expired'
  | 'wrong-audience'
  | 'wrong-client'
  | 'unsupported-claim';

const skewSeconds = 30;
/** Longest time from issue to expiry. */
const longestSeconds = 3600;

/**
 * Claims that would be lost in the token: details beside its scopes, and who acts. `tenant`: the subject is unique only together with
 * it, and identities are of issuer and subject.
 */
const unsupported = ['authorization_details', 'act', 'tenant'] as const;

/** Checks the claims of a signed assertion (draft-ietf-oauth-identity-assertion-authz-grant sections 3.1 and 4.4.1, RFC 7523 section 3). Pure. */
export function checkedAssertion(
  claims: Readonly<Record<string, unknown>>,
  expected: ExpectedAssertion,
): AssertionClaims | { fault: ClaimFault } {
  const { aud, client_id: clientId, cnf, exp, iat, iss, jti, nbf, sub } = claims;
  if (iss !== expected.issuer || !isSubject(sub) || !isSubject(jti)) return { fault: 'malformed' };
  // One audience: a list with others could be used at each of them.
  if (aud !== expected.audience && !(Array.isArray(aud) && aud.length === 1 && aud[0] === expected.audience)) {
    return { fault: 'wrong-audience' };
  }
  if (clientId !== expected.clientId) return { fault: 'wrong-client' };
  if (!isTime(exp) || !isTime(iat) || (nbf !== undefined && !isTime(nbf))) return { fault: 'malformed' };
  const [earliest, latest] = [expected.nowSeconds - skewSeconds, expected.nowSeconds + skewSeconds];
  if (exp <= earliest || iat > latest || (nbf ?? iat) > latest || exp - iat > longestSeconds)
    return { fault: 'expired' };
  if (expected.hostedDomain !== null && claims['hd'] !== expected.hostedDomain) return { fault: 'untrusted-issuer' };
  if (unsupported.some((name) => claims[name] !== undefined)) return { fault: 'unsupported-claim' };
  const { jkt = null } = (cnf ?? {}) as { jkt?: unknown };
  if (cnf !== undefined && (typeof jkt !== 'string' || Object.keys(cnf as object).length !== 1)) {
    return { fault: 'unsupported-claim' };
  }
  const scope = claims['scope'] ?? null;
  const resources = claims['resource'] === undefined ? null : [claims['resource']].flat();
  if (scope !== null && !isScopeList(scope)) return { fault: 'malformed' };
  if (resources !== null && !isTextList(resources)) return { fault: 'malformed' };
  return {
    person: personOf(claims, { issuer: expected.issuer, subject: sub, mappings: {} }),
    ...{ jti, usableUntil: exp + skewSeconds, scope, resources, jkt: jkt as string | null },
  };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isScopeList(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= 10_000;
}

function isTextList(values: unknown[]): values is string[] {
  return values.length > 0 && values.length <= 100 && values.every((one) => typeof one === 'string' && one !== '');
}
