import { clientColumns, hasAccess } from '../access/has-access.ts';
import { type IntroducedClient, limitsOf, within } from '../clients/introductions/client-policy.ts';
import { isAllowed } from '../consents/consents.ts';
import { earliest, isPast, secondsLater } from '../kernel/clock.ts';
import { type Fragment, type Statement, sql } from '../kernel/sql.ts';
import { latestEndIn, strictest } from '../policy/organization.ts';
import { latestEnd, type SessionProof } from '../policy/session.ts';
import type { Project } from '../projects/project.entity.ts';
import { subColumn } from '../users/identity/sub.ts';
import { meetsPolicies, proofOf, type SignInFactsRow, signInFacts } from './sign-in-facts.ts';

/** What decides whether a grant may be used: the columns of {@link grantFacts}. */
export interface GrantFactsRow extends SignInFactsRow {
  offline: boolean;
  /** The organization whose connection signed in before the grant, if the grant began in its context. */
  connected_organization_id: string | null;
  amr: string[];
  created_at: string;
  last_used_at: string;
  session_created_at: string | null;
  session_expires_at: string | null;
  session_ended_at: string | null;
}

/** Settings of a client, of which each may be stricter than its project's. */
export interface GrantClient extends Partial<IntroducedClient> {
  passkeyRequired: boolean;
  refreshTokenTtlSeconds?: number | null | undefined;
  refreshTokenIdleSeconds?: number | null | undefined;
}

/** SQL: columns of grant `g`, its session `s` and its user `u`. */
export function grantFacts(project: Project): Fragment {
  return sql`g.offline, g.connected_organization_id, g.amr, g.created_at, g.last_used_at, s.created_at as session_created_at,
    s.expires_at as session_expires_at, s.ended_at as session_ended_at, ${signInFacts(project, sql`g.organization_id`)}`;
}

/** When the grant ends if it is not used, whatever becomes of its session. Of each lifetime, the shorter one counts. */
export function grantEnd(grant: GrantFactsRow, client: GrantClient, project: Project): Date {
  const { introducedBy = null, metadataUrl = null, redirectUris = [] } = client;
  const limits = limitsOf([{ introducedBy, metadataUrl, redirectUris }], project);
  const ownSeconds = Math.min(project.refreshTokenTtlSeconds, client.refreshTokenTtlSeconds ?? Infinity);
  const ttlSeconds = within(ownSeconds, limits.refreshTokenTtlSeconds);
  const idleSeconds = Math.min(project.refreshTokenIdleSeconds, client.refreshTokenIdleSeconds ?? Infinity);
  return earliest(
    secondsLater(new Date(grant.created_at), ttlSeconds),
    secondsLater(new Date(grant.last_used_at), idleSeconds),
  );
}

/** The end of the grant's session in use; null without one that has not been ended. */
function sessionEnd(grant: GrantFactsRow, project: Project): Date | null {
  const { session_created_at: createdAt, session_expires_at: expiresAt, session_ended_at: endedAt } = grant;
  if (createdAt === null || expiresAt === null || endedAt !== null) return null;
  const end = latestEnd({ createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) }, project);
  const { organization, session_auth_time: authTime, session_connected: connected } = grant;
  const ofOrganization =
    organization && authTime ? latestEndIn(organization, { authTime: new Date(authTime), connected }) : null;
  return ofOrganization ? earliest(end, ofOrganization) : end;
}

/**
 * Whether the session that the grant needs lasts: none with `offline_access`. One that was idle for too long ends no grant,
 * as it ends no access token.
 */
export function hasSession(grant: GrantFactsRow, project: Project, now: Date): boolean {
  const end = sessionEnd(grant, project);
  return grant.offline || (end !== null && !isPast(end, now));
}

/** The sign-in of a grant that outlives its session. */
function offlineProof({ amr, connected_organization_id: id, created_at: at }: GrantFactsRow): SessionProof {
  return { amr, connected: id === null ? null : { [id]: at } };
}

/** Whether the sign-in of the grant meets the current policies; with `offline_access`, only its methods count. */
export function isSufficient(grant: GrantFactsRow, client: GrantClient, project: Project): boolean {
  return meetsPolicies(
    grant.offline ? offlineProof(grant) : proofOf(grant),
    grant,
    client,
    strictest(project, grant.organization ?? null),
  );
}

/** When the grant ends if it is not used; null if it may not be used now. */
export function usableUntil(grant: GrantFactsRow, client: GrantClient, project: Project, now: Date): Date | null {
  const own = grantEnd(grant, client, project);
  if (isPast(own, now) || !hasSession(grant, project, now) || !isSufficient(grant, client, project)) return null;
  const end = grant.offline ? null : sessionEnd(grant, project);
  return end ? earliest(own, end) : own;
}

/** The columns of {@link openGrants}. */
export interface OpenGrantRow extends GrantFactsRow {
  id: string;
  client_id: string;
  user_id: string;
  organization_id: string | null;
  sub: string;
  scope: string;
  passkey_required: boolean;
  refresh_token_ttl_seconds: number | null;
  refresh_token_idle_seconds: number | null;
  introduced_by: IntroducedClient['introducedBy'];
  metadata_url: string | null;
  redirect_uris: string[];
}

/**
 * SQL: grants of active users and enabled clients, with what {@link usableUntil} decides from, newest first. Users and
 * sessions are looked up one by one (`offset 0`): PostgreSQL would otherwise read all of the project.
 *
 * @param where condition on grant `g`
 */
export function openGrants(project: Project, where: Fragment, limit: number): Statement<OpenGrantRow> {
  const allowed = isAllowed({
    ...{ isThirdParty: sql`k.third_party`, projectId: sql`g.project_id`, clientId: sql`g.client_id` },
    ...{
      userId: sql`g.user_id`,
      scope: sql`g.scope`,
      resources: sql`g.resources`,
      organizationId: sql`g.organization_id`,
    },
  });
  const context = { organizationId: sql`g.organization_id`, areEnabled: project.organizationsEnabled };
  const entering = hasAccess({ ...clientColumns, context, userId: sql`g.user_id` });
  return sql<OpenGrantRow>`select g.id, g.client_id, g.user_id, g.organization_id, ${subColumn('u')} as sub, g.scope, k.passkey_required, k.refresh_token_ttl_seconds,
      k.refresh_token_idle_seconds, k.introduced_by, k.metadata_url, k.redirect_uris, ${grantFacts(project)}
    from refresh_grants g join clients k on k.project_id = g.project_id and k.id = g.client_id
      cross join lateral (select id, subject from users where project_id = g.project_id and id = g.user_id and active offset 0) u
      left join lateral (select * from sessions where project_id = g.project_id and id = g.session_id offset 0) s on true
    where g.project_id = ${project.id}::uuid and ${where} and g.revoked_at is null and k.disabled_at is null
      and 'refresh_token' = any(k.grant_types) and ${entering} and ${allowed}
    order by g.id desc limit ${limit}::int`;
}

/** The settings of the client in a row of {@link openGrants}. */
export function clientOf(row: OpenGrantRow): GrantClient {
  return {
    passkeyRequired: row.passkey_required,
    refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
    refreshTokenIdleSeconds: row.refresh_token_idle_seconds,
    introducedBy: row.introduced_by,
    metadataUrl: row.metadata_url,
    redirectUris: row.redirect_uris,
  };
}
