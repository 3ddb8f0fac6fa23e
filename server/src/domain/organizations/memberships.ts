import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { existing, keyIn, type TenantKey } from '../projects/tenant.ts';
import type { JoinHome } from '../users/identity/home.ts';
import { User } from '../users/user.entity.ts';
import type { MembershipLosses } from './membership-losses.ts';
import { Organization } from './organization.entity.ts';
import { inside } from './organization-events.ts';
import { OrganizationMembership } from './organization-membership.entity.ts';
import { OrganizationRole } from './organization-role.entity.ts';
import { defaultRolesOf, rolesWithKeys } from './organization-roles.ts';

type MembershipState = OrganizationMembership['state'];

/** A new member. */
interface NewMember {
  userId: string;
  source: OrganizationMembership['source'];
  /** Ids of deleted roles are ignored. */
  roleIds: readonly string[];
  /** Default: active. */
  state?: 'active' | 'requested';
}

/** Ends what the identity providers of an organization may state about a former member. Joins. */
export type EndIdentities = (
  em: EntityManager,
  organization: TenantKey,
  user: Pick<User, 'id' | 'userName'>,
  actor: Actor,
) => Promise<void>;

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  membershipLosses: Pick<MembershipLosses, 'queue'>;
  endIdentities: EndIdentities;
}

/** Members of organizations and their roles. Each method is one transaction, unless it joins one. */
export class Memberships {
  constructor(private readonly deps: Deps) {}

  /** Refuses `not-found`. */
  async get(em: EntityManager, key: TenantKey): Promise<OrganizationMembership> {
    return (await existing(em, OrganizationMembership, key, 'organization-membership')) as OrganizationMembership;
  }

  /**
   * Makes a user a member. Refuses `not-found` for the organization, user or a role, and `taken` for a member.
   *
   * @param roleKeys default: the default roles of the organization
   */
  add(key: TenantKey, { userId, roleKeys }: { userId: string; roleKeys?: readonly string[] }, actor: Actor) {
    return this.deps.db.transaction(async (em) => {
      const organization = (await existing(em, Organization, key, 'organization')) as Organization;
      const { accountId, id } = await existing(em, User, keyIn(key.project.id, userId), 'user');
      if (accountId != null) refuse({ code: 'not-found', what: 'user' });
      const roles = roleKeys ? await rolesWithKeys(em, key.project.id, roleKeys) : await defaultRolesOf(em, key);
      const member = { userId: id, source: 'admin', roleIds: roles.map((role) => role.id) } as const;
      const added = await this.join(em, organization, member, actor);
      if (added === null) refuse({ code: 'taken', what: 'organization-membership', field: 'userId' });
      return this.get(em, added);
    });
  }

  /**
   * Joins: makes a user a member, or accepts the request of one. @returns the key of the membership; null: the user has another one, which
   * stays as it is
   */
  async join(
    em: EntityManager,
    organization: Organization,
    { userId, source, roleIds, state = 'active' }: NewMember,
    actor: Actor,
  ): Promise<TenantKey | null> {
    const { audit, clock, random } = this.deps;
    const { project } = organization;
    const id = random.id();
    const [added] = await query(
      em,
      sql<{ id: string; name: string }>`insert into organization_memberships as held
          (project_id, id, organization_id, user_id, state, source, created_at)
        values (${project.id}::uuid, ${id}::uuid, ${organization.id}::uuid, ${userId}::uuid, ${state}::text, ${source}::text,
          ${clock.now()}::timestamptz)
        on conflict (project_id, organization_id, user_id) do update set state = excluded.state, source = excluded.source
          where held.state = 'requested' and excluded.state = 'active'
        returning id, (select u.user_name from users u where u.project_id = ${project.id}::uuid and u.id = user_id) as name`,
    );
    if (!added) return null;
    const key = keyIn(project.id, added.id);
    const roles = await this.giveRoles(em, key, roleIds);
    const subject = { kind: 'user', id: userId, name: added.name };
    const detail = { membershipId: added.id, source, roles };
    const type = state === 'active' ? 'organization-membership.created' : 'organization-membership.requested';
    audit.record(em, inside(type, organization, { subject, actor, detail }));
    return key;
  }

