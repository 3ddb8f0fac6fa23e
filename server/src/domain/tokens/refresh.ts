import { matchesTarget, requestedApi } from '../apis/token-target.ts';
import { eventOfClient } from '../audit/audit.ts';
import { type CheckedAssertion, usedAssertion } from '../clients/client-assertions.ts';
import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import { obtainedWith } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import { isAllowed } from '../consents/consents.ts';
import type { Actor } from '../kernel/actor.ts';
import { secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import { type Issuer, storedIssuer } from '../projects/issuer.ts';
import { byPasskey, meetsPolicy, sessionEnd, statesPasskey } from '../sessions/sessions.ts';
import { rememberSeconds } from './new-code.ts';
import type { RedemptionRow } from './redemption.ts';
import { grantEnd } from './refresh-lifetime.ts';
import type { RefreshToken } from './refresh-token.ts';

/** A token request with `grant_type=refresh_token` (RFC 6749 section 6). */
export interface Refresh extends CheckedClient {
  issuer: Issuer;
  /** As sent. */
  token: string;
  /** The API that the access token is for; absent: the only one of the grant. */
  resource?: string | undefined;
  /** Absent: the scope of the grant. Otherwise a part of it, without duplicates. */
  scope: string | undefined;
  /** For `private_key_jwt`: recorded with the refresh; single use. */
  assertion?: CheckedAssertion | undefined;
  /** The tokens are bound to its key. Recorded with the refresh; single use. */
  proof?: CheckedProof | null | undefined;
  actor: Actor;
}

/** Always one row; without `id`, nothing was refreshed. */
export interface RefreshRow extends RedemptionRow {
  grant_id: string;
}

/**
 * One statement: replaces the token of a live grant, and stores the access token that is issued for it. Every condition
 * is a condition of the update, so of two requests with one token, only one replaces it.
 *
 * @param next the new token
 */
export function rotation(
  refresh: Refresh,
  { presented, next }: { presented: RefreshToken; next: RefreshToken },
  { random, now }: { random: Random; now: Date },
): Statement<RefreshRow> {
  const { assertion, client, issuer, proof } = refresh;
  const jkt = proof?.jkt ?? null;
  const resource = refresh.resource ?? null;
  const jtiHash = assertion?.jtiHash ?? null;
  const event = { id: random.id(), at: now, type: 'token.refreshed', actor: refresh.actor } as const;
  return sql<RefreshRow>`with client as materialized (${currentClient(refresh)}),
    used as (${usedAssertion(assertion)}),${
      proof
        ? sql`
    proving as (select g.project_id, g.client_id from refresh_grants g join client on client.id = g.client_id
      where g.project_id = ${client.project.id}::uuid and g.family_hash = ${digest(presented.family)} and g.revoked_at is null
        and ${digest(presented.text)} in (g.current_hash, g.previous_hash)),
    proof as (${usedProof(proof, sql`proving`)}),`
        : sql``
    }
    target as materialized (${requestedApi(
      sql`client`,
      sql`(select resources from refresh_grants
      where project_id = ${client.project.id}::uuid and family_hash = ${digest(presented.family)})`,
      resource,
    )}),
    rotated as (
      update refresh_grants g set previous_hash = current_hash, current_hash = ${digest(next.text)}, renewals = 0,
        dpop_jkt = coalesce(g.dpop_jkt, ${jkt}::text), rotated_at = ${now}::timestamptz, last_used_at = ${now}::timestamptz
      from client, users u, clients k, projects p
      where g.project_id = ${client.project.id}::uuid and g.family_hash = ${digest(presented.family)}
        and g.current_hash = ${digest(presented.text)} and g.client_id = client.id
        and g.issuer is not distinct from ${storedIssuer(issuer)}::text
        and case when ${jtiHash}::text is null then true else exists (select from used) end
        ${proof ? sql`and exists (select from proof)` : sql``}
        and case when g.dpop_jkt is null then true when ${isPublic(client)}::boolean then g.dpop_jkt is not distinct from ${jkt}::text
          else ${jkt}::text is not null end
        and ${isLive(now)} and ${matchesTarget(sql`g`, resource)}
        and (${refresh.scope ?? null}::text is null
          or string_to_array(${refresh.scope ?? null}::text, ' ') <@ string_to_array(g.scope, ' '))
      returning ${refreshed}
    ),
    token as (${noted(refresh, random, now, sql`rotated`)} returning id),
    event as (${eventOfClient(event, sql`rotated`)})
    select exists (select from client) as client_is_current,
      ${jtiHash}::text is null or exists (select from used) as assertion_is_fresh,
      ${proof ? sql`not exists (select from proving) or exists (select from proof)` : sql`true`} as proof_is_fresh, r.*, token.id, t.*
    from (values (1)) one left join rotated r on true left join token on true left join target t on true`;
}

/**
 * Whether the proof of a request may use the grant: a grant that was used with one needs one again, of the same key if its
 * client is public. A confidential client authenticates, and may change its key (RFC 9449 section 5). The statement has
 * the same condition.
 */
export function isProvedBy({ dpopJkt }: { dpopJkt?: string | null }, { client, proof }: Refresh): boolean {
  if (dpopJkt == null) return true;
  return isPublic(client) ? dpopJkt === proof?.jkt : proof != null;
}

function isPublic({ tokenEndpointAuthMethod }: CheckedClient['client']): boolean {
  return tokenEndpointAuthMethod === 'none';
}

/**
 * SQL condition: grant `g` of user `u`, client `k` and project `p` may be used, by the current lifetimes and policies. A session
 * that was idle for too long ends no grant, as it ends no access token.
 */
export function isLive(now: Date): Fragment {
  return sql`g.revoked_at is null
    and u.project_id = g.project_id and u.id = g.user_id and u.active
    and k.project_id = g.project_id and k.id = g.client_id and k.disabled_at is null and 'refresh_token' = any(k.grant_types)
    and ${allowed}
    and p.id = g.project_id
    and ${grantEnd} > ${now}::timestamptz
    and case when g.offline then ${meets(statesPasskey(sql`g.amr`))}
      else exists (select from sessions s where s.project_id = g.project_id and s.id = g.session_id
        and s.ended_at is null and ${sessionEnd} > ${now}::timestamptz and ${meets(byPasskey(sql`s`))}) end`;
}

const allowed = isAllowed({
  ...{ isThirdParty: sql`k.third_party`, projectId: sql`g.project_id`, clientId: sql`g.client_id` },
  ...{ userId: sql`g.user_id`, scope: sql`g.scope` },
});

/** SQL condition: the sign-in of user `u` meets the current policies of project `p` and client `k`. */
export function meets(isByPasskey: Fragment): Fragment {
  return sql`(${meetsPolicy(isByPasskey)} and (not k.passkey_required or ${isByPasskey}))`;
}

/** SQL: the columns from which the tokens are built. */
export const refreshed = sql`g.id as grant_id, g.client_id, g.user_id,
  case when g.offline then null else g.session_id end as session_id, g.issuer, g.scope,
  null as nonce, g.auth_time, g.amr, g.acr, u.email, u.phone, u.user_name,
  k.id_token_signed_response_alg, p.id as project_id, coalesce(k.id_token_ttl_seconds, p.id_token_ttl_seconds) as id_token_ttl_seconds,
  coalesce(k.access_token_ttl_seconds, p.access_token_ttl_seconds) as access_token_ttl_seconds`;

/**
 * SQL: stores an access token for each row of `from`, which has the columns of {@link refreshed}: revocable like that of a
 * code, and with the credential of the refresh.
 */
export function noted(refresh: Refresh, random: Random, now: Date, from: Fragment): Fragment {
  return sql`insert into authorization_codes (project_id, id, client_id, credential, user_id, session_id, issuer, grant_id, scope, auth_time,
      amr, acr, created_at, expires_at, used_at, forget_at)
    select project_id, ${random.id()}::uuid, client_id, ${obtainedWith(refresh)}::text, user_id, session_id, issuer, grant_id, scope, auth_time,
      amr, acr, ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz, ${secondsLater(now, rememberSeconds)}::timestamptz
    from ${from}`;
}
