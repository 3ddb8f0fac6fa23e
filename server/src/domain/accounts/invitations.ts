import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../admins/admins.ts';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { languageOf } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits, Spent } from '../limits/limits.ts';
import type { Issuers } from '../projects/issuers.ts';
import { Project } from '../projects/project.entity.ts';
import { addressKey } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { UserRecord } from '../users/user-record.ts';
import type { Users } from '../users/users.ts';
import type { Accounts } from './accounts.ts';

/** Invitations that one address gets from a project, even if it is erased and added again. */
const perAddress: LimitRule = { name: 'invitation.address', max: 5, windowSeconds: 24 * 3600 };
/** Invitations of a project. */
const perProject: LimitRule = { name: 'invitation.project', max: 100_000, windowSeconds: 24 * 3600 };

/** Values shared by the invitations of a project. */
export interface InvitationContext {
  projectId: string;
  /** Name of the project. */
  app: string;
  /** Origin of the page that they open. */
  origin: string;
}

type Invitee = Pick<UserRecord, 'id' | 'userName' | 'email' | 'attributes'>;

/**
 * Invitations (decisions/0160): a mail that an account exists, with a link to its sign-in. It contains no secret and does not
 * expire: the sign-in asks for a code, as always. A user is invited until the first sign-in.
 */
export class Invitations {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      limits: Limits;
      users: Pick<Users, 'locked'>;
      accounts: Pick<Accounts, 'deactivate'>;
      admins: Pick<Admins, 'keepOwner'>;
      delivery: Pick<Delivery, 'enqueueNotices'>;
      issuers: Pick<Issuers, 'linkOrigin'>;
    },
  ) {}

  /**
   * Refuses `not-found` (project), and `invalid` for a project in which a user could not sign in. @param field for the
   * refusal
   */
  async contextOf(projectId: string, field: string): Promise<InvitationContext> {
    const { db, issuers } = this.deps;
    const { name: app } = found(await db.reader().findOne(Project, projectId), 'project');
    const [client] = await query(
      db.alone,
      sql`select 1 from clients where project_id = ${projectId} and disabled_at is null and not third_party limit 1`,
    );
    if (!client) refuse({ code: 'invalid', field, reason: 'needs an application in the project, to sign in to' });
    return { projectId, app, origin: await issuers.linkOrigin(projectId) };
  }

  /**
   * Joins: counts the invitations to these addresses. Refuses `too-many` for the project; returns the rest for each
   * address. The caller rolls back, or sends no more than is allowed.
   */
  async spend(em: EntityManager, { projectId }: InvitationContext, addresses: readonly string[]): Promise<Spent[]> {
    const subjects = addresses.map((address) => `${projectId} ${addressKey(address)}`);
    const rules = { each: perAddress, shared: { ...perProject, subject: projectId } };
    const { each, shared } = await this.deps.limits.spendMany(em, rules, subjects);
    if (!shared.allowed) refuse({ code: 'too-many', retryAfterSeconds: shared.retryAfterSeconds });
    return each;
  }

  /** Joins: sends invitations, with an event for each. The users have addresses and are marked as invited. */
  async send(
    em: EntityManager,
    { app, origin, projectId }: InvitationContext,
    users: readonly Invitee[],
    actor: Actor,
  ) {
    const { audit, clock, delivery } = this.deps;
    const at = clock.now().toISOString();
    const notices = users.map((user) => {
      const to = user.email ?? user.userName;
      const url = `${origin}/account?${new URLSearchParams({ project: projectId, login_hint: to })}`;
      return {
        projectId,
        channel: 'mail' as const,
        to,
        locale: languageOf(user),
        content: { template: 'invitation' as const, app, url, at },
        context: { account: user.id, mailbox: to },
      };
    });
    await delivery.enqueueNotices(em, notices);
    const events = users.map((user) => eventOf('user.invited', projectId, user, actor));
    await execute(em, audit.insertions(events), { prepare: 'invitations.record' });
  }

  /**
   * Invites a user, or repeats the invitation. Refuses `not-found`, `too-many`, and `invalid` for one who has signed in, is
   * inactive or from a directory, or has no address.
   */
  async invite(projectId: string, userId: string, actor: Actor): Promise<void> {
    const invitation = await this.contextOf(projectId, 'userId');
    await this.change(projectId, userId, async (em, user) => {
      checkInvitable(user);
      const [spent] = (await this.spend(em, invitation, [user.email as string])) as [Spent];
      if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
      user.invitedAt = this.deps.clock.now();
      await this.send(em, invitation, [user as Invitee], actor);
    });
  }

  /**
   * Revokes the invitation of a user who has not signed in: deactivates them, so that the mail leads nowhere. Refuses
   * `not-found`, and `invalid` for a user without an open invitation.
   */
  revoke(projectId: string, userId: string, actor: Actor): Promise<void> {
    return this.change(projectId, userId, async (em, user) => {
      if (!isInvited(user)) {
        refuse({ code: 'invalid', field: 'userId', reason: 'must have an open invitation' });
      }
      await this.deps.admins.keepOwner(em, userId);
      if (user.active) await this.deps.accounts.deactivate(em, user, actor);
      user.invitedAt = null;
      this.deps.audit.record(em, eventOf('user.invitation_revoked', projectId, user, actor));
    });
  }

  private change(
    projectId: string,
    userId: string,
    work: (em: EntityManager, user: User) => Promise<void>,
  ): Promise<void> {
    const { db, users } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => work(em, found(await users.locked(em, projectId, userId), 'user'))),
    );
  }
}

/** Whether the user was invited and has not signed in. */
function isInvited({ invitedAt, lastSignInAt, provenance }: User): boolean {
  return invitedAt != null && lastSignInAt == null && provenance === 'local';
}

function checkInvitable({ active, email, lastSignInAt, provenance }: User): void {
  const invalid = (reason: string) => refuse({ code: 'invalid', field: 'userId', reason });
  if (provenance === 'scim') invalid('must not be a user of the directory, which gives access itself');
  if (!active) invalid('must be an active user');
  if (lastSignInAt != null) invalid('must be a user who has not signed in yet');
  if (email == null) invalid('must have an email address');
}

function eventOf(type: EventType, projectId: string, { id, userName: name }: Invitee | User, actor: Actor): AuditEntry {
  return { type, actor, projectId, subject: { kind: 'user', id, name } };
}
