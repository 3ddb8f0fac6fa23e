import type { EntityManager } from '@mikro-orm/postgresql';
import { missesTarget } from '../apis/token-target.ts';
import type { Audit } from '../audit/audit.ts';
import type { Claims } from '../claims/claims.ts';
import type { Client } from '../clients/client.entity.ts';
import type { ClientSource } from '../clients/client-registry.ts';
import { isOfLiveCredential } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { isAllowed } from '../consents/consents.ts';
import { type Clock, seconds } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { type Issuer, idTokenAlgorithmOf, storedIssuer } from '../projects/issuer.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { type ProfileSource, profileOf, profileProperties } from '../users/profile.ts';
import { selectionOf } from '../users/user-record.ts';
import { AuthorizationCode } from './authorization-code.entity.ts';
import {
  type ApiToken,
  accessTokenClaims,
  apiTokenClaims,
  boundKeyOf,
  clampAccessTokenTtl,
  type Grant,
  grantedScope,
  idTokenClaims,
} from './claims.ts';
import { type CodeColumns, insertedCode } from './new-code.ts';
import { type Exchange, type RedemptionRow, redemption, toGrant } from './redemption.ts';
import { firstToken } from './refresh-token.ts';
import { codeUnderSession, type SessionCode } from './session-code.ts';
import { endRefreshGrant } from './user-tables.ts';

/** The token response (service.md 2.2). */
export interface TokenResponse {
  /** Absent for an API if the scope lacks `openid`. */
  id_token?: string;
  access_token: string;
  /** `DPoP`: bound to the key of the request's proof. */
  token_type: 'Bearer' | 'DPoP';
  expires_in: number;
  /** Absent for a token for an API without scopes. */
  scope?: string;
  refresh_token?: string;
}

