import type { EntityManager } from '@mikro-orm/postgresql';
import { hasAccessTo, mayEnter } from '../../access/has-access.ts';
import { choicesOf, type MemberChoice } from '../../access/member-choices.ts';
import { execute, query, sql } from '../../kernel/sql.ts';
import { hasExpiredIn, strictest } from '../../policy/organization.ts';
import { isConnected, meetsSignInPolicy } from '../../policy/session.ts';
import type { Project } from '../../projects/project.entity.ts';
import type { Session } from '../../sessions/session.entity.ts';
import { toUserFacts, type UserFactsRow, userFacts } from '../../sessions/user-facts.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';

/**
 * Where a request continues under a session: in an organization or in none, after a choice or another sign-in, or nowhere.
 * `sign-in`: the session does not meet the rules of the organization, which has become that of the request.
 */
export type RequestContext = { organizationId: string | null } | { choices: MemberChoice[] } | 'sign-in' | 'no-access';

/**
 * The context of a request under a session that meets its other requirements (decisions/0384). The statement that issues a code
 * checks membership again.
 *
 * @param session read before this request extends its idle timeout
 */
export async function contextOf(
  em: EntityManager,
  request: AuthorizationRequest,
  session: Session,
  now: Date,
): Promise<RequestContext> {
  const client = request.client.getEntity();
  const project = client.project.getEntity();
  const userId = session.user.id;
  const named = namedFor(request, userId);
  const found = areOffered(request, project) ? await choicesOf(em, client, userId, named) : [];
  if (found.length > 1) return { choices: found };
  const [organization] = found;
  if (!organization) return (await mayEnter(em, client, userId, named)) ? { organizationId: null } : 'no-access';
  if (await isEnough(em, organization, session, project, now)) return { organizationId: organization.id };
  if (named === null) await setOrganization(em, request, { organizationId: organization.id, userId });
  return 'sign-in';
}

/** The organization of a request for a user: one that another user chose does not count. */
function namedFor({ organizationId, organizationChosenBy }: AuthorizationRequest, userId: string): string | null {
  return organizationChosenBy == null || organizationChosenBy === userId ? (organizationId ?? null) : null;
}

/** Whether the issuer of the request, and the project, have organizations. */
export function areOffered({ issuer }: AuthorizationRequest, { organizationsEnabled }: Project): boolean {
  return issuer != null && organizationsEnabled;
}

/** Whether a session meets the rules of an organization in addition to those of its project. */
async function isEnough(
  em: EntityManager,
  { policy }: MemberChoice,
  session: Session,
  project: Project,
  now: Date,
): Promise<boolean> {
  if (hasExpiredIn(policy, session, project, now)) return false;
  if (policy.mfaPolicy === null) return isConnected(session, strictest(project, policy));
  const facts = sql<UserFactsRow>`select ${userFacts(project.id, sql`${session.user.id}::uuid`)}`;
  const [row] = await query(em, facts, { prepare: 'organizations.user-facts' });
  return row !== undefined && meetsSignInPolicy(session, toUserFacts(row), strictest(project, policy));
}

/**
 * Stores the organization of a request for a user who may use its client there, if the application asked for none. Otherwise, and
 * if the request is finished, changes nothing.
 */
async function setOrganization(
  em: EntityManager,
  request: AuthorizationRequest,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<void> {
  const [organization, user] = [sql`${organizationId}::uuid`, sql`${userId}::uuid`];
  await execute(
    em,
    sql`update authorization_requests set organization_id = ${organization}, organization_chosen_by = ${user}
      where project_id = ${request.project.id}::uuid and id = ${request.id}::uuid and finished_at is null
        and (organization_id is null or organization_chosen_by is not null)
        and ${hasAccessTo(request.client.getEntity(), user, organization)}`,
  );
}

/** Stores the choice of the session's user. */
export async function choose(
  em: EntityManager,
  request: AuthorizationRequest,
  session: Session,
  organizationId: string,
): Promise<void> {
  if (!areOffered(request, request.client.getEntity().project.getEntity())) return;
  await setOrganization(em, request, { organizationId, userId: session.user.id });
}
