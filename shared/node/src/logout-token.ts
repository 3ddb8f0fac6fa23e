import { JWTVerificationError } from './error.ts';
import type { PublicKeyInput } from './public-key.ts';
import { MemoryReplayStore, type ReplayStore } from './replay-store.ts';
import { faultOf, type JwtClaims, keySource, verifyToken } from './verify-jwt.ts';

export interface VerifyLogoutTokenOptions {
  /** Expected `aud`. */
  clientId: string;
  /** Expected `iss`: the service's base address. */
  issuer: string;
  /** A PEM, or the path of one. It wins over `jwksUrl` where both are given. */
  publicKey?: PublicKeyInput;
  /** Where the keys are fetched: `{base_url}/.well-known/jwks.json`. One of `publicKey` and `jwksUrl` is required. */
  jwksUrl?: string;
  /** Clock skew that is tolerated, in seconds. Default: 0. */
  leeway?: number;
  /** Where used tokens are noted. Default: the memory of this process. */
  replayStore?: ReplayStore;
  /** Default: `['ES512']`. */
  algorithms?: string[];
}

/** Whose sessions to end: the one session `sid`, or, without it, every session of `sub`. */
export interface LogoutClaims {
  iss: string;
  aud: string;
  /** Unix seconds. */
  iat: number;
  jti: string;
  /** At least one of `sub` and `sid` is there. */
  sub?: string;
  sid?: string;
  events: Record<string, unknown>;
  [claim: string]: unknown;
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Life of a token that names no expiry, and the longest that one may name. */
const lifetimeSeconds = 120;
const longestSeconds = 600;
/** How far ahead the service's clock may be: `exp` bounds the token, so that no logout is lost over it. */
const skewSeconds = 60;
/** The service repeats a delivery for hours with one `jti`: later than this it has given up. */
const rememberSeconds = 24 * 3600;

const processMemory = new MemoryReplayStore();

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6) and notes that it was used. Throws
 * `JWTVerificationError`, with the code `REPLAYED` for a token whose `jti` has been here, and `InvalidPublicKeyError`.
 */
export async function verifyLogoutToken(token: string, options: VerifyLogoutTokenOptions): Promise<LogoutClaims> {
  const claims = await judgeLogoutToken(token, options);
  await rememberLogoutToken(claims, options.replayStore);
  return claims;
}

/** Verifies without noting anything. */
export async function judgeLogoutToken(token: string, options: VerifyLogoutTokenOptions): Promise<LogoutClaims> {
  const { algorithms = ['ES512'], clientId: audience, issuer, leeway = 0 } = options;
  for (const [name, value] of Object.entries({ clientId: audience, issuer })) {
    if (typeof value !== 'string') throw new JWTVerificationError('INVALID_OPTIONS', `The option ${name} is missing.`);
  }
  const rules = { algorithms, audience, issuer, leeway };
  const fault = faultOf(rules);
  if (fault) throw new JWTVerificationError('INVALID_OPTIONS', fault);
  const claims = await verifyToken(token, await keySource(options), {
    ...rules,
    types: ['secevent+jwt', 'logout+jwt'],
    required: ['iss', 'aud', 'iat', 'jti', 'events'],
  });
  judgeTimes(claims, leeway);
  return judgeShape(claims);
}

function judgeTimes({ iat = 0, exp = iat + lifetimeSeconds }: JwtClaims, leeway: number): void {
  const now = Date.now() / 1000;
  if (iat > now + leeway + skewSeconds)
    throw new JWTVerificationError('NOT_YET_VALID', 'The logout token is from the future.');
  if (exp <= now - leeway) throw new JWTVerificationError('EXPIRED', 'The logout token has expired.');
  if (exp - iat > longestSeconds) throw new JWTVerificationError('CLAIM_INVALID', 'The logout token lives too long.');
}

function judgeShape(claims: JwtClaims): LogoutClaims {
  if ('nonce' in claims) throw new JWTVerificationError('CLAIM_INVALID', 'The logout token has a nonce.');
  const { events } = claims;
  const event =
    typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[logoutEvent] : undefined;
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new JWTVerificationError('CLAIM_INVALID', 'The token’s events hold no back-channel logout.');
  }
  for (const name of ['jti', 'sub', 'sid']) {
    const value = claims[name];
    if (value !== undefined && (typeof value !== 'string' || value === '')) {
      throw new JWTVerificationError('CLAIM_INVALID', `The logout token’s ${name} is no identifier.`);
    }
  }
  if (claims.sub === undefined && claims['sid'] === undefined) {
    throw new JWTVerificationError('CLAIM_MISSING', 'The logout token has neither sub nor sid.');
  }
  return claims as LogoutClaims;
}

/** Notes the token. Throws `JWTVerificationError` where it was noted before. */
export async function rememberLogoutToken(claims: LogoutClaims, store: ReplayStore = processMemory): Promise<void> {
  let fresh: boolean;
  try {
    fresh = await store.remember(noteOf(claims), new Date(Date.now() + rememberSeconds * 1000));
  } catch (cause) {
    throw new JWTVerificationError('REPLAY_STORE_FAILED', 'The replay store failed.', { cause });
  }
  if (!fresh) throw new JWTVerificationError('REPLAYED', 'This logout token was used before.');
}

/** Takes the note back: what the token asks for has not happened. */
export async function forgetLogoutToken(claims: LogoutClaims, store: ReplayStore = processMemory): Promise<void> {
  await store.forget(noteOf(claims));
}

/** `jti` is unique within an issuer and audience only. */
function noteOf({ aud, iss, jti }: LogoutClaims): string {
  return JSON.stringify([iss, aud, jti]);
}
