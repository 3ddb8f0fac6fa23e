import type { JWTPayload } from 'jose';
import type { Audit } from '../../audit/audit.ts';
import { boundKeyOf } from '../../clients/dpop/binding.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import type { Random } from '../../kernel/random.ts';
import { isUuid } from '../../kernel/secret.ts';
import type { Signer } from '../../keys/signer.ts';
import type { Issuer } from '../../projects/issuer.ts';
import type { Act } from '../api-token.ts';
import { grantTokens } from '../grants/grant.ts';
import { actOf, type SignedToken, type TokenExchange, tokenExchange, untilOf } from '../grants/token-exchange.ts';
import type { ExchangeResponse, Mint } from '../mint.ts';

/** Access tokens as they were sent. */
export interface SentExchange extends Omit<TokenExchange, 'subject' | 'acting'> {
  subjectToken: string;
  actorToken: string | undefined;
}

/** Exchanges of access tokens for those of other APIs (RFC 8693, decisions/0410). */
export class TokenExchanges {
  private readonly kind: ReturnType<typeof tokenExchange>;

  constructor(
    private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; signer: Signer; mint: Mint },
  ) {
    this.kind = tokenExchange(deps);
  }

  /** Null if the cached client is stale. Refuses as `grantTokens`; `malformed` for a token that is not one of the issuer's APIs. */
  async exchange({ subjectToken, actorToken, ...request }: SentExchange): Promise<ExchangeResponse | null> {
    const subject = await this.signed(subjectToken, request.issuer);
    if (!subject) refuse({ code: 'grant-rejected', reason: 'malformed' });
    const acting = actorToken === undefined ? undefined : await this.signed(actorToken, request.issuer);
    if (acting === null) refuse({ code: 'grant-rejected', reason: 'actor' });
    const exchange = { ...request, subject, acting };
    const mint = {
      tokens: (...[grant, issuer]: Parameters<Mint['tokens']>) =>
        this.deps.mint.exchanged(grant, issuer, { act: actOf(exchange), until: untilOf(exchange) }),
    };
    return grantTokens({ ...this.deps, mint }, this.kind, exchange);
  }

  /** Null: not an access token for an API of the issuer, or expired. */
  private async signed(token: string, issuer: Issuer): Promise<SignedToken | null> {
    const claims = await this.deps.signer.verify('api-token', token, { issuer });
    return claims && signedTokenOf(claims);
  }
}

function signedTokenOf(claims: JWTPayload): SignedToken | null {
  const { aud, client_id: clientId, exp, jti, scope = '', sub } = claims;
  if (!isUuid(jti) || typeof aud !== 'string' || typeof clientId !== 'string' || typeof scope !== 'string') return null;
  if (sub === undefined || exp === undefined) return null;
  const act = claims['act'] as Act | undefined;
  return { id: jti, sub, clientId, audience: aud, scope, expiresAt: exp, jkt: boundKeyOf(claims), act };
}
