import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Executing, execute, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { giveMovedLogins } from '../users/identity/given-logins.ts';
import { isAt, isIn, movedToProject } from '../users/identity/home.ts';
import { recordSelection, type UserRecord, withInstants } from '../users/user-record.ts';
import { unlessTaken } from '../users/user-writing.ts';
import type { Organization } from './organization.entity.ts';
import { inside } from './organization-events.ts';

/** SQL: users of the projects who are at home in an organization and not its members; there must be none. */
export function usersOutsideHome(projectIds: readonly string[]): Statement<{ id: string; organizationId: string }> {
  return sql<{ id: string; organizationId: string }>`select u.id, u.organization_id as "organizationId" from users u
    where u.project_id = any(${projectIds}::uuid[]) and u.organization_id is not null and u.account_id is null
      and not exists (select 1 from organization_memberships m
        where m.project_id = u.project_id and m.organization_id = u.organization_id and m.user_id = u.id)
    limit 1`;
}

/** A user at home in an organization. */
interface UserAtHome {
  id: string;
  userName: string;
}

const homeIn = ({ project, id }: Organization) =>
  sql`${isAt({ projectId: project.id, organizationId: id })} and r.account_id is null`;

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
 * Joins: the project becomes the home of users of an organization, each with an event. No directory manages them then. They get the login
 * emails that were withheld and are free. Refuses `taken` for a userName.
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
  const waiting = await query(
    em,
    sql<UserRecord>`select ${sql.raw(recordSelection)} from users r
      where ${isIn(home.projectId)} and r.id = any(${ids}::uuid[]) and r.withheld_email_key is not null`,
  );
  await giveMovedLogins(em, home, waiting.map(withInstants), clock.now());
  const events = users.map(({ id, userName }) =>
    inside('user.moved', organization, {
      subject: { kind: 'user', id, name: userName },
      actor,
      detail: { before: { organizationId: organization.id }, after: { organizationId: null } },
    }),
  );
  await execute(em, audit.insertions(events));
}

/** Ids of the records of guests in an organization, at most `limit`. */
export async function guestsIn(on: Executing, { project, id }: Organization, limit: number): Promise<string[]> {
  const home = isAt({ projectId: project.id, organizationId: id });
  const rows = await query(
    on,
    sql<{
      id: string;
    }>`select r.id from users r where ${home} and r.account_id is not null order by r.id limit ${limit}`,
  );
  return rows.map((row) => row.id);
}

/**
 * SQL: the memberships of guests pass to the records that directories have of them, with the default roles of the organization: other roles
 * were given to the account. A record without a membership gets a suspended one. A suspension by the directory becomes the state of the user.
 */
export function passedMemberships(projectId: string, userIds: readonly string[], now: Date): Fragment[] {
  const records = sql`users r where r.project_id = ${projectId}::uuid and r.account_id = any(${userIds}::uuid[])`;
  return [
    sql`with passed as (
        update organization_memberships m set user_id = r.id, source = 'directory', last_used_at = null, suspended_by_directory = false,
            state = case when m.suspended_by_directory then 'active' else m.state end from ${records}
          and m.project_id = r.project_id and m.organization_id = r.organization_id and m.user_id = r.account_id
        returning m.id, m.organization_id
      ), defaults as (
        select p.id, d.role_id from passed p join organization_default_roles d
          on d.project_id = ${projectId}::uuid and d.organization_id = p.organization_id
      ), taken as (
        delete from organization_membership_roles g using passed p
        where g.project_id = ${projectId}::uuid and g.membership_id = p.id
          and not exists (select 1 from defaults d where d.id = p.id and d.role_id = g.role_id)
      )
      insert into organization_membership_roles (project_id, membership_id, role_id)
      select ${projectId}::uuid, d.id, d.role_id from defaults d on conflict do nothing`,
    sql`insert into organization_memberships (project_id, id, organization_id, user_id, state, source, created_at)
      select r.project_id, r.id, r.organization_id, r.id, 'suspended', 'directory', ${now}::timestamptz from ${records}
      on conflict do nothing`,
  ];
}
