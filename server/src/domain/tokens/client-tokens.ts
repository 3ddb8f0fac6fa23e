import { grantedApis } from '../apis/token-target.ts';
import { ownEventOfClient } from '../audit/audit.ts';
import { obtainedWith } from '../clients/credential-of-tokens.ts';
import { adminApiUrl, adminTokenTtlSeconds } from '../kernel/admin-api.ts';
import { type Clock, seconds, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { query, type Statement, sql } from '../kernel/sql.ts';
import type { Signer } from '../keys/signer.ts';
import { storedIssuer } from '../projects/issuer.ts';
import { apiTokenClaims } from './api-token.ts';
import { type Accepted, type GrantRequest, isAccepted, presented } from './grants/grant.ts';

/** A token request with `grant_type=client_credentials` (RFC 6749 section 4.4), of a confidential client. */
export interface ClientTokenRequest extends GrantRequest {
  /** The identifier of an API; absent: the only one that the client may use. */
  resource: string | undefined;
  /** Absent: all that the client was granted there. Otherwise without duplicates. */
  scope: string | undefined;
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
    if (!isAccepted(row)) return null;
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
interface IssuedRow extends Accepted {
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
  const { issuer, resource, scope } = request;
  const { ctes, columns, hold } = presented(request, request);
  const event = { id: eventId, at: now, type: 'token.issued', actor: request.actor } as const;
  const wanted = sql`string_to_array(${scope ?? null}::text, ' ')`;
  return sql<IssuedRow>`with ${ctes},
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
        and ${hold}
      returning id, project_id, client_id
    ),
    about as (select t.project_id, t.client_id, k.name as client_name
      from token t join clients k on k.project_id = t.project_id and k.id = t.client_id),
    event as (${ownEventOfClient(event, sql`about`)})
    select ${columns}, (select count(*)::int from target) as targets, token.id, meant.audience, meant.scope, meant.ttl_seconds
    from (values (1)) one left join meant on true left join token on true`;
}
