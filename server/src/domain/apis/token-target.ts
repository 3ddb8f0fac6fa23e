import { type Fragment, sql } from '../kernel/sql.ts';

/**
 * SQL: the APIs for which a client gets tokens, with the columns `audience`, `granted` and `ttl_seconds`. A grant is
 * checked by the scopes that the API has today.
 *
 * @param client with the columns `project_id` and `id`: at most one row
 * @param resource the identifier of one of them; null: all
 */
export function grantedApis(client: Fragment, resource: string | null = null): Fragment {
  return sql`select a.identifier as audience, a.access_token_ttl_seconds as ttl_seconds,
      array(select s.one->>'key' from jsonb_array_elements(a.scopes) with ordinality s(one, at)
        where s.one->>'key' = any(g.scopes) order by s.at) as granted
    from ${client} c join api_grants g on g.project_id = c.project_id and g.client_id = c.id
      join apis a on a.project_id = g.project_id and a.id = g.api_id
    where g.scopes <> '{}' and (${resource}::text is null or a.identifier = ${resource}::text)`;
}

/** SQL condition: tokens for the API can be obtained by an exchange (RFC 8693). */
export function acceptsExchange(project: Fragment, identifier: string): Fragment {
  return sql`exists (select 1 from apis a where a.project_id = ${project} and a.identifier = ${identifier}::text
    and a.token_exchange)`;
}

/** SQL condition: API `a` is open to third-party applications. */
export const isOpenToThirdParties = sql`a.third_party_access`;

/**
 * SQL: the APIs that tokens of users can target: those of {@link grantedApis}; for a third-party client those that are open to all,
 * with every scope, of which each user allows some.
 */
export function apisForUsers(client: Fragment): Fragment {
  const isThirdParty = sql`(select k.third_party from ${client} c
    join clients k on k.project_id = c.project_id and k.id = c.id)`;
  return sql`select t.* from (${grantedApis(client)}) t where not ${isThirdParty}
    union all select a.identifier, a.access_token_ttl_seconds,
      array(select s.one->>'key' from jsonb_array_elements(a.scopes) with ordinality s(one, at) order by s.at)
    from ${client} c join apis a on a.project_id = c.project_id where ${isOpenToThirdParties} and ${isThirdParty}`;
}

/** The API of an access token, as a statement returns it; null: the token is for UserInfo. */
export interface TokenTarget {
  audience: string | null;
  /** Scopes granted to the client there. */
  granted: string[] | null;
  ttl_seconds: number | null;
}

/**
 * SQL: the target API of a token for a user, if the client may use it: the one that the request names, or the only
 * one of the row in `authorized`, which has the column `resources`.
 */
export function requestedApi(client: Fragment, authorized: Fragment, resource: string | null): Fragment {
  return sql`select t.* from ${authorized} w, (${apisForUsers(client)}) t
    where t.audience = any(w.resources) and t.audience = coalesce(${resource}::text,
      case when cardinality(w.resources) = 1 then w.resources[1] end)`;
}

/** Whether a token request names an API beyond `resources`, or fails to name one of several. */
export function missesTarget(resources: readonly string[], resource: string | undefined): boolean {
  if (resource !== undefined) return !resources.includes(resource);
  return resources.length > 1;
}
