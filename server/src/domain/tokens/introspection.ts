import type { JWTPayload } from 'jose';
import { isOpenToThirdParties } from '../apis/token-target.ts';
import type { Client } from '../clients/client.entity.ts';
import { clientIdOf } from '../clients/client-id.ts';
import { boundKeyOf } from '../clients/dpop/binding.ts';
import { isAdmitted } from '../clients/introductions/admission.ts';
import type { IntroducedClient } from '../clients/introductions/client-policy.ts';
import { adminApiUrl } from '../kernel/admin-api.ts';
import { type Clock, seconds } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { organizationClaims } from '../organizations/organization-claims.ts';
import { needsProof } from '../policy/client.ts';
import { idTokenAlgorithmOf, storedIssuer } from '../projects/issuer.ts';
import { areAdmitted, areLive, introducedClientsOf, isLive } from './exchange/live-token.ts';
import { isAuthentic, type SentToken } from './grants/grant.ts';
import { isUserKey, type UserKeys } from './keys/user-keys.ts';
import { openGrants, usableUntil } from './live-grant.ts';
import { parseRefreshToken } from './refresh-token.ts';

/** The members of RFC 7662 section 2.2; of a token that is not active, `active` alone. */
export type Introspected = { active: false } | ({ active: true } & Record<string, unknown>);

const inactive: Introspected = { active: false };

/** A token, and the address from which it was sent to the API, as the API reports it (RFC 7662 section 2.1). */
export interface IntrospectedToken extends SentToken {
  clientIp: string | undefined;
}

/** A live access token, with settings of its client. */
interface FoundToken
  extends Pick<Client, 'dpopRequired' | 'fapiProfile' | 'introducedBy' | 'metadataUrl' | 'redirectUris'> {
  scope: string;
  /** Null: a token of the client itself. */
  userId: string | null;
  organizationId: string | null;
  /** Clients of the tokens that it was exchanged for. */
  earlier: IntroducedClient[] | null;
}

/**
 * Token introspection for confidential clients (RFC 7662). A client sees the tokens that were issued to it; one that is an API
 * also sees those for this API. Any other token is inactive, as is one that has ended.
 */
