import { clientColumns, hasAccess } from '../../access/has-access.ts';
import { isOfLiveCredential } from '../../clients/credential-of-tokens.ts';
import { isAdmitted } from '../../clients/introductions/admission.ts';
import type { IntroducedClient } from '../../clients/introductions/client-policy.ts';
import { acceptsAssertions } from '../../connections/assertions/assertion-issuers.ts';
import { isAllowed } from '../../consents/consents.ts';
import { type Fragment, sql } from '../../kernel/sql.ts';
import type { Project } from '../../projects/project.entity.ts';

/** SQL condition: access token `t` of client `k` and user `u`, which is null for one of the client itself, has not ended. */
export function isLive({ id: projectId, organizationsEnabled: areEnabled }: Project): Fragment {
  const allowed = isAllowed({
    ...{ isThirdParty: sql`k.third_party`, projectId: sql`t.project_id`, clientId: sql`t.client_id` },
    ...{
      userId: sql`t.user_id`,
      scope: sql`t.scope`,
      resources: sql`t.resources`,
      organizationId: sql`t.organization_id`,
    },
  });
  const context = { organizationId: sql`t.organization_id`, areEnabled };
  const entering = hasAccess({ ...clientColumns, context, userId: sql`t.user_id` });
  return sql`t.revoked_at is null and k.disabled_at is null and ${isOfLiveCredential}
    and case when t.user_id is null then 'client_credentials' = any(k.grant_types) and k.token_endpoint_auth_method <> 'none'
      else u.active and ${entering} and ${allowed} end
    and (t.connection_id is null or ('jwt_bearer' = any(k.grant_types) and exists (select 1 from connections c
      where c.project_id = ${projectId}::uuid and c.id = t.connection_id and ${acceptsAssertions})))
    and (select s.ended_at from sessions s where s.project_id = t.project_id and s.id = t.session_id) is null`;
}

const tokenTables = sql`authorization_codes t join clients k on k.project_id = t.project_id and k.id = t.client_id
  left join users u on u.project_id = t.project_id and u.id = t.user_id`;

/** SQL condition: all of these access tokens are live. @param ids `uuid[]`; null: none */
export function areLive(project: Project, ids: Fragment): Fragment {
  return sql`not exists (select 1 from unnest(${ids}) earlier(id) where not exists (select 1 from ${tokenTables}
    where t.project_id = ${project.id}::uuid and t.id = earlier.id and ${isLive(project)}))`;
}

/** SQL: the {@link IntroducedClient}s of these access tokens, as JSON; null: none. */
export function introducedClientsOf(project: Project, ids: Fragment): Fragment {
  return sql`(select jsonb_agg(of.client) from unnest(${ids}) earlier(id) cross join lateral (
      select jsonb_build_object('introducedBy', k.introduced_by, 'metadataUrl', k.metadata_url, 'redirectUris', k.redirect_uris) as client
      from ${tokenTables} where t.project_id = ${project.id}::uuid and t.id = earlier.id and k.introduced_by is not null) of)`;
}

/** Whether the project accepts all of the clients, by its current policy. */
export function areAdmitted(clients: readonly IntroducedClient[] | null, project: Project): boolean {
  return clients === null || clients.every((client) => isAdmitted(client, project));
}