  /** The organization as the home of new users, whom it gives its default roles. See {@link OpenHome}. */
  async openHome(em: EntityManager, key: TenantKey): Promise<JoinHome> {
    const { project, id } = key;
    if (isUuid(id)) {
      await query(
        em,
        sql`select 1 from organizations where project_id = ${project.id}::uuid and id = ${id}::uuid for key share`,
      );
    }
    const organization = (await existing(em, Organization, key, 'organization')) as Organization;
    const roleIds = (await defaultRolesOf(em, key)).map((role) => role.id);
    return async (userId, source, actor) => {
      await this.join(em, organization, { userId, source, roleIds }, actor);
    };
  }

  /** Ends a membership; the user stays. Refuses `not-found`, and `forbidden` for a user at home in the organization. */
  remove(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const membership = await this.locked(em, key);
      if (isHome(membership)) refuse({ code: 'forbidden', reason: 'the organization is the home of this user' });
      await this.end(em, membership, actor);
    });
  }

  /**
   * Joins: ends the user's own membership. Refuses `not-found`, also for a suspended one: a user who joins again by the domain of their
   * address would undo the suspension; and for the membership of their home, which ends only with the home.
   */
  async leave(em: EntityManager, { project, id }: TenantKey, membershipId: string, actor: Actor): Promise<void> {
    const membership = await this.locked(em, keyIn(project.id, membershipId));
    const isOwn = membership.user.id === id && membership.state === 'active' && !isHome(membership);
    if (!isOwn) refuse({ code: 'not-found', what: 'organization-membership' });
    await this.end(em, membership, actor);
  }

  private async end(em: EntityManager, membership: OrganizationMembership, actor: Actor): Promise<void> {
    const { organization, project, user } = membership;
    this.record(em, 'organization-membership.ended', membership, actor);
    await this.deps.endIdentities(em, keyIn(project.id, organization.id), user.getEntity() as User, actor);
    em.remove(membership);
    await this.lost(em, membership);
  }

  /** Suspends or activates a membership; activating accepts a request. Idempotent. Refuses `not-found`, `invalid`. */
  setState(key: TenantKey, state: MembershipState, actor: Actor): Promise<OrganizationMembership> {
    if (state === 'requested') refuse({ code: 'invalid', field: 'state', reason: 'must be ACTIVE or SUSPENDED' });
    return this.deps.db.transaction(async (em) => {
      const membership = await this.locked(em, key);
      const isSame = membership.state === state && !membership.suspendedByDirectory;
      if (!isSame) await this.change(em, membership, { state, suspendedByDirectory: false }, actor);
      return membership;
    });
  }

  private async change(
    em: EntityManager,
    membership: OrganizationMembership,
    after: Pick<OrganizationMembership, 'state' | 'suspendedByDirectory'>,
    actor: Actor,
  ) {
    const { state, suspendedByDirectory } = membership;
    Object.assign(membership, after);
    this.record(em, 'organization-membership.updated', membership, actor, {
      before: { state, ...(suspendedByDirectory && { suspendedByDirectory }) },
      after: { state: after.state, ...(after.suspendedByDirectory && { suspendedByDirectory: true }) },
    });
    if (after.state === 'suspended') await this.lost(em, membership);
  }

  /**
   * Joins: what the directory says of a member, if the user is one. It does not undo the suspension by an admin.
   */
  async follow(
    em: EntityManager,
    { project, id }: TenantKey,
    userId: string,
    state: 'active' | 'suspended',
    actor: Actor,
  ) {
    const membership = await this.lockedOf(em, project.id, id, userId);
    if (!membership || membership.state === state || isSuspendedByAdmin(membership)) return;
    await this.change(em, membership, { state, suspendedByDirectory: state === 'suspended' }, actor);
  }

  /**
   * Joins: the directory has removed a member. One whom an admin has suspended stays so: otherwise a new record of the directory would
   * undo it.
   */
  async removedByDirectory(em: EntityManager, { project, id }: TenantKey, userId: string, actor: Actor): Promise<void> {
    const membership = await this.lockedOf(em, project.id, id, userId);
    if (membership && !isSuspendedByAdmin(membership)) await this.end(em, membership, actor);
  }

  /** Joins: ends the membership of a user who is at home elsewhere, or no longer at home there. */
  async endOf(em: EntityManager, { project, id }: TenantKey, userId: string, actor: Actor): Promise<void> {
    const membership = await this.lockedOf(em, project.id, id, userId);
    if (membership) await this.end(em, membership, actor);
  }

  /**
   * Joins: the membership of a user at home passes, with its roles, to the account whose guest record the user has become. A member stays as
   * they are, unless an admin had suspended the user.
   */
  async pass(
    em: EntityManager,
    { project, id }: TenantKey,
    recordId: string,
    { isActive, userId }: { isActive: boolean; userId: string },
    actor: Actor,
  ): Promise<void> {
    const former = await this.lockedOf(em, project.id, id, recordId);
    if (!former) return;
    const roles = await query(
      em,
      sql<{ id: string }>`select role_id as id from organization_membership_roles
        where project_id = ${project.id}::uuid and membership_id = ${former.id}::uuid`,
    );
    const organization = former.organization.getEntity() as Organization;
    const isSuspended = isSuspendedByAdmin(former);
    em.remove(former);
    await em.flush();
    await this.join(em, organization, { userId, source: 'directory', roleIds: roles.map((role) => role.id) }, actor);
    await em.flush();
    const membership = await this.lockedOf(em, project.id, id, userId);
    if (!membership || membership.state === 'suspended' || (isActive && !isSuspended)) return;
    await this.change(em, membership, { state: 'suspended', suspendedByDirectory: !isSuspended }, actor);
  }

  /** Joins: ends the memberships of a user in all organizations except their home. */
  async endElsewhere(em: EntityManager, home: TenantKey, userId: string, actor: Actor): Promise<void> {
    const held = await query(
      em,
      sql<{ id: string }>`select organization_id as id from organization_memberships
        where project_id = ${home.project.id}::uuid and user_id = ${userId}::uuid and organization_id <> ${home.id}::uuid order by 1`,
    );
    for (const { id } of held) await this.endOf(em, keyIn(home.project.id, id), userId, actor);
  }

  private async lockedOf(em: EntityManager, projectId: string, organizationId: string, userId: string) {
    const [row] = await query(
      em,
      sql<{ id: string }>`select id from organization_memberships
        where project_id = ${projectId}::uuid and organization_id = ${organizationId}::uuid and user_id = ${userId}::uuid`,
    );
    return row ? this.locked(em, keyIn(projectId, row.id)) : null;
  }

  /** Gives a member a role; idempotent. Refuses `not-found` for the membership or the role. */
  assign(key: TenantKey, roleKey: string, actor: Actor): Promise<OrganizationMembership> {
    return this.deps.db.transaction(async (em) => {
      const membership = await this.locked(em, key);
      const roles = await rolesWithKeys(em, key.project.id, [roleKey]);
      const given = await this.giveRoles(
        em,
        key,
        roles.map(({ id }) => id),
      );
      if (given.length > 0)
        this.recordRole(em, 'organization-role.assigned', membership, roles[0]?.name ?? '', roleKey, actor);
      return membership;
    });
  }

  /** Takes a role from a member; idempotent. Refuses like {@link assign}. */
  unassign(key: TenantKey, roleKey: string, actor: Actor): Promise<OrganizationMembership> {
    return this.deps.db.transaction(async (em) => {
      const membership = await this.locked(em, key);
      const [role] = await rolesWithKeys(em, key.project.id, [roleKey]);
      const taken = await execute(
        em,
        sql`delete from organization_membership_roles where project_id = ${key.project.id}::uuid
          and membership_id = ${membership.id}::uuid and role_id = ${role?.id ?? null}::uuid`,
      );
      if (taken > 0) this.recordRole(em, 'organization-role.unassigned', membership, role?.name ?? '', roleKey, actor);
      return membership;
    });
  }

  /**
   * Joins: gives a member the wanted ones of the roles of `keys`, and takes the others of them. Nothing for a user without a membership.
   *
   * @param keys those of deleted roles are ignored
   */
  async replaceRoles(
    em: EntityManager,
    { project, id }: TenantKey,
    userId: string,
    { keys, wanted }: { keys: readonly string[]; wanted: ReadonlySet<string> },
    actor: Actor,
  ): Promise<void> {
    const [found] = await query(
      em,
      sql<{ id: string }>`select id from organization_memberships where project_id = ${project.id}::uuid
        and organization_id = ${id}::uuid and user_id = ${userId}::uuid`,
    );
    if (!found) return;
    const membership = await this.locked(em, keyIn(project.id, found.id));
    const roles = await em.find(OrganizationRole, { project: project.id, key: { $in: [...keys] } });
    const idsOf = (isWanted: boolean) => roles.filter(({ key }) => wanted.has(key) === isWanted).map((role) => role.id);
    const given = await this.giveRoles(em, membership, idsOf(true));
    const taken = await query(
      em,
      sql<{ id: string }>`delete from organization_membership_roles where project_id = ${project.id}::uuid
        and membership_id = ${membership.id}::uuid and role_id = any(${idsOf(false)}::uuid[]) returning role_id as id`,
    );
    for (const role of roles) {
      const isGiven = given.includes(role.key);
      if (!isGiven && !taken.some((one) => one.id === role.id)) continue;
      const type = isGiven ? 'organization-role.assigned' : 'organization-role.unassigned';
      this.recordRole(em, type, membership, role.name, role.key, actor);
    }
  }

  /** Joins. @returns the keys of the roles that the member did not have */
  private async giveRoles(
    em: EntityManager,
    { project, id }: TenantKey,
    roleIds: readonly string[],
  ): Promise<string[]> {
    if (roleIds.length === 0) return [];
    const given = await query(
      em,
      sql<{ key: string }>`with given as (
          insert into organization_membership_roles (project_id, membership_id, role_id)
          select r.project_id, ${id}::uuid, r.id from organization_roles r
          where r.project_id = ${project.id}::uuid and r.id = any(${roleIds}::uuid[])
          on conflict do nothing returning role_id)
        select r.key from organization_roles r join given g on r.project_id = ${project.id}::uuid and r.id = g.role_id order by 1`,
    );
    return given.map(({ key }) => key);
  }

  private async locked(em: EntityManager, key: TenantKey): Promise<OrganizationMembership> {
    if (isUuid(key.id)) {
      await query(
        em,
        sql`select 1 from organization_memberships where project_id = ${key.project.id}::uuid and id = ${key.id}::uuid for no key update`,
      );
    }
    const populate = ['organization', 'user'] as const;
    const found = await existing(em, OrganizationMembership, key, 'organization-membership', { populate });
    return found as unknown as OrganizationMembership;
  }

  private lost(em: EntityManager, { project, organization, user }: OrganizationMembership): Promise<void> {
    const of = { projectId: project.id, organizationId: organization.id };
    return this.deps.membershipLosses.queue(em, { ...of, userIds: [user.id] });
  }

  private record(
    em: EntityManager,
    type: EventType,
    { id, organization, user }: OrganizationMembership,
    actor: Actor,
    detail: object = {},
  ): void {
    const { id: userId, userName } = user.getEntity() as User;
    const subject = { kind: 'user', id: userId, name: userName };
    const of = organization.getEntity() as Organization;
    this.deps.audit.record(em, inside(type, of, { subject, actor, detail: { membershipId: id, ...detail } }));
  }

  private recordRole(
    em: EntityManager,
    type: EventType,
    membership: OrganizationMembership,
    role: string,
    key: string,
    actor: Actor,
  ): void {
    this.record(em, type, membership, actor, { role, key });
  }
}

function isSuspendedByAdmin({ state, suspendedByDirectory }: OrganizationMembership): boolean {
  return state === 'suspended' && !suspendedByDirectory;
}

/** Whether the organization is the home of the member. */
function isHome({ organization, user }: OrganizationMembership): boolean {
  return (user.getEntity() as User).organizationId === organization.id;
}
