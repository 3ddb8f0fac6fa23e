import type { EntityManager } from '@mikro-orm/postgresql';
import { hasAccess } from '../access/has-access.ts';
import type { Audit } from '../audit/audit.ts';
import type { Claims } from '../claims/claims.ts';
import type { Client } from '../clients/client.entity.ts';
import type { ClientSource } from '../clients/client-registry.ts';
import { isOfLiveCredential } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { isAllowed } from '../consents/consents.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import type { Vault } from '../keys/vault.ts';
import type { Issuer } from '../projects/issuer.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { subOf, type WithSub } from '../users/identity/sub.ts';
import { type ProfileSource, profileOf, profileProperties } from '../users/profile.ts';
import { selectionOf } from '../users/user-record.ts';
import { boundKeyOf } from './claims.ts';
import { authorizationCode, type Exchange } from './grants/authorization-code.ts';
import { grantTokens } from './grants/grant.ts';
import { type Refresh, refreshToken } from './grants/refresh-token.ts';
import type { Mint, TokenResponse } from './mint.ts';
import { type CodeColumns, insertedCode, userHasAccess } from './new-code.ts';
import { parseRefreshToken } from './refresh-token.ts';
import { codeUnderSession, type SessionCode } from './session-code.ts';

/** The reason why an access token of a user is refused (RFC 6750 §3.1). */
type TokenRefused =
  | { refused: 'invalid_token' | 'insufficient_scope' }
  /** The token is bound to a key, and came without a proof; or the other way round (RFC 9449 §7.1). */
  | { refused: 'bound' | 'not-bound' };

/** UserInfo's claims, or the reason for its refusal. */
export type UserInfoOutcome = { claims: Record<string, unknown>; clientId: string } | TokenRefused;

/** The user of an access token and its scopes, or the reason for its refusal. */
export type PersonOutcome = { userId: string; scopes: string[] } | TokenRefused;

