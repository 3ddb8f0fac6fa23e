import { grantedApis } from '../apis/token-target.ts';
import { ownEventOfClient } from '../audit/audit.ts';
import { type CheckedAssertion, usedAssertion } from '../clients/client-assertions.ts';
import { type CheckedClient, currentClient } from '../clients/client-registry.ts';
import { obtainedWith } from '../clients/credential-of-tokens.ts';
import { type CheckedProof, refuseUsedProof, usedProof } from '../clients/dpop/dpop-proofs.ts';
import type { Actor } from '../kernel/actor.ts';
import { adminApiUrl, adminTokenTtlSeconds } from '../kernel/admin-api.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { type Issuer, storedIssuer } from '../projects/issuer.ts';
import { apiTokenClaims } from './claims.ts';

/** A token request with `grant_type=client_credentials` (RFC 6749 section 4.4), of a confidential client. */
export interface ClientTokenRequest extends CheckedClient {
  issuer: Issuer;
  /** The identifier of an API; absent: the only one that the client may use. */
  resource: string | undefined;
  /** Absent: all that the client was granted there. Otherwise without duplicates. */
  scope: string | undefined;
  /** For `private_key_jwt`: recorded with the token; single use. */
  assertion?: CheckedAssertion | undefined;
  /** The token is bound to its key. Recorded with the token; single use. */
  proof: CheckedProof | null;
  actor: Actor;
}

/** The token response for an API alone, without an ID token. */
export interface ApiTokenResponse {
  access_token: string;
  token_type: 'Bearer' | 'DPoP';
  expires_in: number;
  scope: string;
}

/** The row outlives its token, whose expiry other processes check by their clocks. */
const graceSeconds = 60;

/** Access tokens of clients themselves, for APIs of their project and for the admin API. */
export class ClientTokens {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; signer: Signer; issuer: string }) {}

  /**
   * Null, with no token, if the cached client is stale. Refuses `client-rejected` for a replayed assertion,
   * `proof-rejected` for a replayed proof, and `grant-rejected`: with `target` unless the request selects exactly one API
   * that the client may use, with `scope` if it asks for more than was granted there.
   */
  async issue(request: ClientTokenRequest): Promise<ApiTokenResponse | null> {
    const { clock, db, issuer: baseUrl, random, signer } = this.deps;
    const now = clock.now();
    const made = { id: random.id(), eventId: random.id(), adminApi: adminApiUrl(baseUrl) };
    const [row] = await query(db.alone, issued(request, made, now), { prepare: 'tokens.client-token' });
    if (!row?.client_is_current) return null;
    if (!row.assertion_is_fresh) refuse({ code: 'client-rejected', reason: 'jti was used before' });
    if (!row.proof_is_fresh) refuseUsedProof();
    if (row.targets !== 1) refuse({ code: 'grant-rejected', reason: 'target' });
    if (row.id === null) return refuse({ code: 'grant-rejected', reason: 'scope' });
    const { id: clientId } = request.client;
    const token = {
      id: row.id,
      subject: clientId,
      clientId,
      audience: row.audience,
      scope: row.scope,
      jkt: request.proof?.jkt ?? null,
      ttlSeconds: row.ttl_seconds,
    };
    const claims = apiTokenClaims(token, seconds(now));
    return {
      access_token: await signer.sign('api-token', claims, { issuer: request.issuer.url }),
      token_type: request.proof ? 'DPoP' : 'Bearer',
      expires_in: row.ttl_seconds,
      scope: row.scope,
    };
  }
}

/** Always one row; without `id`, there is no token. */
interface IssuedRow {
  client_is_current: boolean;
  assertion_is_fresh: boolean;
  proof_is_fresh: boolean;
  /** Number of APIs that the request could mean: 0, 1, or 2 for several. */
  targets: number;
  id: string | null;
  audience: string;
  scope: string;
  ttl_seconds: number;
}

/** One statement: finds the requested API, and stores the token, so that it can be revoked. */
function issued(
  request: ClientTokenRequest,
  { id, eventId, adminApi }: { id: string; eventId: string; adminApi: string },
  now: Date,
): Statement<IssuedRow> {
  const { assertion, issuer, proof, resource, scope } = request;
  const jtiHash = assertion?.jtiHash ?? null;
  const event = { id: eventId, at: now, type: 'token.issued', actor: request.actor } as const;
  const wanted = sql`string_to_array(${scope ?? null}::text, ' ')`;
  return sql<IssuedRow>`with client as materialized (${currentClient(request)}),
    used as (${usedAssertion(assertion)}),
    proof as (${proof ? usedProof(proof, sql`(select project_id, id as client_id from client) proving`) : sql`select 1`}),
    target as materialized (${grantedApis(sql`client`, resource ?? null)}
      union all select ${adminApi}, ${adminTokenTtlSeconds}::int, k.admin_scopes
      from client c join clients k on k.project_id = c.project_id and k.id = c.id
      where k.admin_scopes <> '{}' and (${resource ?? null}::text is null or ${resource ?? null}::text = ${adminApi}::text) limit 2),
    meant as (
      select audience, ttl_seconds, array_to_string(coalesce(${wanted}, granted), ' ') as scope
      from target where (select count(*) from target) = 1 and (${scope ?? null}::text is null or ${wanted} <@ granted)
    ),
    token as (
      insert into authorization_codes (project_id, id, client_id, credential, issuer, scope, auth_time, amr, created_at, expires_at,
        used_at, forget_at)
      select k.project_id, ${id}::uuid, k.id, ${obtainedWith(request)}::text, ${storedIssuer(issuer)}::text, meant.scope, ${now}::timestamptz, '{}',
        ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz,
        ${secondsLater(now, graceSeconds)}::timestamptz + make_interval(secs => meant.ttl_seconds)
      from client join clients k on k.project_id = client.project_id and k.id = client.id cross join meant
      where 'client_credentials' = any(k.grant_types) and k.token_endpoint_auth_method <> 'none'
        and case when ${jtiHash}::text is null then true else exists (select from used) end and exists (select from proof)
      returning id, project_id, client_id
    ),
    about as (select t.project_id, t.client_id, k.name as client_name
      from token t join clients k on k.project_id = t.project_id and k.id = t.client_id),
    event as (${ownEventOfClient(event, sql`about`)})
    select exists (select from client) as client_is_current,
      ${jtiHash}::text is null or exists (select from used) as assertion_is_fresh,
      exists (select from proof) as proof_is_fresh, (select count(*)::int from target) as targets, token.id, meant.audience, meant.scope, meant.ttl_seconds
    from (values (1)) one left join meant on true left join token on true`;
}
