import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { type Actor, system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { inProject } from '../kernel/scope.ts';
import { isUuid } from '../kernel/secret.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { RecoveryGrant } from '../mfa/recovery-grant.entity.ts';
import { endGrants } from '../mfa/user-tables.ts';
import type { Issuers } from '../projects/issuers.ts';
import { addressKey } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

export interface RecoveriesDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  limits: Pick<Limits, 'spendMany'>;
  users: Pick<Users, 'locked'>;
  mfa: Pick<Mfa, 'recoveryGrants'>;
  delivery: Pick<Delivery, 'enqueue'>;
  issuers: Pick<Issuers, 'linkOrigin'>;
}

/** Path of the page that cancels a recovery, linked in the notice. */
export const cancelPath = '/account/recovery';

const maxReasonLength = 500;
/** Notices that one address gets from a project: several users may share one. */
const perAddress: LimitRule = { name: 'recovery.address', max: 50, windowSeconds: 24 * 3600 };
/** Notices of a project. */
const perProject: LimitRule = { name: 'recovery.project', max: 10_000, windowSeconds: 24 * 3600 };
/** Hours: the notice needs time to be read. */
const waitHours = { min: 1, max: 72 };

/**
 * Recovery of an account (decisions/0108): an admin grants one sign-in by mail code without the lost passkey or second
 * factor. A notice goes to every address of the user, who can cancel during the waiting time and afterwards.
 */
export class Recoveries {
  constructor(private readonly deps: RecoveriesDeps) {}

  /**
   * Replaces an open grant, and returns the code, once. Refuses `not-found`, and `invalid` for the reason, the waiting
   * time, an inactive user or one without an email address, and `too-many` for the notices.
   */
  async grant(
    projectId: string,
    userId: string,
    { reason, hours }: { reason: string; hours: number },
    actor: Actor,
  ): Promise<{ code: string; grant: RecoveryGrant }> {
    const { audit, delivery, issuers, mfa } = this.deps;
    const why = reason.trim();
    if (why === '' || why.length > maxReasonLength) {
      refuse({ code: 'invalid', field: 'reason', reason: `must have 1 to ${maxReasonLength} characters` });
    }
    if (!Number.isInteger(hours) || hours < waitHours.min || hours > waitHours.max) {
      refuse({ code: 'invalid', field: 'waitHours', reason: `must be from ${waitHours.min} to ${waitHours.max}` });
    }
    const origin = await issuers.linkOrigin(projectId);
    return this.change(projectId, userId, async (em, user) => {
      if (!user.active) refuse({ code: 'invalid', field: 'userId', reason: 'must be an active user' });
      const mailboxes = mailboxesOf(user);
      if (mailboxes.length === 0) {
        refuse({ code: 'invalid', field: 'userId', reason: 'must have an email address, which receives a code' });
      }
      await this.spend(em, projectId, mailboxes);
      const { cancelSecret, code, grant } = await mfa.recoveryGrants.issue(em, user, why, hours * 3600);
      const [from, until] = [grant.usableAt.toISOString(), grant.expiresAt.toISOString()];
      audit.record(em, {
        type: 'recovery.granted',
        actor,
        projectId,
        subject: subjectOf(user),
        detail: { reason: why, usableAt: from, expiresAt: until },
      });
      const cancelUrl = `${origin}${cancelPath}?${new URLSearchParams({ project: projectId, cancel: cancelSecret })}`;
      const { name: app } = await user.project.loadOrFail();
      const at = grant.createdAt.toISOString();
      await notifyEverywhere(em, delivery, user, { template: 'recovery-granted', app, from, until, cancelUrl, at });
      return { code, grant };
    });
  }

  /** Cancels the open grant of a user; does nothing without one. Refuses `not-found`. */
  cancel(projectId: string, userId: string, actor: Actor): Promise<void> {
    return this.change(projectId, userId, (em, user) => this.cancelIn(em, user, actor));
  }

  /** Joins: {@link cancel} for a user whose lock the caller holds. */
  async cancelIn(em: EntityManager, user: User, actor: Actor): Promise<void> {
    if (!(await this.deps.mfa.recoveryGrants.open(em, user))) return;
    await endGrants(em, user, this.deps.clock.now());
    this.deps.audit.record(em, {
      type: 'recovery.cancelled',
      actor,
      projectId: user.project.id,
      subject: subjectOf(user),
    });
  }

  /** Whether the link of a notice can cancel a grant. @param projectId as in the link, unchecked */
  async isCancellable(projectId: string, cancelSecret: string): Promise<boolean> {
    return (await this.ofSecret(projectId, cancelSecret)) !== null;
  }

  /** Cancels by the link of a notice; false if the grant is no longer open. */
  async cancelBySecret(projectId: string, cancelSecret: string, actor: Actor): Promise<boolean> {
    const grant = await this.ofSecret(projectId, cancelSecret);
    if (!grant) return false;
    return inProject(projectId, () =>
      this.change(projectId, grant.user.id, async (em, user) => {
        const open = await this.deps.mfa.recoveryGrants.open(em, user);
        if (open?.id !== grant.id) return false;
        await this.cancelIn(em, user, { ...actor, kind: 'user', id: user.id, name: user.userName });
        return true;
      }),
    );
  }

  /** Job: ends expired grants, and records each. */
  async expire(): Promise<void> {
    const { audit, db, mfa } = this.deps;
    await db.transaction(async (em) => {
      for (const { project: projectId, id, name } of await mfa.recoveryGrants.expire(em)) {
        const subject = { kind: 'user', id, name };
        audit.record(em, { type: 'recovery.expired', actor: system, projectId, subject });
      }
    });
  }

  /** Counts the notices to these addresses. Refuses `too-many`; the caller rolls back. */
  private async spend(em: EntityManager, projectId: string, mailboxes: readonly string[]): Promise<void> {
    const subjects = mailboxes.map((address) => `${projectId} ${addressKey(address)}`);
    const rules = { each: perAddress, shared: { ...perProject, subject: projectId } };
    const { each, shared } = await this.deps.limits.spendMany(em, rules, subjects);
    for (const { allowed, retryAfterSeconds } of [...each, shared]) {
      if (!allowed) refuse({ code: 'too-many', retryAfterSeconds });
    }
  }

  private async ofSecret(projectId: string, cancelSecret: string): Promise<RecoveryGrant | null> {
    if (!isUuid(projectId)) return null;
    const { db, mfa } = this.deps;
    return inProject(projectId, () => mfa.recoveryGrants.ofSecret(db.reader(), projectId, cancelSecret));
  }

  private change<T>(
    projectId: string,
    userId: string,
    work: (em: EntityManager, user: User) => Promise<T>,
  ): Promise<T> {
    return pastDeadlocks(() =>
      this.deps.db.transaction(async (em) =>
        work(em, found(await this.deps.users.locked(em, projectId, userId), 'user')),
      ),
    );
  }
}

function subjectOf({ id, userName: name }: User) {
  return { kind: 'user', id, name };
}