export class Introspection {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      signer: Signer;
      issuer: string;
      userKeys: Pick<UserKeys, 'introspect'>;
    },
  ) {}

  /** `client-rejected`: the client has changed, or its assertion was used before. */
  async of(sent: IntrospectedToken): Promise<Introspected | 'client-rejected'> {
    if (!(await isAuthentic(this.deps.db.alone, sent, sent))) return 'client-rejected';
    if (isUserKey(sent.token)) return this.ofUserKey(sent);
    const refreshToken = parseRefreshToken(sent.token);
    if (refreshToken) return this.ofRefreshToken(sent, digest(refreshToken.family));
    const { signer } = this.deps;
    const { issuer, token } = sent;
    const own = await signer.verifyAccessToken(token, issuer);
    const claims = own ?? (await signer.verify('api-token', token, { issuer }));
    return claims ? this.ofAccessToken(sent, claims, own !== null) : inactive;
  }

  /** The response as a JWT for the caller (RFC 9701 section 5), signed as its ID tokens are. */
  signed({ client, issuer }: SentToken, answer: Introspected): Promise<string> {
    const alg = idTokenAlgorithmOf(client.idTokenSignedResponseAlg, issuer);
    const claims = { aud: clientIdOf(client), iat: seconds(this.deps.clock.now()), token_introspection: answer };
    return this.deps.signer.sign('introspection', claims, { issuer: issuer.url, alg });
  }

  /** @param isForUserInfo by its kind: an API may have the address of a custom domain */
  private async ofAccessToken(
    { client: caller }: SentToken,
    claims: JWTPayload,
    isForUserInfo: boolean,
  ): Promise<Introspected> {
    const { act, aud, jti, client_id: clientId, scope = '', cnf } = claims;
    if (!isUuid(jti) || typeof clientId !== 'string' || typeof scope !== 'string' || typeof aud !== 'string')
      return inactive;
    const adminApi = adminApiUrl(this.deps.issuer);
    const project = caller.project.getEntity();
    const isOpen = sql`(t.user_id is not null and k.third_party and a.id is not null and ${isOpenToThirdParties})`;
    const statement = sql<FoundToken>`
      select t.user_id as "userId", t.organization_id as "organizationId", k.dpop_required as "dpopRequired", k.fapi_profile as "fapiProfile", k.introduced_by as "introducedBy", k.metadata_url as "metadataUrl",
        k.redirect_uris as "redirectUris", ${introducedClientsOf(project, sql`t.subject_ids`)} as earlier, array_to_string(array(select one from unnest(string_to_array(${scope}::text, ' ')) one
          where ${isForUserInfo}::boolean or one = any(case when ${aud}::text = ${adminApi}::text then k.admin_scopes
            when ${isOpen} then array(select s.one->>'key' from jsonb_array_elements(a.scopes) s(one)) else g.scopes end)), ' ') as scope
      from authorization_codes t join clients k on k.project_id = t.project_id and k.id = t.client_id
        left join users u on u.project_id = t.project_id and u.id = t.user_id
        left join apis a on a.project_id = t.project_id and a.identifier = ${aud}::text and not ${isForUserInfo}::boolean
        left join api_grants g on g.project_id = t.project_id and g.client_id = t.client_id and g.api_id = a.id
      where t.project_id = ${caller.project.id}::uuid and t.id = ${jti}::uuid and coalesce(k.metadata_url, k.id::text) = ${clientId}
        and ${isLive(project)} and (t.user_id is null or ${isForUserInfo}::boolean or not k.third_party or ${isOpen})
        and case when t.subject_ids is null then true
          else a.token_exchange and 'token_exchange' = any(k.grant_types) and ${areLive(project, sql`t.subject_ids`)} end
        and case when ${isForUserInfo}::boolean then true when ${aud}::text = ${adminApi}::text then k.admin_scopes <> '{}'
          else g.scopes <> '{}' or ${isOpen} end
        and (t.client_id = ${caller.id}::uuid or exists (select 1 from api_grants own where own.project_id = t.project_id
          and own.client_id = ${caller.id}::uuid and own.api_id = a.id and own.introspects))`;
    const [row] = await query(this.deps.db.alone, statement, { prepare: 'tokens.introspect-access-token' });
    const isBound = boundKeyOf(claims) !== null;
    if (!row || (!isBound && needsProof(row)) || !isAdmitted(row, project)) return inactive;
    if (!areAdmitted(row.earlier, project)) return inactive;
    const { iss, sub, iat, nbf, exp } = claims;
    const about = { client_id: clientId, sub, aud, iss, iat, nbf, exp, jti };
    return {
      active: true,
      scope: row.scope,
      ...about,
      ...(await this.organizationOf(caller, row)),
      token_type: isBound ? 'DPoP' : 'Bearer',
      ...(cnf === undefined ? {} : { cnf }),
      ...(act === undefined ? {} : { act }),
    };
  }

  private async ofUserKey({ client, clientIp, issuer, token }: IntrospectedToken): Promise<Introspected> {
    const key = await this.deps.userKeys.introspect(client, token, clientIp);
    if (!key) return inactive;
    const { audience: aud, createdAt, expiresAt, id: jti, scopes, sub } = key;
    const times = { iat: seconds(new Date(createdAt)), exp: seconds(new Date(expiresAt)) };
    const about = { sub, aud, iss: issuer.url, ...times, jti };
    const ofOrganization = await this.organizationOf(client, key);
    return { active: true, scope: scopes.join(' '), ...about, ...ofOrganization, token_type: 'Bearer' };
  }

  /** Claims of the context of a live token. */
  private async organizationOf(
    { project }: Client,
    { userId, organizationId }: Pick<FoundToken, 'userId' | 'organizationId'>,
  ): Promise<Record<string, unknown>> {
    if (userId === null || organizationId === null) return {};
    return organizationClaims(this.deps.db.alone, { projectId: project.id, userId, organizationId, listsAll: false });
  }

  private async ofRefreshToken({ client, issuer, token }: SentToken, familyHash: string): Promise<Introspected> {
    const now = this.deps.clock.now();
    const project = client.project.getEntity();
    const sent = sql`g.family_hash = ${familyHash}::text and g.current_hash = ${digest(token)}::text
      and g.client_id = ${client.id}::uuid and g.issuer is not distinct from ${storedIssuer(issuer)}::text`;
    const reading = openGrants(project, sent, 1);
    const [row] = await query(this.deps.db.alone, reading, { prepare: 'tokens.introspect-refresh-token' });
    const until = row && usableUntil(row, client, project, now);
    if (!row || !until) return inactive;
    const [iat, exp] = [seconds(new Date(row.created_at)), seconds(until)];
    const ofOrganization = await this.organizationOf(client, {
      userId: row.user_id,
      organizationId: row.organization_id,
    });
    const about = { client_id: clientIdOf(client), sub: row.sub, iss: issuer.url, iat, exp };
    return { active: true, scope: row.scope, ...about, ...ofOrganization };
  }
}
