import { brokenRule, having } from './checks.ts';
import { JWTVerificationError } from './error.ts';
import type { PublicKeyInput } from './public-key.ts';
import { MemoryReplayStore, type ReplayStore } from './replay-store.ts';
import { faultOf, type JwtClaims, keySource, verifyToken } from './verify-jwt.ts';

export interface VerifyLogoutTokenOptions {
  /** Expected `aud`. */
  clientId: string;
  /** Expected `iss`: the service's base URL. */
  issuer: string;
  /** A PEM, or its path. Takes precedence over `jwksUrl` if both are given. */
  publicKey?: PublicKeyInput;
  /** URL of the keys: `{base_url}/.well-known/jwks.json`. One of `publicKey` and `jwksUrl` is required. */
  jwksUrl?: string;
  /** Tolerated clock skew in seconds. Default: 0. */
  leeway?: number;
  /** Storage of used tokens. Default: process memory. */
  replayStore?: ReplayStore;
  /** Default: `['ES512']`. */
  algorithms?: string[];
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
}

/** Sessions to end: `sid`, or, without it, every session of `sub`. */
export interface LogoutClaims {
  iss: string;
  aud: string;
  /** Unix seconds. */
  iat: number;
  jti: string;
  /** At least one of `sub` and `sid` is present. */
  sub?: string;
  sid?: string;
  events: Record<string, unknown>;
  [claim: string]: unknown;
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Lifetime of a token without `exp`, and the maximum. */
const lifetimeSeconds = 120;
const longestSeconds = 600;
/** Tolerated lead of the service's clock: `exp` limits the token, so that no logout is lost to clock skew. */
const skewSeconds = 60;
/** The service retries a delivery for hours with the same `jti`, and gives up before this. */
const rememberSeconds = 24 * 3600;

export const processMemory = new MemoryReplayStore();

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6) and marks it as used. Throws
 * `JWTVerificationError`, with the code `REPLAYED` for a used `jti`, and `InvalidPublicKeyError`. If ending the sessions then
 * fails, a retry is `REPLAYED` as well; handlers of `backchannelLogout` call `onLogout` again.
 */
export async function verifyLogoutToken(token: string, options: VerifyLogoutTokenOptions): Promise<LogoutClaims> {
  const claims = await checkLogoutToken(token, options);
  await rememberLogoutToken(claims, options.replayStore);
  return claims;
}

/** Verifies without marking it as used. */
export async function checkLogoutToken(token: string, options: VerifyLogoutTokenOptions): Promise<LogoutClaims> {
  const { algorithms = ['ES512'], clientId: audience, issuer, leeway = 0 } = options ?? {};
  for (const [name, value] of Object.entries({ clientId: audience, issuer })) {
    if (typeof value !== 'string') throw new JWTVerificationError('INVALID_OPTIONS', `${name} is required.`);
  }
  const rules = { algorithms, audience, issuer, leeway };
  const { allowInsecureHttp } = options;
  const fault =
    faultOf({ ...rules, ...(allowInsecureHttp == null ? {} : { allowInsecureHttp }) }) ??
    brokenRule(options, { replayStore: having('remember', 'forget') });
  if (fault) throw new JWTVerificationError('INVALID_OPTIONS', fault);
  const claims = await verifyToken(token, await keySource(options), {
    ...rules,
    types: ['secevent+jwt', 'logout+jwt'],
    requiredClaims: ['iss', 'aud', 'iat', 'jti', 'events'],
  });
  checkTimes(claims, leeway);
  return checkShape(claims);
}

function checkTimes({ iat = 0, exp = iat + lifetimeSeconds }: JwtClaims, leeway: number): void {
  const now = Date.now() / 1000;
  if (iat > now + leeway + skewSeconds)
    throw new JWTVerificationError('NOT_YET_VALID', 'The logout token was issued in the future.');
  if (exp <= now - leeway) throw new JWTVerificationError('EXPIRED', 'The logout token has expired.');
  if (exp - iat > longestSeconds)
    throw new JWTVerificationError('CLAIM_INVALID', 'The logout token’s lifetime is too long.');
}

function checkShape(claims: JwtClaims): LogoutClaims {
  if ('nonce' in claims) throw new JWTVerificationError('CLAIM_INVALID', 'The logout token has a nonce.');
  const { events } = claims;
  const event =
    typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[logoutEvent] : undefined;
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new JWTVerificationError('CLAIM_INVALID', 'The token’s events claim has no back-channel logout.');
  }
  for (const name of ['jti', 'sub', 'sid']) {
    const value = claims[name];
    if (value !== undefined && (typeof value !== 'string' || value === '')) {
      throw new JWTVerificationError('CLAIM_INVALID', `The logout token’s ${name} is invalid.`);
    }
  }
  if (claims.sub === undefined && claims['sid'] === undefined) {
    throw new JWTVerificationError('CLAIM_MISSING', 'The logout token has neither sub nor sid.');
  }
  return claims as LogoutClaims;
}

/** Marks the token as used. Throws `JWTVerificationError` if it already was. */
async function rememberLogoutToken(claims: LogoutClaims, store: ReplayStore = processMemory): Promise<void> {
  let fresh: boolean;
  try {
    fresh = await store.remember(replayId(claims), rememberUntil());
  } catch (cause) {
    throw new JWTVerificationError('REPLAY_STORE_FAILED', 'The replay store failed.', { cause });
  }
  if (!fresh) throw new JWTVerificationError('REPLAYED', 'The logout token was already used.');
}

export function rememberUntil(): Date {
  return new Date(Date.now() + rememberSeconds * 1000);
}

/** `jti` is unique only per issuer and audience. */
export function replayId({ aud, iss, jti }: LogoutClaims, ...more: string[]): string {
  return JSON.stringify([iss, aud, jti, ...more]);
}
