import { fromBase64url, isBase64url, textOf } from './bytes.ts';
import { brokenRule, flag } from './checks.ts';
import { JWTVerificationError, type JWTVerificationErrorCode } from './error.ts';
import { jose } from './jose.ts';
import { type PublicKeyInput, readPublicKey, supportedAlgorithms, type VerificationKey } from './public-key.ts';
import { type KeyQuery, remoteKeys } from './remote-keys.ts';

export interface VerifyJwtOptions {
  /** Accepted algorithms. Default: `['RS256']`; the service's ID tokens need `['ES512']`. */
  algorithms?: string[];
  /** Expected `aud`; with several, one must match. */
  audience?: string | string[];
  /**
   * Expected `iss`; with several, one must match. All projects of an instance sign with the same keys: without it, a token of
   * any of them passes.
   */
  issuer?: string | string[];
  /** Tolerated clock skew in seconds. Default: 0. */
  leeway?: number;
  /** Expected `nonce`. */
  nonce?: string;
  /** Claims that the token must have. `['exp']` refuses a token that never expires. */
  requiredClaims?: string[];
}

/** Registered claims (RFC 7519 §4.1) and any others. */
export interface JwtClaims {
  iss?: string;
  sub?: string;
  aud?: string | string[];
  /** Unix seconds, as are `nbf` and `iat`. */
  exp?: number;
  nbf?: number;
  iat?: number;
  jti?: string;
  [claim: string]: unknown;
}

/** Verification rules. */
export interface Rules extends VerifyJwtOptions {
  algorithms: string[];
  /** Accepted header `typ`, without `application/`; absent: any. */
  types?: readonly (string | undefined)[];
  /** Unix milliseconds. Default: now. */
  now?: number;
}

/** A given key, or a lookup by the token's header. */
export type KeySource = (query: KeyQuery) => Promise<VerificationKey> | VerificationKey;

const maxTokenLength = 64 * 1024;

/**
 * Verifies a JWT (RFC 7519) with a public key, and returns its claims. The key's type determines the algorithms, never
 * the token. Checks the signature, `exp` and `nbf` if the token has them, and `iss`, `aud` and `nonce` if they are given as
 * options. Does not check that the token has an `exp`, unless `requiredClaims` names it, nor its type (`typ`), nor whether it
 * was used before or withdrawn. Without `audience`, it accepts a token issued to another application. Throws
 * {@link JWTVerificationError}; for an invalid key, its subclass `InvalidPublicKeyError`.
 *
 * @param publicKey a PEM, its path, or its bytes
 */
export async function verifyJwt<Claims extends object = JwtClaims>(
  token: string,
  publicKey: PublicKeyInput,
  options: VerifyJwtOptions = {},
): Promise<Claims> {
  const fault = faultOf(options);
  if (fault) throw new JWTVerificationError('INVALID_OPTIONS', fault);
  const rules = { ...options, algorithms: options.algorithms ?? ['RS256'] };
  const key = await readPublicKey(publicKey);
  return (await verifyToken(token, () => key, rules)) as Claims;
}

/** The key source of the options, loaded and validated. A pinned key takes precedence over `jwksUrl`. */
export async function keySource(options: {
  publicKey?: PublicKeyInput | undefined;
  jwksUrl?: string | undefined;
  allowInsecureHttp?: boolean | undefined;
}): Promise<KeySource> {
  if (options.publicKey === undefined && options.jwksUrl !== undefined) {
    const keys = remoteKeys(options.jwksUrl, options.allowInsecureHttp);
    await keys.ready();
    return (query) => keys.find(query);
  }
  const key = await readPublicKey(options.publicKey ?? '');
  return () => key;
}

/** The problem with options that would silently disable a check; null: none. */
export function faultOf(options: VerifyJwtOptions): string | null {
  if (typeof options !== 'object' || options === null) return 'options must be an object.';
  const { algorithms, audience, issuer, leeway, nonce, requiredClaims } = options;
  if (algorithms !== undefined) {
    if (!Array.isArray(algorithms) || algorithms.length === 0) return 'algorithms must be a list that is not empty.';
    const foreign = algorithms.find((alg) => !supportedAlgorithms.includes(alg));
    if (foreign !== undefined) return `The algorithm ${printable(foreign)} does not use a public key.`;
  }
  // An unset environment variable must not disable a check.
  for (const [name, value] of Object.entries({ audience, issuer, nonce, requiredClaims })) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    if (value !== undefined && (values.length === 0 || values.some((one) => typeof one !== 'string' || one === ''))) {
      return `${name} must not be empty.`;
    }
  }
  if (leeway !== undefined && !(typeof leeway === 'number' && leeway >= 0 && leeway <= 3600)) {
    return 'leeway must be a number of seconds, from 0 to 3600.';
  }
  return brokenRule(options, { allowInsecureHttp: flag });
}

