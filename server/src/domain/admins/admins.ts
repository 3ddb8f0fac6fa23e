import { isDeepStrictEqual } from 'node:util';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects, inProject } from '../kernel/scope.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, locked } from '../projects/tenant.ts';
import { subColumn } from '../users/identity/sub.ts';
import { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';
import { AdminToken } from './admin-token.entity.ts';
import { endTokensWithoutRights, lockRoles } from './ended-rights.ts';
import { type HeldRole, held, roleEvent, tokenEvent } from './events.ts';
import { Membership, type Role } from './membership.entity.ts';
import { organizationsOfRole } from './organization-rights.ts';
import { type Grants, grantsOf, intersection, mayGrant } from './permission.ts';
import { SetupLink } from './setup-link.entity.ts';

/** The admin who grants, within their own rights. */
export interface Granter {
  grants: Grants;
  /** Absent for the bootstrap token. */
  userId?: string | undefined;
  /** Expiry of an admin API token, if it has one. */
  expiresAt?: Date | undefined;
  actor: Actor;
}

/** A new one-time link. */
export interface MintedSetupLink {
  id: string;
  /** 256 bits, shown once. */
  token: string;
  /** URL of the link; a GET does not use it. */
  url: string;
  expiresAt: Date;
}

/** A role for the user with this email address. */
export interface NewRole {
  email: string;
  role: Role;
  /** Absent for `owner`. */
  projectId?: string | undefined;
  /** Of an `organization_admin`. */
  organizationIds?: readonly string[] | undefined;
  /** Not of an `organization_admin`. Absent: false. */
  impersonates?: boolean | undefined;
}

export interface NewAdminToken extends Omit<NewRole, 'email' | 'impersonates'> {
  name: string;
  expiresAt?: Date | undefined;
}

const setupLinkSeconds = 15 * 60;
const tokenPrefix = 'lk_admin_';
const lastUsedSeconds = 60;
/** Maximum number of live tokens for a project, or for the instance, and of tokens in a list, ended ones included. */
const maxTokens = 100;
/** Maximum number of admins and viewers of a project. Owners, whom only owners add, are not limited. */
const maxMemberships = 100;
const maxOrganizationAdmins = 1000;

/**
 * Users that the admins of a project add to the console's project. They stay when their role is revoked. Owners, whom only
 * owners add, are not limited.
 */
const newUsers: LimitRule = { name: 'admins.new-users', max: 200, windowSeconds: 24 * 3600 };

interface Put extends HeldRole {
  project: Project | null;
}

/** Access to the console and admin API: roles, tokens, and setup links for the first owner. */
export class Admins {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      limits: Pick<Limits, 'spend'>;
      users: Users;
      issuer: string;
    },
  ) {}

  /** False until the first claim; the server then prints a setup link at start. */
  async hasOwner(): Promise<boolean> {
    return (await this.activeOwners(this.deps.db.reader())).length > 0;
  }

  /** A new setup link; earlier ones stay valid for their 15 minutes. */
  mintSetupLink(actor: Actor): Promise<MintedSetupLink> {
    return this.deps.db.transaction(async (em) => {
      const token = newSecret(this.deps.random);
      const now = this.deps.clock.now();
      const expiresAt = secondsLater(now, setupLinkSeconds);
      const link = em.create(SetupLink, {
        id: this.deps.random.id(),
        hash: digest(token),
        createdAt: now,
        expiresAt,
        usedAt: null,
      });
      em.persist(link);
      this.deps.audit.record(em, { type: 'setup-link.minted', actor, subject: { kind: 'setup-link', id: link.id } });
      return { id: link.id, token, url: `${this.deps.issuer}/setup?token=${token}`, expiresAt };
    });
  }

  /** The live link of the token; null if unknown, used or expired. Does not use it. */
  findSetupLink(em: EntityManager, token: string): Promise<SetupLink | null> {
    return em.findOne(SetupLink, { hash: digest(token), usedAt: null, expiresAt: { $gt: this.deps.clock.now() } });
  }

  /**
   * Joins the transaction that completes the sign-in: makes the user an owner, once per link. Refuses `not-found` if
   * the link is used or expired, or the user is not in the console's project.
   */
  async claim(em: EntityManager, setupLinkId: string, userId: string, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    const used = await execute(
      em,
      sql`
        update setup_links set used_at = ${now} where id = ${setupLinkId} and used_at is null and expires_at > ${now}`,
    );
    if (used !== 1) refuse({ code: 'not-found', what: 'setup-link' });
    const user = found(await em.findOne(User, { id: userId, project: { builtIn: 'console' } }), 'user');
    const by: Actor = { ...actor, kind: 'setup-link', id: setupLinkId, name: user.email ?? user.userName };
    const subject = { kind: 'setup-link', id: setupLinkId };
    this.deps.audit.record(em, { type: 'setup-link.used', actor: by, subject, detail: { userId } });
    await this.put(em, user, { role: 'owner', project: null, organizationIds: null, impersonates: false }, by);
  }

  async isSetupLinkOpen(em: EntityManager, id: string): Promise<boolean> {
    return (await em.count(SetupLink, { id, usedAt: null, expiresAt: { $gt: this.deps.clock.now() } })) === 1;
  }

  /**
   * The grants of a user of the console's project; none if inactive.
   *
   * @param since leaves out roles that were granted later
   */
  async grantsOfUser(em: EntityManager, userId: string, since?: Date): Promise<Grants> {
    const memberships = await query(
      em,
      sql<HeldRole & { projectId: string | null }>`
        select m.role, m.project_id as "projectId", m.organization_ids as "organizationIds"
        from projects p join users u on u.project_id = p.id and u.id = ${userId} and u.active
          join memberships m on m.user_project_id = u.project_id and m.user_id = u.id
        where p.built_in = 'console' and m.created_at <= coalesce(${since ?? null}::timestamptz, m.created_at)`,
      { prepare: 'admins.grants-of-user' },
    );
    return grantsOf(memberships);
  }

  /** `sub` of an active admin who may impersonate users of the project; null for others. */
  async impersonatorOf(userId: string, projectId: string): Promise<string | null> {
    const reading = sql<{ sub: string }>`select ${subColumn('u')} as sub
      from memberships m join users u on u.project_id = m.user_project_id and u.id = m.user_id and u.active
      where m.user_id = ${userId}::uuid and m.impersonates and (m.role = 'owner' or m.project_id = ${projectId}::uuid)
      limit 1`;
    const read = () => query(this.deps.db.alone, reading, { prepare: 'admins.impersonator' });
    const [admin] = await inAllProjects(read);
    return admin?.sub ?? null;
  }

  /**
   * The live token and its current grants, within those that its creator has had since its creation; null if unknown, expired
   * or revoked. Updates its last use.
   */
  async byToken(em: EntityManager, token: string): Promise<{ adminToken: AdminToken; grants: Grants } | null> {
    if (!token.startsWith(tokenPrefix) || token.length > 100) return null;
    const now = this.deps.clock.now();
    const adminToken = await em.findOne(AdminToken, {
      hash: digest(token),
      revokedAt: null,
      $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }],
    });
    if (!adminToken) return null;
    const own = grantsOf([{ ...held(adminToken), projectId: adminToken.project?.id ?? null }]);
    const maker = adminToken.createdById;
    // A token has rights only from roles that existed when it was created: a role granted later, perhaps to another
    // person in the account, does not count.
    const grants = maker ? intersection(own, await this.grantsOfUser(em, maker, adminToken.createdAt)) : own;
    if (!adminToken.lastUsedAt || secondsLater(adminToken.lastUsedAt, lastUsedSeconds) <= now) {
      await execute(em, sql`update admin_tokens set last_used_at = ${now} where id = ${adminToken.id}`, {
        prepare: 'admins.by-token',
      });
    }
    return { adminToken, grants };
  }

  /**
   * A token created with a token expires with it at the latest. Refuses `forbidden` beyond the granter's rights, `invalid`,
   * `not-found`.
   */
  async createToken(input: NewAdminToken, by: Granter): Promise<{ adminToken: AdminToken; token: string }> {
    const name = cleanName(input.name);
    const now = this.deps.clock.now();
    if (input.expiresAt && input.expiresAt <= now) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: 'must be in the future' });
    }
    const expiresAt = input.expiresAt ?? by.expiresAt ?? null;
    if (expiresAt && by.expiresAt && expiresAt > by.expiresAt) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: "must not be after the expiry of the caller's token" });
    }
    const createdAt = by.userId === undefined ? now : await this.afterRolesOf(by.userId, now);
    const work = async (em: EntityManager) => {
      const project = await this.scope(em, input.role, input.projectId, await this.rightsUnderLock(em, by));
      const organizationIds = await organizationsOfRole(em, input.role, project?.id, input.organizationIds);
      if ((await em.count(AdminToken, this.liveTokens(project?.id ?? null))) >= maxTokens) {
        const field = project ? 'projectId' : 'role';
        refuse({ code: 'invalid', field, reason: `already has ${maxTokens} tokens: revoke one first` });
      }
      const token = newSecret(this.deps.random, tokenPrefix);
      const adminToken = em.create(AdminToken, {
        id: this.deps.random.id(),
        name,
        hash: digest(token),
        hint: token.slice(-4),
        role: input.role,
        project: project ? em.getReference(Project, project.id, { wrapped: true }) : null,
        organizationIds,
        createdById: by.userId ?? null,
        createdAt,
        expiresAt,
        lastUsedAt: null,
        revokedAt: null,
      });
      em.persist(adminToken);
      this.recordToken(em, 'admin-token.issued', adminToken, by.actor);
      return { adminToken, token };
    };
    return inAllProjects(() => this.deps.db.transaction(work));
  }

  /** Now, but not before the roles of the user: the clock that granted one may have been ahead (see {@link byToken}). */
  private async afterRolesOf(userId: string, now: Date): Promise<Date> {
    const newest = sql<{ at: string | null }>`select max(created_at) as at from memberships where user_id = ${userId}`;
    const [row] = await inAllProjects(() => query(this.deps.db.alone, newest));
    return new Date(Math.max(now.getTime(), row?.at ? new Date(row.at).getTime() : 0));
  }

  /** Takes effect immediately. Revoking twice changes nothing. Refuses `not-found`, `forbidden`. */
  revokeToken(id: string, by: Granter): Promise<AdminToken> {
    return this.deps.db.transaction(async (em) => {
      const adminToken = await existing(em, AdminToken, id, 'admin-token', locked);
      this.checkMayGrant(by.grants, adminToken.role, adminToken.project?.id ?? null);
      if (adminToken.revokedAt) return adminToken;
      adminToken.revokedAt = this.deps.clock.now();
      this.recordToken(em, 'admin-token.revoked', adminToken, by.actor);
      return adminToken;
    });
  }

  /**
   * Grants a role to the user with this email address, who signs in to the console with it. Replaces their role in the
   * same project. Refuses `forbidden` beyond the granter's rights, `invalid`, `not-found`, `too-many`.
   */
  grantRole(input: NewRole, by: Granter): Promise<Membership> {
    return pastDeadlocks(() => this.deps.db.transaction((em) => this.grantRoleIn(em, input, by)));
  }

  /** Joins: {@link grantRole}. */
  async grantRoleIn(em: EntityManager, wanted: NewRole, by: Granter) {
    const { email, role, projectId, organizationIds, impersonates = false } = wanted;
    if (impersonates && role === 'organization_admin') {
      refuse({ code: 'invalid', field: 'impersonates', reason: 'is not for admins of organizations' });
    }
    // The lock also serializes the creation of the user.
    const project = await this.scope(em, role, projectId, await this.rightsUnderLock(em, by));
    const organizations = await organizationsOfRole(em, role, project?.id, organizationIds);
    const console = await em.findOneOrFail(Project, { builtIn: 'console' });
    const user =
      (await this.deps.users.findByAddress(em, console.id, email)) ??
      (await this.addUser(em, console, email, project, by.actor));
    return this.put(em, user, { role, project, organizationIds: organizations, impersonates }, by.actor);
  }

  private async addUser(em: EntityManager, console: Project, email: string, project: Project | null, actor: Actor) {
    if (project) {
      const { allowed, retryAfterSeconds } = await this.deps.limits.spend(em, newUsers, project.id);
      if (!allowed) refuse({ code: 'too-many', retryAfterSeconds });
    }
    return this.deps.users.signUp(em, console.id, email, actor);
  }

  /**
   * Ends a role, and the API tokens of its user that have no rights without it. Refuses `not-found`, and `forbidden` beyond the
   * granter's rights and for the last owner.
   */
  revokeRole(membershipId: string, by: Granter): Promise<Membership> {
    const { audit, clock, db } = this.deps;
    // The tokens may be of other projects.
    const work = async (em: EntityManager) => {
      const rights = await this.rightsUnderLock(em, by);
      const membership = await existing(em, Membership, membershipId, 'membership', { populate: ['user'] });
      this.checkMayGrant(rights, membership.role, membership.project?.id ?? null);
      if (membership.role === 'owner' && (await this.activeOwners(em)).every((id) => id === membership.user.id)) {
        refuse({ code: 'forbidden', reason: 'the last owner cannot be removed: add another owner first' });
      }
      this.recordRole(em, 'membership.revoked', membership, by.actor);
      em.remove(membership);
      await em.flush();
      await endTokensWithoutRights(em, membership.user.id, { actor: by.actor, audit, now: clock.now() });
      return membership;
    };
    return inAllProjects(() => pastDeadlocks(() => db.transaction(work)));
  }

  /**
   * Waits for other changes of roles. Returns what the granter may do then: their role can have ended since the request was
   * authenticated. To be called in the scope of all projects: roles belong to users of the console's project.
   */
  private async rightsUnderLock(em: EntityManager, { grants, userId }: Granter): Promise<Grants> {
    await lockRoles(em);
    if (userId === undefined) return grants;
    return intersection(grants, await this.grantsOfUser(em, userId));
  }

  /** Joins a deactivation or erasure: refuses `forbidden` for the last owner of the instance. */
  async keepOwner(em: EntityManager, userId: string): Promise<void> {
    // Users of other projects cannot be owners: they skip the lock on role changes.
    const admin = sql`select 1 from projects p join users u on u.project_id = p.id and u.id = ${userId}
      where p.built_in = 'console'`;
    if ((await query(em, admin, { prepare: 'admins.is-admin' })).length === 0) return;
    await lockRoles(em);
    if (await this.isLastOwner(em, userId)) {
      refuse({ code: 'forbidden', reason: 'the last owner cannot be deactivated or erased: add another owner first' });
    }
  }

  async isLastOwner(em: EntityManager, userId: string): Promise<boolean> {
    const owners = await this.activeOwners(em);
    return owners.length > 0 && owners.every((id) => id === userId);
  }

  /** The roles in a project, or the owners (`null`), newest first; their users are loaded. */
  async memberships(em: EntityManager, projectId: string | null): Promise<Membership[]> {
    const console = await em.findOneOrFail(Project, { builtIn: 'console' });
    const options = { populate: ['user'], orderBy: { id: 'desc' } } as const;
    return inProject(console.id, () => em.find(Membership, { project: projectId }, options)) as Promise<Membership[]>;
  }

  /**
   * The tokens for a project, or for the instance (`null`), newest first: all that are live, and the newest of the others,
   * so that no number of tokens hides one that works.
   */
  async tokens(em: EntityManager, projectId: string | null): Promise<AdminToken[]> {
    const live = await em.find(AdminToken, this.liveTokens(projectId));
    const others = { project: projectId, id: { $nin: live.map(({ id }) => id) } };
    const limit = Math.max(0, maxTokens - live.length);
    const ended = limit === 0 ? [] : await em.find(AdminToken, others, { orderBy: { id: 'desc' }, limit });
    return [...live, ...ended].sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  private liveTokens(projectId: string | null): FilterQuery<AdminToken> {
    const isUnexpired = [{ expiresAt: null }, { expiresAt: { $gt: this.deps.clock.now() } }];
    return { project: projectId, revokedAt: null, $or: isUnexpired };
  }

  /** Adds or changes one membership, and audits it. */
  private async put(
    em: EntityManager,
    user: User,
    { role, project, organizationIds, impersonates = false }: Put,
    actor: Actor,
  ) {
    await lockRoles(em);
    const known = await em.findOne(Membership, { user, project: project?.id ?? null }, { populate: ['user'] });
    const before = known ? held(known) : null;
    if (known && isDeepStrictEqual(before, held({ role, organizationIds, impersonates }))) return known;
    await this.checkCount(em, role, project, known);
    const membership =
      known ??
      em.create(Membership, {
        id: this.deps.random.id(),
        user,
        role,
        project: project ? em.getReference(Project, project.id, { wrapped: true }) : null,
        organizationIds,
        impersonates,
        createdAt: this.deps.clock.now(),
      });
    membership.role = role;
    membership.impersonates = impersonates;
    membership.organizationIds = organizationIds;
    em.persist(membership);
    this.recordRole(em, 'membership.granted', membership, actor, before);
    return membership;
  }

  private async checkCount(em: EntityManager, role: Role, project: Project | null, known: Membership | null) {
    const isWide = role !== 'organization_admin';
    if (!project || (known && (known.role !== 'organization_admin') === isWide)) return;
    const counted = isWide ? { $ne: 'organization_admin' as const } : ('organization_admin' as const);
    const max = isWide ? maxMemberships : maxOrganizationAdmins;
    if ((await em.count(Membership, { project: project.id, role: counted })) < max) return;
    const reason = `already has ${max} admins: revoke the role of one first`;
    refuse({ code: 'invalid', field: 'projectId', reason });
  }

  /** The project of a role; null for an owner. The console's project has no roles. */
  private async scope(em: EntityManager, role: Role, projectId: string | undefined, grants: Grants) {
    if (role === 'owner') {
      if (projectId) refuse({ code: 'invalid', field: 'projectId', reason: 'must be absent for the role owner' });
      this.checkMayGrant(grants, role, null);
      return null;
    }
    if (!projectId) refuse({ code: 'invalid', field: 'projectId', reason: 'is required for this role' });
    const project = await existing(em, Project, projectId, 'project');
    this.checkMayGrant(grants, role, project.id);
    if (project.builtIn === 'console') {
      refuse({
        code: 'invalid',
        field: 'projectId',
        reason: 'must not be the project of the admins: only owners manage it',
      });
    }
    return project;
  }

  private checkMayGrant(grants: Grants, role: Role, projectId: string | null): void {
    if (!mayGrant(grants, role, projectId)) {
      refuse({ code: 'forbidden', reason: 'you can grant and revoke only roles within your own rights' });
    }
  }

  private async activeOwners(em: EntityManager): Promise<string[]> {
    const owners = await query(
      em,
      sql<{ id: string }>`
        select distinct u.id from memberships m
          join users u on u.project_id = m.user_project_id and u.id = m.user_id and u.active
        where m.role = 'owner'`,
    );
    return owners.map((owner) => owner.id);
  }

  private recordToken(
    em: EntityManager,
    type: 'admin-token.issued' | 'admin-token.revoked',
    { id, name, project, expiresAt, ...rest }: AdminToken,
    actor: Actor,
  ): void {
    const token = { id, name, ...held(rest), projectId: project?.id ?? null, expiresAt: expiresAt ?? null };
    this.deps.audit.record(em, tokenEvent(type, token, actor));
  }

  private recordRole(
    em: EntityManager,
    type: 'membership.granted' | 'membership.revoked',
    { id, project, user, ...rest }: Membership,
    actor: Actor,
    before: HeldRole | null = null,
  ): void {
    const { id: userId, email, userName } = user.getEntity();
    const recorded = { id, ...held(rest), projectId: project?.id ?? null, userId, name: email ?? userName };
    this.deps.audit.record(em, roleEvent(type, recorded, actor, before));
  }
}
