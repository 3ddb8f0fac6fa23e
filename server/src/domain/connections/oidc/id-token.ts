import type { UpstreamFault } from '../upstream.ts';

/** Expected values of an ID token. */
export interface ExpectedToken {
  issuer: string;
  clientId: string;
  nonce: string;
  /** Google Workspace only. */
  hostedDomain: string | null;
  nowSeconds: number;
}

/** Accepted algorithms. All are asymmetric: a leaked client secret cannot sign ID tokens. */
export const idTokenAlgorithms: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

const skewSeconds = 60;
const oldestSeconds = 10 * 60;
const maxSubjectLength = 255;

/** Refuses keys in the header, critical extensions and other algorithms (RFC 7515 section 4.1). */
export function headerFault(header: Readonly<Record<string, unknown>>): UpstreamFault | null {
  const { alg, kid } = header;
  const isForeign = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'enc'].some((name) => name in header);
  const isOff = isForeign || !idTokenAlgorithms.some((one) => one === alg);
  return isOff || (kid !== undefined && typeof kid !== 'string') ? 'signature' : null;
}

/** The first rule that the claims break (OpenID Connect Core section 3.1.3.7); null: none. Pure. */
export function claimsFault(claims: Readonly<Record<string, unknown>>, expected: ExpectedToken): UpstreamFault | null {
  const { act, aud, azp, exp, hd, iat, iss, nbf, nonce, sub } = claims;
  const { clientId, nowSeconds } = expected;
  if (iss !== expected.issuer) return 'issuer';
  if (!isFor(clientId, aud, azp)) return 'audience';
  if (!isTime(exp) || exp <= nowSeconds - skewSeconds) return 'time';
  if (!isTime(iat) || iat > nowSeconds + skewSeconds || iat < nowSeconds - oldestSeconds) return 'time';
  if (nbf !== undefined && (!isTime(nbf) || nbf > nowSeconds + skewSeconds)) return 'time';
  if (nonce !== expected.nonce) return 'nonce';
  // RFC 8693 section 4.1: another person acts as the user. The session here would not name them, and outlive what they may do there.
  if (!isSubject(sub) || act !== undefined) return 'subject';
  if (expected.hostedDomain !== null && hd !== expected.hostedDomain) return 'tenant';
  return null;
}

/** The client alone, or with others where `azp` names it. */
function isFor(clientId: string, aud: unknown, azp: unknown): boolean {
  if (azp !== undefined && azp !== clientId) return false;
  if (aud === clientId) return true;
  if (!Array.isArray(aud) || !aud.includes(clientId)) return false;
  return aud.length === 1 || azp === clientId;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** OpenID Connect Core section 2: at most 255 characters of ASCII; here also other text that PostgreSQL can store. */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxSubjectLength &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  );
}
