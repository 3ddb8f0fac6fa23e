import type { JWTPayload } from 'jose';
import type { TokenTarget } from '../apis/token-target.ts';
import type { Claims } from '../claims/claims.ts';
import type { Client } from '../clients/client.entity.ts';
import { clientIdOf } from '../clients/client-id.ts';
import { confirmationOf } from '../clients/dpop/binding.ts';
import { type IntroducedClient, limitsOf, limitsOfClient, within } from '../clients/introductions/client-policy.ts';
import { type Clock, seconds } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import type { Signer } from '../keys/signer.ts';
import {
  contextClaims,
  homeClaims,
  organizationClaims,
  withoutOrganizationClaims,
} from '../organizations/organization-claims.ts';
import { defaultAcr } from '../policy/acr.ts';
import { type Issuer, idTokenAlgorithmOf, organizationsScope } from '../projects/issuer.ts';
import { keyIn } from '../projects/tenant.ts';
import type { ImpersonationRow } from '../sessions/impersonation.ts';
import { type Act, apiTokenClaims } from './api-token.ts';
import { grantedScope } from './scope.ts';

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

/** The response to an exchange (RFC 8693 section 2.2.1). */
export interface ExchangeResponse {
  access_token: string;
  issued_token_type: typeof accessTokenType;
  token_type: 'Bearer' | 'DPoP';
  expires_in: number;
  scope: string;
}

/** The response to an identity assertion: section 4.4 of its draft, with the `resource` that was granted. */
export interface AcceptedResponse extends Omit<ExchangeResponse, 'issued_token_type'> {
  resource: string;
}

/** The response with an identity assertion: section 4.3.3 of its draft. */
export interface AssertionResponse {
  access_token: string;
  issued_token_type: typeof idJagType;
  /** It is no access token. */
  token_type: 'N_A';
  expires_in: number;
  /** Absent: it names no scope. */
  scope?: string;
}

export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';

/** RFC 8693 section 3. */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** The columns of a user's grant, current ones of the user, and the API that the tokens target. */
export interface GrantRow extends Partial<TokenTarget>, ImpersonationRow {
  user_id: string;
  /** The organization of its context. */
  organization_id: string | null;
  sub: string;
  session_id: string | null;
  scope: string;
  auth_time: Date | string;
  amr: string[];
  acr: string | null;
  email: string | null;
  phone: string | null;
  /** The organization that is the user's home; null: the project. */
  home_id: string | null;
  /** Clients of earlier tokens that introduced themselves. */
  introduced?: IntroducedClient[] | null;
}

/** What is granted to a client about a user. */
export interface Grant {
  client: Client;
  row: GrantRow;
  /** `jti` of the access token: the row that revokes it. */
  codeId: string;
  nonce: string | null;
  /** Thumbprint of the key that the tokens are bound to; null: bearer tokens. */
  jkt: string | null;
}

/** The server that an identity assertion is for. */
export interface AssertionTarget {
  /** Its issuer. */
  audience: string;
  /** `client_id` of the client there. */
  clientId: string;
  resources: readonly string[];
}

const assertionSeconds = 300;