/** Authorization codes and the tokens issued for them. */
export class Tokens {
  private readonly codes: ReturnType<typeof authorizationCode>;
  private readonly refreshTokens: ReturnType<typeof refreshToken>;

  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      vault: Vault;
      mint: Mint;
      signer: Pick<Signer, 'verifyAccessToken'>;
      clients: Pick<ClientSource, 'byId'>;
      /** Claims of applications, if the issuer has them. Those of this layer take precedence. */
      applicationClaims: Pick<Claims, 'forUserInfo'>;
    },
  ) {
    this.codes = authorizationCode(deps);
    this.refreshTokens = refreshToken(deps);
  }

  /**
   * Returns a new code (RFC 6749 §4.1.2). Refuses `no-access`, and `hosted-page-required` if the user must be asked for consent
   * first.
   */
  async issueCode(em: EntityManager, columns: CodeColumns): Promise<string> {
    const code = newSecret(this.deps.random);
    const made = { random: this.deps.random, hash: digest(code), now: this.deps.clock.now() };
    const inserted = await execute(em, insertedCode(made, columns), { prepare: 'tokens.issue-code' });
    if (inserted === 0) refuse({ code: (await userHasAccess(em, columns)) ? 'hosted-page-required' : 'no-access' });
    return code;
  }

  /** See {@link codeUnderSession}. */
  codeUnderSession(asked: SessionCode): ReturnType<typeof codeUnderSession> {
    return codeUnderSession(this.deps, asked);
  }

  /** Redeems a code, see `grants/authorization-code.ts`. Null if the cached client is stale. Refuses as `grantTokens`. */
  exchange(exchange: Exchange): Promise<TokenResponse | null> {
    return grantTokens(this.deps, this.codes, exchange);
  }

  /** Replaces a refresh token, see `grants/refresh-token.ts`. Null and refusals as {@link exchange}. @param refresh.token as sent */
  refresh(refresh: Omit<Refresh, 'token'> & { token: string }): Promise<TokenResponse | null> {
    const token = parseRefreshToken(refresh.token);
    if (!token) refuse({ code: 'grant-rejected', reason: 'malformed' });
    return grantTokens(this.deps, this.refreshTokens, { ...refresh, token });
  }

  /**
   * UserInfo's claims for an access token (OpenID Connect Core §5.3), unless its session was ended. An idle or expired
   * session does not revoke the token. Refuses `proof-rejected` for a replayed proof, and `nonce-rejected` if the client's
   * proofs need a nonce.
   *
   * @param issuer the only issuer whose tokens are valid here
   * @param proof for a token that is bound to a key; single use
   */
  async userInfo(accessToken: string, issuer: Issuer, proof?: CheckedProof): Promise<UserInfoOutcome> {
    const outcome = await this.holder(accessToken, issuer, proof);
    if ('refused' in outcome) return outcome;
    const { client, scopes, user } = outcome;
    const of = { client: keyIn(client.project.id, client.id), userId: user.id, scopes };
    const further = issuer.capabilities.applicationClaims
      ? await this.deps.applicationClaims.forUserInfo(this.deps.db.alone, of)
      : null;
    return { claims: { ...further, ...userInfoClaims(user, scopes) }, clientId: user.clientId };
  }

  /** The user of an access token for UserInfo. Refuses as {@link userInfo} does. */
  async person(accessToken: string, issuer: Issuer, proof?: CheckedProof): Promise<PersonOutcome> {
    const outcome = await this.holder(accessToken, issuer, proof);
    return 'refused' in outcome ? outcome : { userId: outcome.user.id, scopes: outcome.scopes };
  }

  private async holder(
    accessToken: string,
    issuer: Issuer,
    proof: CheckedProof | undefined,
  ): Promise<{ user: UserInfo; client: Client; scopes: string[] } | TokenRefused> {
    const token = await this.deps.signer.verifyAccessToken(accessToken, issuer);
    if (!token || !isUuid(token.jti) || typeof token['scope'] !== 'string') return { refused: 'invalid_token' };
    const scopes = token['scope'].split(' ');
    if (!scopes.includes('openid')) return { refused: 'insufficient_scope' };
    const jkt = boundKeyOf(token);
    if ((jkt === null) !== (proof === undefined)) return { refused: jkt === null ? 'not-bound' : 'bound' };
    if (proof && proof.jkt !== jkt) return { refused: 'invalid_token' };
    // Possibly cached: the statement checks the client.
    const client = await this.deps.clients.byId(String(token['client_id']));
    if (!client) return { refused: 'invalid_token' };
    const user = await this.userOf(client, token.jti, proof);
    return user ? { user, client, scopes } : { refused: 'invalid_token' };
  }

  /** The user of a live access token; records the proof. */
  private async userOf(
    client: Client,
    tokenId: string,
    proof: CheckedProof | undefined,
  ): Promise<UserInfo | undefined> {
    const allowed = isAllowed({
      ...{ isThirdParty: sql`k.third_party`, projectId: sql`t.project_id`, clientId: sql`t.client_id` },
      ...{ userId: sql`t.user_id`, scope: sql`t.scope` },
    });
    const entering = hasAccess({
      ...{ access: sql`k.access`, projectId: sql`t.project_id`, clientId: sql`t.client_id`, userId: sql`t.user_id` },
    });
    const bound = proof
      ? sql`, t.project_id, t.client_id, k.dpop_nonce_required and not ${proof.hasNonce}::boolean as "lacksNonce"`
      : sql``;
    const live = sql<UserInfo>`select r.id, r.subject, ${sql.raw(selectionOf(profileProperties))}, t.client_id as "clientId"${bound}
      from (select project_id, user_id, client_id, session_id, scope, credential from authorization_codes
          where project_id = ${client.project.id}::uuid and id = ${tokenId}::uuid and client_id = ${client.id}::uuid
            and revoked_at is null offset 0) t
        join users r on r.project_id = t.project_id and r.id = t.user_id
        join clients k on k.project_id = t.project_id and k.id = t.client_id
      where r.active and k.disabled_at is null and ${entering} and ${allowed} and ${isOfLiveCredential}
        and (${proof !== undefined}::boolean or not (k.dpop_required or k.fapi_profile))
        and (select ended_at from sessions where project_id = t.project_id and id = t.session_id) is null`;
    if (!proof) return (await query(this.deps.db.alone, live, { prepare: 'tokens.user-info' }))[0];
    const proving = sql`(select project_id, client_id from live where not "lacksNonce") proving`;
    const [user] = await query(
      this.deps.db.alone,
      sql<ProvedUser>`with live as materialized (${live}), proof as (${usedProof(proof, proving)})
        select live.*, exists (select from proof) as "isFresh" from live`,
      { prepare: 'tokens.user-info-with-proof' },
    );
    if (user?.lacksNonce) refuse({ code: 'nonce-rejected' });
    if (user?.isFresh === false) refuseUsedProof();
    return user;
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

interface UserInfo extends ProfileSource, WithSub {
  clientId: string;
}

interface ProvedUser extends UserInfo {
  lacksNonce: boolean;
  isFresh: boolean;
}

/** Claims of each scope (OpenID Connect Core §5.4). */
const claimsOfScope: Record<string, readonly string[]> = {
  profile: ['name', 'given_name', 'family_name', 'birthdate', 'locale', 'zoneinfo', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
  address: ['address'],
};

function userInfoClaims(user: UserInfo, scopes: readonly string[]): Record<string, unknown> {
  const profile: Record<string, unknown> = { ...profileOf({ ...user, updatedAt: new Date(user.updatedAt) }) };
  const claims: Record<string, unknown> = { sub: subOf(user) };
  for (const scope of scopes) {
    for (const name of claimsOfScope[scope] ?? []) if (profile[name] !== undefined) claims[name] = profile[name];
  }
  return claims;
}
