import { matchesTarget, requestedApi, type TokenTarget } from '../apis/token-target.ts';
import { eventOfClient } from '../audit/audit.ts';
import { type CheckedAssertion, usedAssertion } from '../clients/client-assertions.ts';
import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import { obtainedWith } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { isAllowed } from '../consents/consents.ts';
import type { Actor } from '../kernel/actor.ts';
import { seconds } from '../kernel/clock.ts';
import { type IdTokenAlgorithm } from '../kernel/openid.ts';
import { digest } from '../kernel/secret.ts';
import { type Statement, sql } from '../kernel/sql.ts';
import { type Issuer, storedIssuer } from '../projects/issuer.ts';
import { participation } from '../sessions/sessions.ts';
import type { Grant } from './claims.ts';
import { type NewGrant, newGrant } from './new-grant.ts';

/**
 * `none`: only `client_id`. `api-key`: its secret key. `secret`: its client secret. `assertion`: `private_key_jwt`.
 * `trial`: none; a trial sign-in from the console.
 */
type ClientAuthentication = 'none' | 'api-key' | 'secret' | 'assertion' | 'trial';

export interface Exchange extends CheckedClient {
  /** The issuer at which the code is redeemed: it must have issued it. */
  issuer: Issuer;
  code: string;
  /** The API that the access token is for, if the issuer has APIs; absent: the only one of the code. */
  resource?: string | undefined;
  codeVerifier: string | undefined;
  redirectUri: string | undefined;
  /** Authentication of the client; SDK codes need `api-key` or `assertion`. */
  authenticatedBy: ClientAuthentication;
  /** For `authenticatedBy: 'assertion'`: recorded with the exchange; single use. */
  assertion?: CheckedAssertion | undefined;
  /** The tokens are bound to its key. Recorded with the exchange; single use. */
  proof?: CheckedProof | null | undefined;
  actor: Actor;
}

/**
 * One statement that redeems the code and returns the content of the tokens (decisions/0003, 0087).
 *
 * @param eventId id of the audit event, if one is written
 * @param granted the refresh grant to write with it
 */
