import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../kernel/clock.ts';
import type { Keys } from './keys.ts';
import type { SigningAlgorithm } from './signing-key.entity.ts';

/** The kinds of token that the issuer makes. The kind fixes `typ` and algorithm, so that none passes for another. */
export const tokenKinds = {
  'id-token': { typ: 'JWT', alg: 'ES512' },
  'access-token': { typ: 'at+jwt', alg: 'EdDSA' },
  'logout-secevent': { typ: 'secevent+jwt', alg: 'ES512' },
  'logout-logout': { typ: 'logout+jwt', alg: 'ES512' },
} as const satisfies Record<string, { typ: string; alg: SigningAlgorithm }>;
export type TokenKind = keyof typeof tokenKinds;

/** Signs and verifies the issuer's own tokens. Only claims that we compose are signed, never a caller's bytes. */
export class Signer {
  private readonly keys: Keys;
  private readonly clock: Clock;
  readonly issuer: string;

  constructor(keys: Keys, clock: Clock, issuer: string) {
    this.keys = keys;
    this.clock = clock;
    this.issuer = issuer;
  }

  /** A compact JWS with `kid` and `typ`. Signing runs off the event loop. */
  async sign(kind: TokenKind, claims: JWTPayload): Promise<string> {
    const { typ, alg } = tokenKinds[kind];
    const key = await this.keys.signing(alg);
    return new SignJWT({ iss: this.issuer, ...claims })
      .setProtectedHeader({ alg, typ, kid: key.kid })
      .sign(key.signKey);
  }

  /**
   * The claims of a token of ours of exactly this kind; null when it is anything else: malformed, altered, of another
   * kind or issuer, signed by a withdrawn or unknown key, or (unless `expiredIsFine`) past its time.
   */
  async verify(
    kind: TokenKind,
    token: string,
    options: { audience?: string; expiredIsFine?: boolean } = {},
  ): Promise<JWTPayload | null> {
    const { typ, alg } = tokenKinds[kind];
    try {
      const header = decodeProtectedHeader(token);
      const key = (await this.keys.published()).find((one) => one.kid === header.kid && one.alg === alg);
      if (!key || header.alg !== alg || header.typ !== typ) return null;
      const { payload } = await jwtVerify(token, key.verifyKey, {
        algorithms: [alg],
        typ,
        issuer: this.issuer,
        ...(options.audience === undefined ? {} : { audience: options.audience }),
        // Expiry is judged on our clock; an expired hint is judged at its own last instant.
        currentDate: options.expiredIsFine ? lastInstant(token) : this.clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError) return null;
      throw error;
    }
  }
}

function lastInstant(token: string): Date {
  const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const issuedAt = (payload as { iat?: unknown } | null)?.iat;
  return new Date(typeof issuedAt === 'number' ? issuedAt * 1000 : 0);
}
