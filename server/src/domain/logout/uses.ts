import type { NameIdKind } from '../clients/saml/saml.resource.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { lacksMembership, type OrganizationContext } from '../tokens/organization-tokens.ts';
import { ofUsers } from '../users/user-tables.ts';

/** An application with a logout URI that a user used, under a session or not. */
export interface Use {
  userId: string;
  /** Of the user; null: the id is `sub`. */
  subject: string | null;
  clientId: string;
  clientName: string;
  /** Where it receives logout tokens, or logout requests over SOAP. */
  uri: string;
  /** Whether its tokens need `sid`. */
  needsSid: boolean;
  /** The session; null: none, e.g. for codes of the browser SDK. */
  sessionId: string | null;
  /** The issuer of its tokens; null: the base issuer. */
  issuer: string | null;
  /** Of a SAML application: the values that the NameID depends on. */
  saml: SamlUse | null;
}

interface SamlUse {
  /** Of the NameID that it received. */
  kind: NameIdKind;
  salt: string | null;
  /** The claim of kind `attribute`. */
  attribute: string | null;
  email: string | null;
}

/** SQL: the address of a client `row` that receives logout tokens, or logout requests over SOAP. */
export function logoutUri(row: string): Fragment {
  const of = (column: string) => sql.id(row, column);
  return sql`(case when ${of('saml_entity_id')} is null then ${of('backchannel_logout_uri')} else ${of('saml_logout_soap_uri')} end)`;
}

/** The use, with the setting of the project. */
export interface UseInProject extends Use {
  notifyOnDeactivation: boolean | null;
}

const uri = logoutUri('k');
const columns = (projectId: string) => {
  const ofUser = (column: Fragment) =>
    sql`(select ${column} from users r where r.project_id = ${projectId}::uuid and r.id = u.user_id)`;
  const received = sql`(select j.saml_name_id from participations j
    where j.project_id = ${projectId}::uuid and j.session_id = u.session_id and j.client_id = u.client_id)`;
  return sql`u.user_id as "userId", u.client_id as "clientId", k.name as "clientName", ${uri} as uri,
    k.backchannel_logout_session_required as "needsSid", u.session_id as "sessionId", u.issuer, ${ofUser(sql`r.subject`)} as subject,
    case when k.saml_entity_id is not null then json_build_object('kind', coalesce(${received}, k.saml_name_id), 'salt', k.saml_salt,
      'attribute', k.saml_name_id_attribute, 'email', ${ofUser(sql`r.email`)}) end as saml`;
};
const receiving = sql`join clients k on k.project_id = u.project_id and k.id = u.client_id
  and ${uri} is not null and k.disabled_at is null`;

/** The order of the tokens: by first use. */
const inOrder = sql`order by u.first_at, u.session_id`;

const underSessions = (
  where: Fragment,
) => sql`select s.project_id, s.user_id, p.client_id, p.session_id, p.issuer, p.first_at, p.last_at
  from sessions s join participations p on p.project_id = s.project_id and p.session_id = s.id where ${where}`;

/** SQL: the uses under these sessions. */
export function usesUnder(projectId: string, sessionIds: readonly string[]): Statement<Use> {
  const chosen = sql`s.project_id = ${projectId}::uuid and s.id = any(${sessionIds}::uuid[])`;
  return sql<Use>`select ${columns(projectId)} from (${underSessions(chosen)}) u ${receiving} ${inOrder}`;
}

/**
 * SQL: the uses of these users since the last logout token about them. Sessions are kept for 30 days after their end,
 * refresh grants for 100 days after their last use, codes for an hour, keys of the browser SDK until the user is erased.
 *
 * @param of condition on the use `u`
 */
export function usesOf(
  projectId: string,
  userIds: readonly string[],
  of: Fragment = sql`true`,
): Statement<UseInProject> {
  const chosen = ofUsers({ projectId, ids: userIds });
  return sql<UseInProject>`select ${columns(projectId)}, p.notify_on_deactivation as "notifyOnDeactivation"
    from (
      ${underSessions(sql`s.project_id = ${projectId}::uuid and s.user_id = any(${userIds}::uuid[])`)}
      union all select project_id, user_id, client_id, session_id, issuer, created_at, last_used_at from refresh_grants where ${chosen}
      union all select project_id, user_id, client_id, session_id, issuer, used_at, used_at from authorization_codes
        where ${chosen} and used_at is not null
      union all select project_id, user_id, client_id, null, null, created_at, coalesce(last_used_at, created_at) from credentials
        where ${chosen} and kind = 'device-key' and hosted is not true
    ) u ${receiving} join projects p on p.id = u.project_id
    where ${of} and ${isUnannounced} ${inOrder}`;
}

/** SQL condition: no logout token was sent about the use `u` since. */
const isUnannounced = sql`not exists (select 1 from logout_deliveries d where d.project_id = u.project_id and d.subject = u.user_id
  and d.client_id = u.client_id and (d.sid is null or d.sid = u.session_id) and d.created_at >= u.last_at and d.state <> 'failed')`;

/** SQL: uses in the organization by those of the users who are not members, since their last logout token. */
export function usesWithoutMembership(context: OrganizationContext, userIds: readonly string[]): Statement<Use> {
  const chosen = sql`t.project_id = ${context.projectId}::uuid and t.user_id = any(${userIds}::uuid[])
    and ${lacksMembership(context, 't')}`;
  return sql<Use>`select ${columns(context.projectId)} from (
      select t.project_id, t.user_id, t.client_id, t.session_id, t.issuer, t.created_at as first_at, t.last_used_at as last_at
        from refresh_grants t where ${chosen}
      union all select t.project_id, t.user_id, t.client_id, t.session_id, t.issuer, t.used_at, t.used_at
        from authorization_codes t where ${chosen} and t.used_at is not null
    ) u ${receiving} where ${isUnannounced} ${inOrder}`;
}

/** SQL: `user_id` of all users with a code, refresh grant or API key in the organization. */
export function usersIn({ projectId, organizationId }: OrganizationContext): Fragment {
  const chosen = sql`project_id = ${projectId}::uuid and organization_id = ${organizationId}::uuid`;
  return sql`select user_id from refresh_grants where ${chosen} union select user_id from authorization_codes where ${chosen}
    union select user_id from user_keys where ${chosen}`;
}

/** SQL: `user_id` of everyone who has used a client, as {@link usesOf} finds their uses. */
export function usersOf({ project, id }: TenantKey): Fragment {
  const chosen = sql`project_id = ${project.id}::uuid and client_id = ${id}::uuid`;
  return sql`select s.user_id from participations p join sessions s on s.project_id = p.project_id and s.id = p.session_id
      where p.project_id = ${project.id}::uuid and p.client_id = ${id}::uuid
    union select user_id from refresh_grants where ${chosen}
    union select user_id from authorization_codes where ${chosen}
    union select user_id from credentials where ${chosen} and kind = 'device-key' and hosted is not true`;
}
