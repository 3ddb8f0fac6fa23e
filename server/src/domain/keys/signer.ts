import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { isCompactJws } from '../kernel/base64url.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import { digest } from '../kernel/secret.ts';
import { baseIssuer, type Issuer } from '../projects/issuer.ts';
import { type Keys, skewSeconds } from './keys.ts';
import type { SigningAlgorithm } from './signing-key.entity.ts';

/** Signature of access tokens for APIs: most libraries verify it. */
export const apiTokenAlgorithm = 'ES256';

/**
 * Kinds of token. The kind fixes `typ` and, except for ID tokens and introspection at projects, the algorithm, so that
 * one cannot be used as another. An access token for UserInfo and one for an API differ in the algorithm.
 */
const tokenKinds = {
  'id-token': { typ: 'JWT', alg: 'ES512' },
  'access-token': { typ: 'at+jwt', alg: 'EdDSA' },
  'api-token': { typ: 'at+jwt', alg: apiTokenAlgorithm },
  'identity-assertion': { typ: 'oauth-id-jag+jwt', alg: apiTokenAlgorithm },
  introspection: { typ: 'token-introspection+jwt', alg: 'ES512' },
  'logout-secevent': { typ: 'secevent+jwt', alg: 'ES512' },
  'logout-logout': { typ: 'logout+jwt', alg: 'ES512' },
} as const satisfies Record<string, { typ: string; alg: SigningAlgorithm }>;
export type TokenKind = keyof typeof tokenKinds;

/** Issuer and algorithm of a signature. */
export interface Signing {
  /** `iss`. */
  issuer?: string;
  alg?: SigningAlgorithm;
}

/** An access token that this process signed, or whose signature it has verified. */
interface Verified {
  kid: string;
  payload: JWTPayload;
}

const maxVerified = 5000;

/** Signs and verifies the issuer's tokens. Signs only claims composed here, never a caller's bytes. */
export class Signer {
  /** The base issuer. */
  readonly base: Issuer;
  /** By SHA-256 of the token. */
  private readonly verified = new Map<string, Verified>();

  constructor(
    private readonly deps: { keys: Pick<Keys, 'find' | 'published' | 'signing'>; clock: Clock; issuer: string },
  ) {
    this.base = baseIssuer(deps.issuer);
  }

  /**
   * A compact JWS with `kid` and `typ`. Signing runs off the event loop.
   *
   * @param as `iss`, by default the base issuer's, and the algorithm, by default that of the kind
   */
  async sign(kind: TokenKind, claims: JWTPayload, as: Signing = {}): Promise<string> {
    const { typ, alg } = { ...tokenKinds[kind], ...as };
    const key = await this.deps.keys.signing(alg);
    const payload = JSON.stringify({ iss: as.issuer ?? this.base.url, ...claims });
    const input = `${segment(JSON.stringify({ alg, typ, kid: key.kid }))}.${segment(payload)}`;
    const signature = await key.sign(Buffer.from(input));
    const token = `${input}.${Buffer.from(signature).toString('base64url')}`;
    // The token is usually sent to UserInfo next.
    if (kind === 'access-token') this.remember(digest(token), { kid: key.kid, payload: JSON.parse(payload) });
    return token;
  }

  /**
   * Like {@link verify}, for access tokens: caches signatures that were made or verified here. Issuer, audience, expiry
   * and the key's publication are checked each time.
   */
  async verifyAccessToken(token: string, issuer: Issuer): Promise<JWTPayload | null> {
    const name = digest(token);
    const known = this.verified.get(name);
    if (!known) {
      const payload = await this.verify('access-token', token, { issuer, audience: issuer.url });
      const { kid } = payload ? decodeProtectedHeader(token) : {};
      if (payload && typeof kid === 'string') this.remember(name, { kid, payload });
      return payload;
    }
    const { aud, exp, iss, nbf } = known.payload;
    const now = seconds(this.deps.clock.now());
    const isTimely = exp !== undefined && exp > now && (nbf === undefined || nbf <= now + skewSeconds);
    const isPublished = (await this.deps.keys.published()).some(({ kid }) => kid === known.kid);
    if (iss !== issuer.url || aud !== issuer.url) return null;
    if (isTimely && isPublished) return known.payload;
    this.verified.delete(name);
    return null;
  }

  /** Now, or when the token becomes valid, if another process with a clock that is ahead has just issued it. */
  private now(token: string): Date {
    const now = this.deps.clock.now();
    const notBefore = numericDate(token, 'nbf');
    return notBefore > now && notBefore <= secondsLater(now, skewSeconds) ? notBefore : now;
  }

  private remember(name: string, verified: Verified): void {
    // Evict the oldest: it expires first.
    if (this.verified.size >= maxVerified) this.verified.delete(this.verified.keys().next().value as string);
    this.verified.set(name, verified);
  }

  /**
   * The claims of our token of this kind; null if it is malformed, altered, of another kind or issuer, signed by a
   * withdrawn or unknown key, or (unless `expiredIsFine`) expired.
   */
  async verify(
    kind: TokenKind,
    token: string,
    options: { issuer?: Issuer; audience?: string; expiredIsFine?: boolean } = {},
  ): Promise<JWTPayload | null> {
    const { typ } = tokenKinds[kind];
    const issuer = options.issuer ?? this.base;
    const algorithms: readonly string[] =
      kind === 'id-token' ? issuer.capabilities.idTokenAlgorithms : [tokenKinds[kind].alg];
    if (!isCompactJws(token)) return null;
    try {
      const header = decodeProtectedHeader(token);
      if (header.typ !== typ || !algorithms.includes(header.alg ?? '')) return null;
      const key = await this.deps.keys.find(header.kid);
      if (!key || key.alg !== header.alg) return null;
      const { payload } = await jwtVerify(token, key.verifyKey, {
        algorithms: [key.alg],
        typ,
        issuer: issuer.url,
        ...(options.audience === undefined ? {} : { audience: options.audience }),
        // Checks expiry by our clock; an expired hint is checked at its last valid instant.
        currentDate: options.expiredIsFine ? numericDate(token, 'iat') : this.now(token),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError) return null;
      throw error;
    }
  }
}

function segment(json: string): string {
  return Buffer.from(json).toString('base64url');
}

function numericDate(token: string, claim: 'iat' | 'nbf'): Date {
  const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const value = (payload as Record<string, unknown> | null)?.[claim];
  return new Date(typeof value === 'number' ? value * 1000 : 0);
}