/** Signs the tokens of a grant. Writes nothing. */
export class Mint {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      signer: Signer;
      /** Claims of applications, if the issuer has them. Those of this layer take precedence. */
      applicationClaims: Pick<Claims, 'forIdToken'>;
    },
  ) {}

  async tokens(grant: Grant, issuer: Issuer, refreshToken: string | undefined): Promise<TokenResponse> {
    const { clock, random, signer } = this.deps;
    const { client, codeId, jkt, row } = grant;
    const { audience, granted, scope } = row;
    const now = seconds(clock.now());
    const ttlSeconds = bounded(apiTokenSeconds(grant), row, now);
    const ofOrganization = await this.organizationClaims(grant, issuer);
    const ofHome = await this.homeClaims(grant, issuer);
    const api = audience != null && {
      ...{ id: codeId, subject: row.sub, clientId: clientIdOf(client), jkt, audience },
      ...{ scope: grantedScope(scope, granted ?? []), ttlSeconds, ...actorOf(row) },
      organization: contextClaims(ofOrganization ?? {}),
    };
    const { url } = issuer;
    const alg = idTokenAlgorithmOf(client.idTokenSignedResponseAlg, issuer);
    const hasIdToken = !api || scope.split(' ').includes('openid');
    const claims = hasIdToken ? await this.applicationClaims(grant, issuer) : null;
    const ofApplication = ofOrganization ? { ...withoutOrganizationClaims(claims), ...ofOrganization } : claims;
    const [idToken, accessToken] = await Promise.all([
      hasIdToken &&
        signer.sign(
          'id-token',
          { ...ofApplication, ...idTokenClaims(grant, random.id(), now), ...ofHome },
          { issuer: url, alg },
        ),
      api
        ? signer.sign('api-token', apiTokenClaims(api, now), { issuer: url })
        : signer.sign('access-token', accessTokenClaims(grant, url, now), { issuer: url }),
    ]);
    const scopeOf = api ? api.scope : scope;
    return {
      ...(idToken !== false && { id_token: idToken }),
      access_token: accessToken,
      token_type: jkt === null ? 'Bearer' : 'DPoP',
      expires_in: api ? api.ttlSeconds : bounded(accessTokenSeconds(client), row, now),
      ...(scopeOf !== '' && { scope: scopeOf }),
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    };
  }

  /** The access token of an exchange. Writes nothing. @param until seconds since 1970 */
  async exchanged(
    grant: Grant,
    issuer: Issuer,
    { act, until }: { act: Act; until: number },
  ): Promise<ExchangeResponse> {
    return { ...(await this.forApi(grant, issuer, { act, until })), issued_token_type: accessTokenType };
  }

  /** The access token for an identity assertion. Writes nothing. */
  async accepted(grant: Grant, issuer: Issuer): Promise<AcceptedResponse> {
    return { ...(await this.forApi(grant, issuer)), resource: grant.row.audience ?? '' };
  }

  /**
   * An identity assertion (section 3.1 of its draft). Writes nothing.
   *
   * @param grant `scope`: that at the other server; `email`: null if the application does not get it
   */
  async assertion(grant: Grant, issuer: Issuer, target: AssertionTarget): Promise<AssertionResponse> {
    const { codeId, jkt, row } = grant;
    // The scopes are those of another server.
    const organization = await this.organizationClaims({ ...grant, row: { ...row, scope: '' } }, issuer);
    const ofHome =
      row.email === null ? {} : await this.homeClaims({ ...grant, row: { ...row, scope: 'email' } }, issuer);
    const now = seconds(this.deps.clock.now());
    const [resource, another] = target.resources;
    const { acr, amr, auth_time } = authentication(row);
    const claims = {
      ...{
        sub: row.sub,
        aud: target.audience,
        client_id: target.clientId,
        jti: codeId,
        iat: now,
        exp: now + assertionSeconds,
      },
      ...(resource !== undefined && { resource: another === undefined ? resource : target.resources }),
      ...(row.scope !== '' && { scope: row.scope }),
      ...{ auth_time, acr, amr },
      ...(row.email !== null && { email: row.email, email_verified: true, ...ofHome }),
      ...contextClaims(organization ?? {}),
      ...confirmationOf(jkt),
    };
    return {
      access_token: await this.deps.signer.sign('identity-assertion', claims, { issuer: issuer.url }),
      ...{ issued_token_type: idJagType, token_type: 'N_A', expires_in: assertionSeconds },
      ...(row.scope !== '' && { scope: row.scope }),
    };
  }

  private async forApi(grant: Grant, issuer: Issuer, { act, until }: { act?: Act; until?: number } = {}) {
    const { client, codeId, jkt, row } = grant;
    const { scope } = row;
    const about = { id: codeId, subject: row.sub, clientId: clientIdOf(client), audience: row.audience ?? '' };
    const organization = contextClaims((await this.organizationClaims(grant, issuer)) ?? {});
    const now = seconds(this.deps.clock.now());
    const ttlSeconds = Math.min(apiTokenSeconds(grant), (until ?? Infinity) - now);
    const claims = apiTokenClaims({ ...about, scope, jkt, organization, ...(act && { act }), ttlSeconds }, now);
    return {
      access_token: await this.deps.signer.sign('api-token', claims, { issuer: issuer.url }),
      token_type: jkt === null ? ('Bearer' as const) : ('DPoP' as const),
      expires_in: ttlSeconds,
      scope,
    };
  }

  /** Claims of the context, and of the scope `organizations`. Null if issuer or project has no organizations. */
  private async organizationClaims({ client, row }: Grant, { capabilities }: Issuer) {
    const { id: projectId, organizationsEnabled } = client.project.getEntity();
    if (!capabilities.organizations || !organizationsEnabled) return null;
    const listsAll = row.scope.split(' ').includes(organizationsScope);
    const of = { projectId, userId: row.user_id, organizationId: row.organization_id, listsAll };
    return organizationClaims(this.deps.db.alone, of);
  }

  private async homeClaims({ client, row }: Grant, { capabilities }: Issuer) {
    if (row.home_id === null || !capabilities.organizations || !row.scope.split(' ').includes('email')) return {};
    return homeClaims(this.deps.db.alone, keyIn(client.project.id, row.home_id), row.email);
  }

  /** The application's claims for the ID token. Null if the issuer has none. */
  private async applicationClaims({ client, row }: Grant, { capabilities, url }: Issuer) {
    if (!capabilities.applicationClaims) return null;
    const of = { client: keyIn(client.project.id, client.id), userId: row.user_id, scopes: row.scope.split(' ') };
    return this.deps.applicationClaims.forIdToken(this.deps.db.alone, of, `${url}/userinfo`);
  }
}

