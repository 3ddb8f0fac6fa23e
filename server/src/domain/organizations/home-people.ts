import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Executing, execute, query, type Statement, sql } from '../kernel/sql.ts';
import { isAt, movedToProject } from '../users/identity/home.ts';
import { unlessTaken } from '../users/user-writing.ts';
import type { Organization } from './organization.entity.ts';
import { inside } from './organization-events.ts';

/** SQL: users of the projects who are at home in an organization and not its members; there must be none. */
export function usersOutsideHome(projectIds: readonly string[]): Statement<{ id: string; organizationId: string }> {
  return sql<{ id: string; organizationId: string }>`select u.id, u.organization_id as "organizationId" from users u
    where u.project_id = any(${projectIds}::uuid[]) and u.organization_id is not null
      and not exists (select 1 from organization_memberships m
        where m.project_id = u.project_id and m.organization_id = u.organization_id and m.user_id = u.id)
    limit 1`;
}

/** A user at home in an organization. */
interface UserAtHome {
  id: string;
  userName: string;
}

const homeIn = ({ project, id }: Organization) => isAt({ projectId: project.id, organizationId: id });

/** Users at home in an organization, at most `limit`. */
export function usersAtHome(on: Executing, organization: Organization, limit: number): Promise<UserAtHome[]> {
  return query(
    on,
    sql<UserAtHome>`select r.id, r.user_name as "userName" from users r where ${homeIn(organization)} order by r.id limit ${limit}`,
  );
}

/** A userName at home in the organization that a user at home in the project has, too; null: none. */
export async function firstTakenName(on: Executing, organization: Organization): Promise<string | null> {
  const [taken] = await query(
    on,
    sql<{ name: string }>`select r.user_name as name from users r where ${homeIn(organization)}
      and exists (select 1 from users p
        where p.project_id = r.project_id and p.organization_id is null and p.user_name_key = r.user_name_key)
      order by r.id limit 1`,
  );
  return taken?.name ?? null;
}

/**
 * Joins: the project becomes the home of users of an organization, each with an event. No directory manages them then. Refuses `taken` for a
 * userName.
 */
export async function moveToProject(
  { audit, clock }: { audit: Audit; clock: Clock },
  em: EntityManager,
  organization: Organization,
  users: readonly UserAtHome[],
  actor: Actor,
): Promise<void> {
  const ids = users.map(({ id }) => id);
  const home = { projectId: organization.project.id, organizationId: organization.id };
  const moved = movedToProject(home, ids, clock.now());
  await unlessTaken(() => execute(em, moved));
  const events = users.map(({ id, userName }) =>
    inside('user.moved', organization, {
      subject: { kind: 'user', id, name: userName },
      actor,
      detail: { before: { organizationId: organization.id }, after: { organizationId: null } },
    }),
  );
  await execute(em, audit.insertions(events));
}