/** Verifies a token by valid rules. Throws {@link JWTVerificationError}. */
export async function verifyToken(token: string, source: KeySource, rules: Rules): Promise<JwtClaims> {
  const { errors, jwtVerify } = await jose();
  const header = headerOf(token);
  if (!rules.algorithms.includes(header.alg)) {
    const expected = rules.algorithms.join(', ');
    throw new JWTVerificationError(
      'ALGORITHM_NOT_ALLOWED',
      `The token is signed with ${printable(header.alg)}, not with ${expected}.`,
    );
  }
  if (rules.types && !rules.types.includes(header.typ?.toLowerCase().replace(/^application\//, ''))) {
    throw new JWTVerificationError('TYPE_MISMATCH', `The token is of type ${printable(header.typ ?? 'none')}.`);
  }
  const key = await source(header);
  if (!key.algorithms.includes(header.alg)) {
    throw new JWTVerificationError(
      'KEY_TYPE_MISMATCH',
      `The token is signed with ${header.alg}, which does not match the type of the key.`,
    );
  }
  try {
    const { payload } = await jwtVerify(token, await key.importFor(header.alg), joseOptions(rules));
    if (rules.nonce !== undefined && payload['nonce'] !== rules.nonce) {
      throw new JWTVerificationError('NONCE_MISMATCH', 'The token’s nonce does not match.');
    }
    return payload as JwtClaims;
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError)) throw cause;
    const [code, problem] = describe(cause);
    throw new JWTVerificationError(code, problem, { cause });
  }
}

function joseOptions(rules: Rules) {
  const { audience, issuer } = rules;
  return {
    algorithms: rules.algorithms,
    clockTolerance: rules.leeway ?? 0,
    currentDate: new Date(rules.now ?? Date.now()),
    ...(audience === undefined ? {} : { audience }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(rules.requiredClaims ? { requiredClaims: rules.requiredClaims } : {}),
  };
}

interface Header extends KeyQuery {
  typ: string | undefined;
}

function headerOf(token: unknown): Header {
  if (typeof token !== 'string' || token.length > maxTokenLength)
    malformed('The token is not a string, or is too long.');
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isBase64url)) malformed('The token does not have three base64url parts.');
  let header: unknown;
  try {
    header = JSON.parse(textOf(fromBase64url(parts[0] as string)));
  } catch (cause) {
    malformed('The token’s header is not JSON.', cause);
  }
  const { alg, kid, typ } = (header ?? {}) as Record<string, unknown>;
  if (typeof alg !== 'string') malformed('The token’s header has no alg.');
  for (const value of [kid, typ]) {
    if (value !== undefined && typeof value !== 'string') malformed('The token’s header is malformed.');
  }
  return { alg, kid: kid as string | undefined, typ: typ as string | undefined };
}

function malformed(problem: string, cause?: unknown): never {
  throw new JWTVerificationError('MALFORMED', problem, { cause });
}

const mismatches: Record<string, readonly [JWTVerificationErrorCode, string]> = {
  iss: ['ISSUER_MISMATCH', 'The token is from another issuer.'],
  aud: ['AUDIENCE_MISMATCH', 'The token is for another audience.'],
  nbf: ['NOT_YET_VALID', 'The token is not valid yet.'],
};

/** Maps jose's errors to this library's. */
function describe(
  error: Error & { code: string; claim?: string; reason?: string },
): readonly [JWTVerificationErrorCode, string] {
  const { claim = '', code, reason } = error;
  if (code === 'ERR_JWT_EXPIRED') return ['EXPIRED', 'The token has expired.'];
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED')
    return ['SIGNATURE_INVALID', 'The token’s signature is invalid.'];
  if (code !== 'ERR_JWT_CLAIM_VALIDATION_FAILED') return ['MALFORMED', 'The token is malformed.'];
  const mismatch = mismatches[claim];
  if (mismatch && reason !== 'invalid') return mismatch;
  if (reason === 'missing') return ['CLAIM_MISSING', `The token has no ${claim}.`];
  return ['CLAIM_INVALID', `The token’s ${claim} is invalid.`];
}

/** Untrusted text for a message: truncated, without control characters. */
export function printable(text: unknown): string {
  return String(text)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 60);
}
