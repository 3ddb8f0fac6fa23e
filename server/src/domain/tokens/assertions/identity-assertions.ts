import type { JWTPayload } from 'jose';
import type { Audit } from '../../audit/audit.ts';
import { clientIdOf } from '../../clients/client-id.ts';
import { boundKeyOf } from '../../clients/dpop/binding.ts';
import { checkedAssertion } from '../../connections/assertions/assertion-claims.ts';
import type { AssertionIssuers } from '../../connections/assertions/assertion-issuers.ts';
import { type Clock, seconds } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import type { Random } from '../../kernel/random.ts';
import { isUuid } from '../../kernel/secret.ts';
import type { Signer } from '../../keys/signer.ts';
import type { Issuers } from '../../projects/issuers.ts';
import { type GrantRequest, grantTokens } from '../grants/grant.ts';
import type { AcceptedResponse, AssertionResponse, Mint } from '../mint.ts';
import { parseRefreshToken } from '../refresh-token.ts';
import { type AssertionRequest, acceptedAssertion } from './accepted.ts';
import { assertionForIdToken, assertionForRefreshToken, type SignedIdToken } from './issued.ts';

/** An identity assertion that was sent. */
export interface SentAssertion extends Omit<AssertionRequest, 'trusted' | 'claims'> {
  text: string;
}

/** A request for an identity assertion, with the token that proves the user. */
export interface SentSubject extends GrantRequest {
  type: 'id_token' | 'refresh_token';
  token: string;
  /** The issuer of the other server. */
  audience: string;
  /** Identifiers of APIs there; empty: all that the settings of the client name. */
  resources: readonly string[];
  /** Absent: all that the settings of the client name. Without duplicates. */
  scope: string | undefined;
}

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  mint: Mint;
  signer: Signer;
  issuers: Pick<Issuers, 'ofUrl'>;
  assertionIssuers: AssertionIssuers;
}

/** Identity assertions (ID-JAG) for other servers, and access tokens for those of other issuers (decisions/0425). */
export class IdentityAssertions {
  private readonly kind: ReturnType<typeof acceptedAssertion>;
  private readonly byIdToken: ReturnType<typeof assertionForIdToken>;
  private readonly byRefreshToken: ReturnType<typeof assertionForRefreshToken>;

  constructor(private readonly deps: Deps) {
    this.kind = acceptedAssertion(deps);
    this.byIdToken = assertionForIdToken(deps);
    this.byRefreshToken = assertionForRefreshToken(deps);
  }

  /** An assertion for another server. Null if the cached client is stale. Refuses as `grantTokens`; `no-cross-app-access`, `target` and `scope` by the settings of the client. */
  async issue({ type, token, audience, resources, scope, ...request }: SentSubject): Promise<AssertionResponse | null> {
    const { client, issuer } = request;
    const server = (client.crossAppAccess ?? []).find((one) => one.audience === audience);
    if (!server) return refuse({ code: 'grant-rejected', reason: 'no-cross-app-access' });
    if (!resources.every((one) => server.resources.includes(one))) refuse({ code: 'grant-rejected', reason: 'target' });
    const wanted = scope?.split(' ') ?? server.scopes;
    if (!wanted.every((one) => server.scopes.includes(one))) refuse({ code: 'grant-rejected', reason: 'scope' });
    const named = resources.length > 0 ? resources : server.resources;
    const target = { audience, clientId: server.clientId, resources: named };
    const asked = { ...request, target, wanted: wanted.join(' ') };
    const tokens = (...[grant, of]: Parameters<Mint['tokens']>) => this.deps.mint.assertion(grant, of, target);
    const granting = { ...this.deps, mint: { tokens } };
    if (type === 'refresh_token') {
      const refreshToken = parseRefreshToken(token);
      if (!refreshToken) refuse({ code: 'grant-rejected', reason: 'malformed' });
      return grantTokens(granting, this.byRefreshToken, { ...asked, token: refreshToken, scope: undefined });
    }
    const claims = await this.deps.signer.verify('id-token', token, { issuer, audience: clientIdOf(client) });
    const subject = claims && signedIdTokenOf(claims);
    if (!subject) return refuse({ code: 'grant-rejected', reason: 'malformed' });
    return grantTokens(granting, this.byIdToken, { ...asked, subject });
  }

  /** Null if the cached client is stale. Refuses as `grantTokens`, also for the assertion itself. */
  async accept({ text, ...request }: SentAssertion): Promise<AcceptedResponse | null> {
    const { clock, mint } = this.deps;
    const { client, issuer } = request;
    const signed = await this.deps.assertionIssuers.verified(client.project.id, text);
    if ('fault' in signed) refuse({ code: 'grant-rejected', reason: signed.fault });
    const { trusted } = signed;
    // Section 8.3: never for its own assertion, also by another of its addresses.
    const own = await this.deps.issuers.ofUrl(trusted.issuer);
    if (own?.project?.id === client.project.id) refuse({ code: 'grant-rejected', reason: 'untrusted-issuer' });
    const expected = { audience: issuer.url, clientId: clientIdOf(client), nowSeconds: seconds(clock.now()) };
    const claims = checkedAssertion(signed.claims, { ...trusted, ...expected });
    if ('fault' in claims) refuse({ code: 'grant-rejected', reason: claims.fault });
    const tokens = (...[grant, of]: Parameters<Mint['tokens']>) => mint.accepted(grant, of);
    return grantTokens({ ...this.deps, mint: { tokens } }, this.kind, { ...request, trusted, claims });
  }
}

/** Of claims that this server signed. */
function signedIdTokenOf(claims: JWTPayload): SignedIdToken | null {
  const { acr, amr, auth_time: authTime, email, org_id: organizationId, sid, sub } = claims;
  if (sub === undefined || typeof authTime !== 'number' || !Array.isArray(amr)) return null;
  return {
    ...{ sub, sessionId: isUuid(sid) ? sid : null, organizationId: isUuid(organizationId) ? organizationId : null },
    ...{ authTime: new Date(authTime * 1000), amr: amr.map(String), acr: typeof acr === 'string' ? acr : null },
    ...{ hasEmail: email !== undefined, jkt: boundKeyOf(claims) },
  };
}
