import { type Fragment, sql } from '../kernel/sql.ts';

/**
 * SQL: the APIs for which a client gets tokens, with the columns `audience`, `granted` and `ttl_seconds`. A grant is
 * judged by the scopes that the API has today.
 *
 * @param client with the columns `project_id` and `id`: at most one row
 * @param resource the identifier of one of them; null: all
 */
export function grantedApis(client: Fragment, resource: string | null): Fragment {
  return sql`select a.identifier as audience, a.access_token_ttl_seconds as ttl_seconds,
      array(select s.one->>'key' from jsonb_array_elements(a.scopes) with ordinality s(one, at)
        where s.one->>'key' = any(g.scopes) order by s.at) as granted
    from ${client} c join api_grants g on g.project_id = c.project_id and g.client_id = c.id
      join apis a on a.project_id = g.project_id and a.id = g.api_id
    where g.scopes <> '{}' and (${resource}::text is null or a.identifier = ${resource}::text)`;
}
