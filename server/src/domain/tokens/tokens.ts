import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Claims } from '../claims/claims.ts';
import type { CheckedProof } from '../clients/dpop/dpop-proofs.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { homeClaims, organizationClaims, withoutOrganizationClaims } from '../organizations/organization-claims.ts';
import { type Issuer, organizationsScope } from '../projects/issuer.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { authorizationCode, type Exchange } from './grants/authorization-code.ts';
import { grantTokens } from './grants/grant.ts';
import { type Refresh, refreshToken } from './grants/refresh-token.ts';
import { HeldFacts } from './held-facts.ts';
import type { Grant, Mint, TokenResponse } from './mint.ts';
import { type CodeColumns, insertedCode, userHasAccess } from './new-code.ts';
import { parseRefreshToken } from './refresh-token.ts';
import { codeUnderSession, type SessionCode } from './session-code.ts';
import { type HolderDeps, holderOf, type TokenRefused, userInfoClaims } from './user-info.ts';

/** UserInfo's claims, or the reason for its refusal. */
export type UserInfoOutcome = { claims: Record<string, unknown>; clientId: string } | TokenRefused;

/** The user of an access token and its scopes, or the reason for its refusal. */
export type PersonOutcome = { userId: string; scopes: string[] } | TokenRefused;

/** Authorization codes and the tokens issued for them. */
export class Tokens {
  private readonly held: HeldFacts;
  private readonly codes: ReturnType<typeof authorizationCode>;
  private readonly refreshTokens: ReturnType<typeof refreshToken>;

  constructor(
    private readonly deps: HolderDeps & {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      vault: Vault;
      mint: Mint;
      /** Claims of applications, if the issuer has them. Those of this layer take precedence. */
      applicationClaims: Pick<Claims, 'forUserInfo'>;
    },
  ) {
    this.held = new HeldFacts(deps);
    this.codes = authorizationCode({ ...deps, held: this.held.codes });
    this.refreshTokens = refreshToken(deps);
  }

  /**
   * Returns a new code (RFC 6749 §4.1.2). Refuses `no-access`, and `hosted-page-required` if the user must be asked for consent
   * first.
   */
  async issueCode(em: EntityManager, columns: CodeColumns): Promise<string> {
    const code = newSecret(this.deps.random);
    const made = { id: this.deps.random.id(), hash: digest(code), now: this.deps.clock.now() };
    const inserted = await execute(em, insertedCode(made, columns), { prepare: 'tokens.issue-code' });
    if (inserted === 0) refuse({ code: (await userHasAccess(em, columns)) ? 'hosted-page-required' : 'no-access' });
    return code;
  }

  /** See {@link codeUnderSession}. */
  codeUnderSession(asked: SessionCode): ReturnType<typeof codeUnderSession> {
    return codeUnderSession({ ...this.deps, held: this.held }, asked);
  }

  /** Redeems a code, see `grants/authorization-code.ts`. Null if the cached client is stale. Refuses as `grantTokens`. */
  exchange(exchange: Exchange): Promise<TokenResponse | null> {
    return grantTokens(this.deps, this.codes, exchange);
  }

  /** Like {@link exchange}, for another response than tokens. */
  redeem<Response>(exchange: Exchange, respond: (grant: Grant) => Promise<Response>): Promise<Response | null> {
    return grantTokens({ ...this.deps, mint: { tokens: respond } }, this.codes, exchange);
  }

  /** Replaces a refresh token, see `grants/refresh-token.ts`. Null and refusals as {@link exchange}. @param refresh.token as sent */
  refresh(refresh: Omit<Refresh, 'token'> & { token: string }): Promise<TokenResponse | null> {
    const token = parseRefreshToken(refresh.token);
    if (!token) refuse({ code: 'grant-rejected', reason: 'malformed' });
    return grantTokens(this.deps, this.refreshTokens, { ...refresh, token });
  }

  /** UserInfo's claims for an access token (OpenID Connect Core §5.3). Parameters and refusals: {@link holderOf}. */
  async userInfo(accessToken: string, issuer: Issuer, proof?: CheckedProof): Promise<UserInfoOutcome> {
    const holder = await holderOf(this.deps, accessToken, issuer, proof);
    if ('refused' in holder) return holder;
    const { client, scopes, user } = holder;
    const of = { client: keyIn(client.project.id, client.id), userId: user.id, scopes };
    const further = issuer.capabilities.applicationClaims
      ? await this.deps.applicationClaims.forUserInfo(this.deps.db.alone, of)
      : null;
    const { id: projectId, organizationsEnabled } = client.project.getEntity();
    if (!issuer.capabilities.organizations || !organizationsEnabled) {
      return { claims: { ...further, ...userInfoClaims(holder) }, clientId: client.id };
    }
    const { homeId, organizationId } = holder;
    const listsAll = scopes.includes(organizationsScope);
    const ofOrganization = await organizationClaims(this.deps.db.alone, {
      projectId,
      userId: user.id,
      organizationId,
      listsAll,
    });
    const hasEmail = homeId !== null && scopes.includes('email');
    const ofHome = hasEmail ? await homeClaims(this.deps.db.alone, keyIn(projectId, homeId), user.email) : {};
    const claims = {
      ...withoutOrganizationClaims(further),
      ...ofOrganization,
      ...userInfoClaims(holder),
      ...ofHome,
    };
    return { claims, clientId: client.id };
  }

  /** The user of an access token for UserInfo. Parameters and refusals: {@link holderOf}. */
  async person(accessToken: string, issuer: Issuer, proof?: CheckedProof): Promise<PersonOutcome> {
    const holder = await holderOf(this.deps, accessToken, issuer, proof);
    return 'refused' in holder ? holder : { userId: holder.user.id, scopes: holder.scopes };
  }

  /** Revokes the access token of this code. */
  async revoke(em: EntityManager, { project, id }: TenantKey): Promise<void> {
    const now = this.deps.clock.now();
    await execute(
      em,
      sql`update authorization_codes set revoked_at = ${now} where project_id = ${project.id} and id = ${id} and revoked_at is null`,
    );
  }
}
