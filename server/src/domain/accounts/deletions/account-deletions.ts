import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../../admins/admins.ts';
import { isOfAdmins } from '../../admins/admins-of.ts';
import { languageOf, mailboxesOf, notifyEverywhere } from '../../ceremonies/notices.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import { type Actor, system } from '../../kernel/actor.ts';
import { secondsLater } from '../../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../../kernel/database.ts';
import { found, problemOf, refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { inAllProjects, inProject } from '../../kernel/scope.ts';
import { digest, isUuid } from '../../kernel/secret.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import type { Issuers } from '../../projects/issuers.ts';
import type { Project } from '../../projects/project.entity.ts';
import type { FreshnessDeps } from '../../sessions/freshness.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { User } from '../../users/user.entity.ts';
import type { Users } from '../../users/users.ts';
import type { AccountAccess } from '../account-access.ts';
import { checkFresh, type OwnChange, underLock, type Visitor } from '../own/own-change.ts';
import {
  type CancelDeps,
  cancelDeletion,
  pendingDeletion,
  recordCancelled,
  takeDeletion,
} from './pending-deletions.ts';

interface Deps extends CancelDeps, FreshnessDeps {
  db: Database;
  random: Random;
  limits: Pick<Limits, 'spend'>;
  users: Pick<Users, 'locked'>;
  sessions: Pick<Sessions, 'listLive'>;
  admins: Pick<Admins, 'isLastOwner' | 'keepOwner'>;
  accountAccess: Pick<AccountAccess, 'eraseIn'>;
  delivery: Delivery;
  issuers: Pick<Issuers, 'linkOrigin'>;
}

/** Path of the page that cancels a deletion, linked in the mail. */
export const cancelDeletionPath = '/account/deletion';

/** Each request sends mails. */
const requests: LimitRule = { name: 'account-deletions', max: 5, windowSeconds: 24 * 3600 };
const day = 24 * 3600;
/** Deletions of one run of the job. */
const maxDue = 1000;

/** Why a user cannot delete their account now; `off`: the project does not offer it. */
type Blocker = 'off' | 'directory' | 'last-owner';

export interface OwnDeletion {
  blocker: Blocker | null;
  /** When an account would be deleted that is requested now; null: at once. */
  wouldBeDueAt: Date | null;
  /** When the account will be deleted; null: not requested. */
  dueAt: Date | null;
}

/** Deletion of accounts by their own users, after a waiting time (decisions/0354). */
export class AccountDeletions {
  constructor(private readonly deps: Deps) {}

  async state({ project, user }: Visitor): Promise<OwnDeletion> {
    const { clock, db } = this.deps;
    const em = db.reader();
    const pending = await pendingDeletion(em, user);
    const { accountDeletionDays: days } = project;
    return {
      blocker: await this.blockerOf(em, project, user),
      wouldBeDueAt: days === 0 ? null : secondsLater(clock.now(), days * day),
      dueAt: pending?.dueAt ?? null,
    };
  }

  /**
   * Requests the deletion; one that is pending stays as it is. Without a waiting time, the account is deleted at once. Refuses
   * `forbidden` if the sign-in is not fresh, `too-many`, and `unavailable` if the user cannot delete the account.
   */
  async request(change: OwnChange): Promise<void> {
    const { visitor } = change;
    const origin = await this.deps.issuers.linkOrigin(visitor.project.id);
    const isImmediate = await underLock(this.deps, visitor, async (em, user, session) => {
      await checkFresh(this.deps, em, user, session);
      const project = await user.project.loadOrFail();
      const blocker = await this.blockerOf(em, project, user);
      if (blocker) refuse({ code: 'unavailable', reason: `account deletion: ${blocker}`, retryAfterSeconds: day });
      await this.add(em, project, user, { actor: change.actor, origin });
      return project.accountDeletionDays === 0;
    });
    if (isImmediate) await this.complete(visitor.project.id, visitor.user.id);
  }

  private async add(
    em: EntityManager,
    { id: projectId, accountDeletionDays: days, name: app }: Project,
    user: User,
    { actor, origin }: { actor: Actor; origin: string },
  ): Promise<void> {
    const { audit, clock, delivery, limits, random } = this.deps;
    if (await pendingDeletion(em, user)) return;
    const spent = await limits.spend(em, requests, `${projectId} ${user.id}`);
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const now = clock.now();
    const dueAt = secondsLater(now, days * day);
    const secret = newSecret(random);
    await query(
      em,
      sql`insert into account_deletions (project_id, user_id, cancel_hash, created_at, due_at)
        values (${projectId}::uuid, ${user.id}::uuid, ${digest(secret)}, ${now}::timestamptz, ${dueAt}::timestamptz) returning 1`,
    );
    const until = dueAt.toISOString();
    const subject = { kind: 'user', id: user.id, name: user.userName };
    audit.record(em, { type: 'user.deletion_requested', actor, projectId, subject, detail: { dueAt: until } });
    if (days === 0) return;
    const cancelUrl = `${origin}${cancelDeletionPath}?${new URLSearchParams({ project: projectId, cancel: secret })}`;
    const at = now.toISOString();
    await notifyEverywhere(em, delivery, user, { template: 'deletion-requested', app, until, cancelUrl, at });
  }

  /** Cancels the visitor's own deletion. Any session of the user suffices, also one that is not fresh. */
  async cancelOwn({ actor, visitor }: Pick<OwnChange, 'actor' | 'visitor'>): Promise<void> {
    await underLock(this.deps, visitor, (em, user) =>
      cancelDeletion(this.deps, em, user, { actor, reason: 'requested' }),
    );
  }

  /** Cancels the deletion of a user on behalf of an admin; does nothing without one. Refuses `not-found`. */
  async cancel(projectId: string, userId: string, actor: Actor): Promise<void> {
    await this.locked(projectId, userId, async (em, user) => {
      await cancelDeletion(this.deps, em, found(user, 'user'), { actor, reason: 'requested' });
    });
  }

  /** Whether the link of a mail can cancel a deletion. @param projectId as in the link, unchecked */
  async isCancellable(projectId: string, cancelSecret: string): Promise<boolean> {
    return (await this.ofSecret(projectId, cancelSecret)) !== null;
  }

  /** Cancels by the link of a mail; false if the deletion is no longer pending. */
  async cancelBySecret(projectId: string, cancelSecret: string, actor: Actor): Promise<boolean> {
    const userId = await this.ofSecret(projectId, cancelSecret);
    if (userId === null) return false;
    return inProject(projectId, () =>
      this.locked(projectId, userId, async (em, user) => {
        if (!user) return false;
        // A later request has another secret.
        const pending = await pendingDeletion(em, user);
        if (pending?.cancelHash !== digest(cancelSecret)) return false;
        const by: Actor = { ...actor, kind: 'user', id: user.id, name: user.userName };
        return cancelDeletion(this.deps, em, user, { actor: by, reason: 'requested' });
      }),
    );
  }

  /** Job: deletes the users whose waiting time is over. A failure does not delay the others. */
  async runDue(): Promise<void> {
    const { clock, db } = this.deps;
    const due = await query(
      db.alone,
      sql<{
        projectId: string;
        userId: string;
      }>`select project_id as "projectId", user_id as "userId" from account_deletions
        where due_at <= ${clock.now()}::timestamptz order by due_at limit ${maxDue}`,
    );
    const failures: unknown[] = [];
    for (const { projectId, userId } of due) {
      await this.complete(projectId, userId).catch((failure: unknown) => failures.push(failure));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Deletes a user whose deletion is due, or cancels it if they cannot be deleted now. */
  private async complete(projectId: string, userId: string): Promise<void> {
    const { accountAccess, clock, db, delivery } = this.deps;
    const ofAdmins = await isOfAdmins(db.alone, projectId);
    const work = () =>
      this.locked(projectId, userId, async (em, user) => {
        if (!user || !(await takeDeletion(em, user, clock.now()))) return;
        const { name: app, scimAuthoritative } = await user.project.loadOrFail();
        const reason = await this.obstacle(em, user, scimAuthoritative);
        if (reason) return recordCancelled(this.deps, em, user, { actor: system, reason });
        const [locale, mailboxes] = [languageOf(user), mailboxesOf(user)];
        await accountAccess.eraseIn(em, user, system, ofAdmins);
        // After the erasure, which deletes the messages to these addresses.
        const content = { template: 'account-deleted' as const, app, at: clock.now().toISOString() };
        const mail = { projectId, channel: 'mail' as const, locale, content };
        const notices = mailboxes.map((to) => ({ ...mail, to, context: { account: userId, mailbox: to } }));
        await delivery.enqueueNotices(em, notices);
      });
    // An admin is named in the events of other projects, too.
    await (ofAdmins ? inAllProjects(work) : inProject(projectId, work));
  }

  /** What has changed since the request so that the user cannot be deleted. */
  private async obstacle(em: EntityManager, user: User, isAuthoritative: boolean) {
    if (!user.active) return 'inactive';
    if (isManaged(user, isAuthoritative)) return 'directory';
    const problem = await problemOf(this.deps.admins.keepOwner(em, user.id));
    if (problem && problem.code !== 'forbidden') refuse(problem);
    return problem && 'last-owner';
  }

  private async blockerOf(em: EntityManager, project: Project, user: User): Promise<Blocker | null> {
    if (!project.accountDeletion) return 'off';
    if (isManaged(user, project.scimAuthoritative)) return 'directory';
    if (project.builtIn !== 'console') return null;
    return (await inAllProjects(() => this.deps.admins.isLastOwner(em, user.id))) ? 'last-owner' : null;
  }

  /** The user of a pending deletion. */
  private async ofSecret(projectId: string, cancelSecret: string): Promise<string | null> {
    if (!isUuid(projectId)) return null;
    const [pending] = await inProject(projectId, () =>
      query(
        this.deps.db.alone,
        sql<{ userId: string }>`select user_id as "userId" from account_deletions
          where project_id = ${projectId}::uuid and cancel_hash = ${digest(cancelSecret)}`,
      ),
    );
    return pending?.userId ?? null;
  }

  private locked<T>(
    projectId: string,
    userId: string,
    work: (em: EntityManager, user: User | null) => Promise<T>,
  ): Promise<T> {
    return pastDeadlocks(() =>
      this.deps.db.transaction(async (em) => work(em, await this.deps.users.locked(em, projectId, userId))),
    );
  }
}

/** Whether a directory decides about the account: it would create the user again. */
function isManaged({ provenance }: User, isAuthoritative: boolean): boolean {
  return provenance === 'scim' && isAuthoritative;
}
