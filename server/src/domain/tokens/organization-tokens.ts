import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';
import { isMember } from '../organizations/membership.ts';

/** The context of codes, tokens and refresh grants. */
export interface OrganizationContext {
  projectId: string;
  /** It may be deleted. */
  organizationId: string;
}

/** SQL condition: the row `t` is in the context, and its user is not a member. */
export function lacksMembership({ projectId, organizationId }: OrganizationContext, t: string): Fragment {
  const member = isMember({
    projectId: sql`${projectId}::uuid`,
    organizationId: sql`${organizationId}::uuid`,
    userId: sql.ref(`${t}.user_id`),
  });
  return sql`${sql.ref(`${t}.organization_id`)} = ${organizationId}::uuid and not ${member}`;
}

/**
 * Ends codes, access tokens, refresh grants and API keys in the organization of those of the users who are not members. In separate
 * statements: each sees the commits for which the one before waited.
 */
export async function endTokensWithoutMembership(
  em: EntityManager,
  context: OrganizationContext,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  const live = sql`t.project_id = ${context.projectId}::uuid and t.user_id = any(${userIds}::uuid[])
    and t.revoked_at is null and ${lacksMembership(context, 't')}`;
  await execute(em, sql`update authorization_codes t set revoked_at = ${now}::timestamptz where ${live}`);
  await execute(em, sql`update refresh_grants t set revoked_at = ${now}::timestamptz where ${live}`);
  await execute(em, sql`update user_keys t set revoked_at = ${now}::timestamptz where ${live}`);
  await execute(
    em,
    sql`update authorization_codes t set revoked_at = ${now}::timestamptz where ${live} and t.grant_id is not null`,
  );
}