type ApplicationClaims = Record<string, unknown> | null;

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
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      signer: Signer;
      clients: Pick<ClientSource, 'byId'>;
      /** Claims of applications, if the issuer has them. Those of this layer take precedence. */
      applicationClaims: Pick<Claims, 'forIdToken' | 'forUserInfo'>;
    },
  ) {}

  /** Returns a new code (RFC 6749 §4.1.2). Refuses `hosted-page-required` if the user must be asked for consent first. */
  async issueCode(em: EntityManager, columns: CodeColumns): Promise<string> {
    const code = newSecret(this.deps.random);
    const made = { random: this.deps.random, hash: digest(code), now: this.deps.clock.now() };
    const inserted = await execute(em, insertedCode(made, columns), { prepare: 'tokens.issue-code' });
    if (inserted === 0) refuse({ code: 'hosted-page-required' });
    return code;
  }

  /** See {@link codeUnderSession}. */
  codeUnderSession(asked: SessionCode): ReturnType<typeof codeUnderSession> {
    return codeUnderSession(this.deps, asked);
  }

  /**
   * Redeems a code (RFC 6749 §4.1.3, RFC 7636 §4.6); single use. Null, with nothing written, if the cached client is
   * stale. Refuses `client-rejected` for a replayed assertion, `proof-rejected` for a replayed proof, and
   * `grant-rejected` if the code is unknown, expired, used, another client's or bound to another key, or if verifier,
   * redirect_uri, user or session do not match; a replayed code revokes its tokens (§4.1.2). An SDK code has no redirect_uri
   * and may have no challenge, so it needs the client's secret key or assertion; a code of /authorize needs the client's
   * registered authentication method.
   */
  async exchange(exchange: Exchange): Promise<TokenResponse | null> {
    const { clock, db, random } = this.deps;
    const jkt = exchange.proof?.jkt;
    const granted = mayRefresh(exchange)
      ? { id: random.id(), token: firstToken(random), dpopJkt: jkt ?? null }
      : undefined;
    // A failure to read or sign here does not use up the code: the client can repeat its request.
    await this.deps.signer.prepare(idTokenAlgorithmOf(exchange.client.idTokenSignedResponseAlg, exchange.issuer));
    const statement = redemption(exchange, random.id(), clock.now(), granted);
    const redeem = async (on: Executing) => {
      const [row] = await query(on, statement, { prepare: 'tokens.redemption' });
      return { row, claims: row?.id ? await this.claimsOf(on, row, exchange.issuer) : null };
    };
    const { applicationClaims } = exchange.issuer.capabilities;
    const { row, claims } = await (applicationClaims ? db.statements(redeem) : redeem(db.alone));
    if (!row?.client_is_current) return null;
    if (!row.assertion_is_fresh) refuse({ code: 'client-rejected', reason: 'jti was used before' });
    if (!row.proof_is_fresh) refuseUsedProof();
    if (row.id === null) return this.refuseCode(exchange);
    return this.of(row, exchange.issuer, { claims, refreshToken: granted?.token.text, jkt });
  }

  /** The application's claims for the ID token of a redeemed code, or a refresh. Null if the issuer has none. */
  async claimsOf(on: Executing, row: RedemptionRow, { capabilities, url }: Issuer): Promise<ApplicationClaims> {
    if (!capabilities.applicationClaims) return null;
    const { project_id: projectId, client_id: clientId, user_id: userId, scope } = row;
    const of = { client: keyIn(projectId, clientId), userId, scopes: scope.split(' ') };
    return this.deps.applicationClaims.forIdToken(on, of, `${url}/userinfo`);
  }

  /**
   * The tokens for a redeemed code, or a refresh.
   *
   * @param claims additional ones of the application, see {@link claimsOf}
   * @param jkt thumbprint of the key that they are bound to
   */
  async of(
    row: RedemptionRow,
    issuer: Issuer,
    {
      claims,
      refreshToken,
      jkt,
    }: { claims: ApplicationClaims; refreshToken?: string | undefined; jkt?: string | undefined },
  ): Promise<TokenResponse> {
    const grant = toGrant(row, jkt ?? null);
    const api = forApi(row, grant);
    const { url } = issuer;
    const alg = idTokenAlgorithmOf(row.id_token_signed_response_alg, issuer);
    const now = seconds(this.deps.clock.now());
    const hasIdToken = !api || grant.scope.split(' ').includes('openid');
    const [idToken, accessToken] = await Promise.all([
      hasIdToken &&
        this.deps.signer.sign(
          'id-token',
          { ...claims, ...idTokenClaims(grant, this.deps.random.id(), now) },
          { issuer: url, alg },
        ),
      api
        ? this.deps.signer.sign('api-token', apiTokenClaims(api, now), { issuer: url })
        : this.deps.signer.sign('access-token', accessTokenClaims(grant, url, now), { issuer: url }),
    ]);
    const scopeOf = api ? api.scope : grant.scope;
    return {
      ...(idToken !== false && { id_token: idToken }),
      access_token: accessToken,
      token_type: grant.jkt === null ? 'Bearer' : 'DPoP',
      expires_in: api ? api.ttlSeconds : clampAccessTokenTtl(grant.accessTokenTtlSeconds),
      ...(scopeOf !== '' && { scope: scopeOf }),
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    };
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
    const bound = proof
      ? sql`, t.project_id, t.client_id, k.dpop_nonce_required and not ${proof.hasNonce}::boolean as "lacksNonce"`
      : sql``;
    const live = sql<UserInfo>`select r.id, ${sql.raw(selectionOf(profileProperties))}, t.client_id as "clientId"${bound}
      from (select project_id, user_id, client_id, session_id, scope, credential from authorization_codes
          where project_id = ${client.project.id}::uuid and id = ${tokenId}::uuid and client_id = ${client.id}::uuid
            and revoked_at is null offset 0) t
        join users r on r.project_id = t.project_id and r.id = t.user_id
        join clients k on k.project_id = t.project_id and k.id = t.client_id
      where r.active and k.disabled_at is null and ${allowed} and ${isOfLiveCredential}
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

  /**
   * Logs the reason and revokes the tokens of a replayed code. Neither is visible to the caller. Another client that got
   * hold of a used code ends nothing (RFC 6749 §4.1.2 concerns requests of its own client).
   */
  private async refuseCode(exchange: Exchange): Promise<never> {
    const reason = await this.deps.db.transaction(async (em) => {
      const code = await em.findOne(
        AuthorizationCode,
        { project: exchange.client.project, hash: digest(exchange.code) },
        { populate: ['client'] },
      );
      if (!code) return 'unknown';
      const now = this.deps.clock.now();
      if (code.usedAt && code.client.id === exchange.client.id) {
        // A logout, or the client, may have revoked the access token before, but not the refresh tokens.
        const hadGrant = code.grantId != null && (await endRefreshGrant(em, keyIn(code.project.id, code.grantId), now));
        if (hadGrant || !code.revokedAt) {
          code.revokedAt ??= now;
          this.deps.audit.record(em, {
            type: 'code.replayed',
            result: 'failure',
            actor: exchange.actor,
            projectId: code.client.getEntity().project.id,
            clientId: code.client.id,
            subject: { kind: 'user', id: code.user?.id ?? '' },
          });
        }
        return 'used';
      }
      if (code.expiresAt <= now) return 'expired';
      return isForOtherApi(code, exchange) ? 'target' : 'mismatch';
    });
    refuse({ code: 'grant-rejected', reason });
  }
}

/** The access token for the requested API; null: for UserInfo. */
function forApi(row: RedemptionRow, grant: Grant): ApiToken | null {
  if (row.audience == null) return null;
  return {
    id: grant.codeId,
    subject: grant.subject,
    clientId: grant.clientId,
    audience: row.audience,
    scope: grantedScope(grant.scope, row.granted ?? []),
    jkt: grant.jkt,
    ttlSeconds: row.ttl_seconds ?? 0,
  };
}

/** Whether only `resource` is wrong in a request of the code's own client. */
function isForOtherApi(code: AuthorizationCode, { client, codeVerifier, issuer, resource }: Exchange): boolean {
  if (!issuer.capabilities.apis || code.client.id !== client.id || code.issuer !== storedIssuer(issuer)) return false;
  const challenge = codeVerifier === undefined ? null : digest(codeVerifier);
  return (code.codeChallenge ?? null) === challenge && missesTarget(code.resources, resource);
}

/** Whether the code gives a refresh token. One of the browser SDK, which has no redirect_uri, gives none. */
function mayRefresh({ client, issuer, redirectUri, authenticatedBy }: Exchange): boolean {
  const isOffered = issuer.capabilities.grantTypes.includes('refresh_token');
  // A trial keeps no token.
  const mayKeep = redirectUri !== undefined && authenticatedBy !== 'trial';
  return isOffered && client.grantTypes.includes('refresh_token') && mayKeep;
}

interface UserInfo extends ProfileSource {
  id: string;
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
  const claims: Record<string, unknown> = { sub: user.id };
  for (const scope of scopes) {
    for (const name of claimsOfScope[scope] ?? []) if (profile[name] !== undefined) claims[name] = profile[name];
  }
  return claims;
}