/** Clamped silently (service.md 2.6). */
function accessTokenSeconds(client: Client): number {
  const { accessTokenTtlSeconds, project } = client;
  const seconds = accessTokenTtlSeconds ?? project.getEntity().accessTokenTtlSeconds;
  return within(Math.min(3600, Math.max(1, Math.trunc(seconds))), limitsOfClient(client).accessTokenTtlSeconds);
}

/** What the clients of a grant get at most, by the policy of the project. */
export function limitsOfGrant({ client, row }: Pick<Grant, 'client'> & { row: Pick<GrantRow, 'introduced'> }) {
  return limitsOf([client, ...(row.introduced ?? [])], client.project.getEntity());
}

function apiTokenSeconds(grant: Grant): number {
  return within(grant.row.ttl_seconds ?? 0, limitsOfGrant(grant).accessTokenTtlSeconds);
}

/** ID token claims (OpenID Connect Core §2; service.md 2.3), limited to the granted scopes. */
export function idTokenClaims({ client, jkt, nonce, row }: Grant, tokenId: string, nowSeconds: number): JWTPayload {
  const scopes = row.scope.split(' ');
  const { email, impersonation, phone, session_id: sid } = row;
  const lifetime = client.idTokenTtlSeconds ?? client.project.getEntity().idTokenTtlSeconds;
  const ttlSeconds = bounded(lifetime, row, nowSeconds);
  return {
    ...{
      sub: row.sub,
      aud: clientIdOf(client),
      iat: nowSeconds,
      nbf: nowSeconds,
      exp: nowSeconds + ttlSeconds,
      jti: tokenId,
    },
    ...authentication(row),
    ...(sid === null ? {} : { sid }),
    ...confirmationOf(jkt),
    ...(nonce === null ? {} : { nonce }),
    // OpenID Connect Enterprise Extensions §2: the application's session ends then.
    ...(impersonation ? { act: impersonation.act, session_expiry: impersonation.until } : {}),
    ...(email !== null && scopes.includes('email') ? { email, email_verified: true } : {}),
    ...(phone !== null && scopes.includes('phone') ? { phone_number: phone, phone } : {}),
  };
}

/** Access token claims (RFC 9068 §2.2). The token is valid for UserInfo only. */
function accessTokenClaims({ client, codeId, jkt, row }: Grant, issuer: string, nowSeconds: number): JWTPayload {
  const exp = nowSeconds + bounded(accessTokenSeconds(client), row, nowSeconds);
  // In the recorded order.
  const { acr, amr, auth_time } = authentication(row);
  return {
    ...{ sub: row.sub, aud: issuer, client_id: clientIdOf(client), scope: row.scope },
    ...{ iat: nowSeconds, nbf: nowSeconds, exp, jti: codeId, auth_time, acr, amr },
    ...confirmationOf(jkt),
    ...actorOf(row),
  };
}

/** The claim `act` of an impersonation. */
function actorOf({ impersonation }: GrantRow): { act?: Act } {
  return impersonation ? { act: impersonation.act } : {};
}

/** No token outlives an impersonation. */
function bounded(lifetimeSeconds: number, { impersonation }: GrantRow, nowSeconds: number): number {
  return impersonation ? Math.min(lifetimeSeconds, impersonation.until - nowSeconds) : lifetimeSeconds;
}

/** How and when the user signed in. */
function authentication({ acr, amr, auth_time: at }: GrantRow): JWTPayload {
  return { auth_time: seconds(new Date(at)), amr, acr: acr ?? defaultAcr };
}