export function redemption(
  exchange: Exchange,
  eventId: string,
  now: Date,
  granted?: NewGrant,
): Statement<RedemptionRow> {
  const { code, codeVerifier, redirectUri, authenticatedBy, assertion, proof, actor } = exchange;
  const jtiHash = assertion?.jtiHash ?? null;
  const hasApis = exchange.issuer.capabilities.apis;
  const resource = exchange.resource ?? null;
  const challenge = codeVerifier === undefined ? null : digest(codeVerifier);
  const event = { id: eventId, at: now, type: 'token.issued', actor } as const;
  const participated = participation(redeemed, now);
  // The code is found by its hash, so a plan created while the tables were empty stays good. Each condition that a
  // concurrent exchange can change is on the updated row, so exactly one redeems it.
  return sql<RedemptionRow>`with client as materialized (${currentClient(exchange)}),
    used as (${usedAssertion(assertion)}),
    code as materialized (
      select project_id, id, client_id, user_id, session_id, used_at, expires_at, resources from authorization_codes
      where project_id = ${exchange.client.project.id} and hash = ${digest(code)}
    ),${
      proof
        ? sql`
    proving as (select code.project_id, code.client_id from code join client on client.id = code.client_id
      where code.used_at is null and code.expires_at > ${now}::timestamptz),
    proof as (${usedProof(proof, sql`proving`)}),`
        : sql``
    }
    ${hasApis ? sql`target as materialized (${requestedApi(sql`client`, sql`code`, resource)}),` : sql``}
    redeemed as (
      update authorization_codes c set used_at = ${now}::timestamptz, credential = ${obtainedWith(exchange)}::text${granted ? sql`, grant_id = ${granted.id}::uuid` : sql``}
      from code, client, users u, clients k, projects p
      where c.project_id = code.project_id and c.id = code.id and c.client_id = client.id and c.used_at is null and c.revoked_at is null
        and c.expires_at > ${now}::timestamptz
        and case when ${jtiHash}::text is null then true else exists (select from used) end
        ${proof ? sql`and exists (select from proof)` : sql``}
        ${hasApis ? sql`and ${matchesTarget(sql`c`, resource)}` : sql``}
        and (c.dpop_jkt is null or c.dpop_jkt = ${proof?.jkt ?? null}::text)
        and c.code_challenge is not distinct from ${challenge}::text
        and c.issuer is not distinct from ${storedIssuer(exchange.issuer)}::text
        and c.redirect_uri is not distinct from ${redirectUri ?? null}::text
        and case when c.redirect_uri is null then ${authenticatedBy}::text <> 'none'
                 else k.token_endpoint_auth_method = 'none' or ${authenticatedBy}::text in ('assertion', 'secret', 'trial') end
        and ${allowed}
        and u.project_id = code.project_id and u.id = code.user_id and u.active
        and k.project_id = client.project_id and k.id = client.id and p.id = client.project_id
        and (code.session_id is null or (select s.ended_at is null from sessions s
          where s.project_id = code.project_id and s.id = code.session_id))
      returning c.id, c.client_id, c.user_id, c.session_id, c.issuer, c.resources, c.scope, c.nonce, c.auth_time, c.amr, c.acr, u.email, u.phone,
        u.user_name, k.id_token_signed_response_alg, p.id as project_id, coalesce(k.id_token_ttl_seconds, p.id_token_ttl_seconds) as id_token_ttl_seconds,
        coalesce(k.access_token_ttl_seconds, p.access_token_ttl_seconds) as access_token_ttl_seconds
    ),
    renewed as (${participated.renewed}), added as (${participated.added}),
    ${granted ? sql`granted as (${newGrant(granted, now, redeemed)}),` : sql``}
    event as (${eventOfClient(event, redeemed)})
    select exists (select from client) as client_is_current,
      ${jtiHash}::text is null or exists (select from used) as assertion_is_fresh,
      ${proof ? sql`not exists (select from proving) or exists (select from proof)` : sql`true`} as proof_is_fresh, r.*${hasApis ? sql`, t.*` : sql``}
    from (values (1)) one left join redeemed r on true ${hasApis ? sql`left join target t on true` : sql``}`;
}

const redeemed = sql`redeemed`;

const allowed = isAllowed({
  ...{ isThirdParty: sql`k.third_party`, projectId: sql`c.project_id`, clientId: sql`c.client_id` },
  ...{ userId: sql`c.user_id`, scope: sql`c.scope` },
});

/** Always one row; without `id`, no code was redeemed. Without {@link TokenTarget}, the issuer has no APIs. */
export interface RedemptionRow extends Partial<TokenTarget> {
  client_is_current: boolean;
  assertion_is_fresh: boolean;
  proof_is_fresh: boolean;
  id: string | null;
  project_id: string;
  client_id: string;
  user_id: string;
  session_id: string | null;
  scope: string;
  nonce: string | null;
  auth_time: Date | string;
  amr: string[];
  acr: string | null;
  email: string | null;
  phone: string | null;
  id_token_signed_response_alg: IdTokenAlgorithm;
  id_token_ttl_seconds: number;
  access_token_ttl_seconds: number;
}

export function toGrant(row: RedemptionRow, jkt: string | null): Grant {
  return {
    codeId: row.id as string,
    clientId: row.client_id,
    subject: row.user_id,
    sessionId: row.session_id,
    scope: row.scope,
    nonce: row.nonce,
    authTimeSeconds: seconds(new Date(row.auth_time)),
    amr: row.amr,
    acr: row.acr,
    email: row.email,
    phone: row.phone,
    jkt,
    idTokenTtlSeconds: row.id_token_ttl_seconds,
    accessTokenTtlSeconds: row.access_token_ttl_seconds,
  };
}
