import type { TokenTarget } from '../apis/token-target.ts';
import type { Claims } from '../claims/claims.ts';
import type { Client } from '../clients/client.entity.ts';
import { type Clock, seconds } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import type { Signer } from '../keys/signer.ts';
import { type Issuer, idTokenAlgorithmOf } from '../projects/issuer.ts';
import { keyIn } from '../projects/tenant.ts';
import {
  accessTokenClaims,
  apiTokenClaims,
  clampAccessTokenTtl,
  type Grant,
  grantedScope,
  idTokenClaims,
} from './claims.ts';

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

/** The columns of a user's grant, current ones of the user, and the API that the tokens target. */
export interface GrantRow extends Partial<TokenTarget> {
  user_id: string;
  sub: string;
  session_id: string | null;
  scope: string;
  auth_time: Date | string;
  amr: string[];
  acr: string | null;
  email: string | null;
  phone: string | null;
}

/** @param more.codeId the row that revokes the access token */
export function grantOf(client: Client, row: GrantRow, more: Pick<Grant, 'codeId' | 'jkt' | 'nonce'>): Grant {
  const project = client.project.getEntity();
  return {
    ...more,
    projectId: project.id,
    clientId: client.id,
    userId: row.user_id,
    subject: row.sub,
    sessionId: row.session_id,
    scope: row.scope,
    authTimeSeconds: seconds(new Date(row.auth_time)),
    amr: row.amr,
    acr: row.acr,
    email: row.email,
    phone: row.phone,
    idTokenAlgorithm: client.idTokenSignedResponseAlg,
    idTokenTtlSeconds: client.idTokenTtlSeconds ?? project.idTokenTtlSeconds,
    accessTokenTtlSeconds: client.accessTokenTtlSeconds ?? project.accessTokenTtlSeconds,
    api:
      row.audience == null
        ? null
        : { audience: row.audience, granted: row.granted ?? [], ttlSeconds: row.ttl_seconds ?? 0 },
  };
}

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
    const { api, scope } = grant;
    const { url } = issuer;
    const alg = idTokenAlgorithmOf(grant.idTokenAlgorithm, issuer);
    const hasIdToken = !api || scope.split(' ').includes('openid');
    const ofApplication = hasIdToken ? await this.applicationClaims(grant, issuer) : null;
    const now = seconds(clock.now());
    const audience = { id: grant.codeId, subject: grant.subject, clientId: grant.clientId, jkt: grant.jkt };
    const apiScope = api && grantedScope(scope, api.granted);
    const [idToken, accessToken] = await Promise.all([
      hasIdToken &&
        signer.sign('id-token', { ...ofApplication, ...idTokenClaims(grant, random.id(), now) }, { issuer: url, alg }),
      api
        ? signer.sign('api-token', apiTokenClaims({ ...audience, ...api, scope: apiScope ?? '' }, now), { issuer: url })
        : signer.sign('access-token', accessTokenClaims(grant, url, now), { issuer: url }),
    ]);
    const scopeOf = apiScope ?? scope;
    return {
      ...(idToken !== false && { id_token: idToken }),
      access_token: accessToken,
      token_type: grant.jkt === null ? 'Bearer' : 'DPoP',
      expires_in: api ? api.ttlSeconds : clampAccessTokenTtl(grant.accessTokenTtlSeconds),
      ...(scopeOf !== '' && { scope: scopeOf }),
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    };
  }

  /** The application's claims for the ID token. Null if the issuer has none. */
  private async applicationClaims({ projectId, clientId, scope, userId }: Grant, { capabilities, url }: Issuer) {
    if (!capabilities.applicationClaims) return null;
    const of = { client: keyIn(projectId, clientId), userId, scopes: scope.split(' ') };
    return this.deps.applicationClaims.forIdToken(this.deps.db.alone, of, `${url}/userinfo`);
  }
}
