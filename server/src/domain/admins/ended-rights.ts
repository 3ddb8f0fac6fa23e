import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import { type RecordedRole, type RecordedToken, roleEvent, tokenEvent } from './events.ts';

/** Key of the advisory lock: role changes are serialized, so that two owners cannot remove each other. */
const rolesLock = 7_316_904_554;

/** Waits for other changes of roles, and holds them back until the transaction ends. */
export async function lockRoles(on: Executing): Promise<void> {
  await query(on, sql`select pg_advisory_xact_lock(${rolesLock})`, { prepare: 'admins.lock-roles' });
}

interface Ending {
  audit: Pick<Audit, 'insertions'>;
  now: Date;
  actor: Actor;
}

/**
 * Joins: ends all roles of a user, whose account passes to another person or is erased, and their API tokens. To be called in
 * the scope of all projects. @param user.name the name of the person who had the roles
 */
export async function endRoles(
  on: Executing,
  user: { id: string; projectId: string; name: string },
  ending: Ending,
): Promise<void> {
  await lockRoles(on);
  const roles = await query(
    on,
    sql<Omit<RecordedRole, 'userId' | 'name'>>`delete from memberships
      where user_project_id = ${user.projectId} and user_id = ${user.id}
      returning id, role, project_id as "projectId", organization_ids as "organizationIds", impersonates`,
  );
  const { actor, audit } = ending;
  const events = roles.map((role) =>
    roleEvent('membership.revoked', { ...role, userId: user.id, name: user.name }, actor),
  );
  if (events.length > 0) await execute(on, audit.insertions(events));
  await endTokensWithoutRights(on, user.id, ending);
}

/**
 * Joins: revokes the API tokens of an admin that have no rights left, since every role under which they were created has ended
 * (`Admins.byToken`). To be called in the scope of all projects.
 */
export async function endTokensWithoutRights(
  on: Executing,
  userId: string,
  { actor, audit, now }: Ending,
): Promise<void> {
  const tokens = await query(
    on,
    sql<Omit<RecordedToken, 'expiresAt'> & { expiresAt: string | null }>`update admin_tokens t set revoked_at = ${now}
      where t.created_by_id = ${userId} and t.revoked_at is null and (t.expires_at is null or t.expires_at > ${now})
        and not exists (select 1 from memberships m where m.user_id = ${userId} and m.created_at <= t.created_at
          and (m.role = 'owner' or t.role = 'owner' or m.project_id = t.project_id))
      returning t.id, t.name, t.role, t.project_id as "projectId", t.organization_ids as "organizationIds", t.expires_at as "expiresAt"`,
  );
  const events = tokens.map(({ expiresAt, ...token }) =>
    tokenEvent('admin-token.revoked', { ...token, expiresAt: expiresAt === null ? null : new Date(expiresAt) }, actor),
  );
  if (events.length > 0) await execute(on, audit.insertions(events));
}
