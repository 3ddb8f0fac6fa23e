import type { EntityManager } from '@mikro-orm/postgresql';
import { mailboxesOf, notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, Refusal, refuse } from '../kernel/problem.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import type { CustomAttributes } from '../users/custom/custom-attributes.ts';
import { type CustomEdit, editedCustom } from '../users/custom/own-values.ts';
import { editedLogin, type LoginChange } from '../users/edits/login-edit.ts';
import { editedProfile, type ProfileChange } from '../users/edits/profile-edit.ts';
import { addressKey } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { UserRecord } from '../users/user-record.ts';
import type { Accounts } from './accounts.ts';

/** Notices of a changed login that one address gets from a project. */
const perAddress: LimitRule = { name: 'login-changed.address', max: 10, windowSeconds: 24 * 3600 };
/** The same, for all addresses of a project. */
const perProject: LimitRule = { name: 'login-changed.project', max: 10_000, windowSeconds: 24 * 3600 };

/** The input field of the admin API for the attribute that `taken` names. */
const inputFields: Record<string, string> = { emails: 'email', phoneNumbers: 'phone' };

/** Changes users on behalf of an admin. */
export class UserEdits {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      limits: Pick<Limits, 'spendMany'>;
      delivery: Pick<Delivery, 'enqueue'>;
      customAttributes: Pick<CustomAttributes, 'current'>;
      accounts: Pick<Accounts, 'change'>;
    },
  ) {}

  /**
   * Changes the profile and the login of a user; the addresses that the user had before get a notice of a new login.
   * Refuses `not-found`, `invalid`, also for a phone that the directory manages, `taken`, and `too-many` for the notices.
   */
  async edit(projectId: string, userId: string, wanted: ProfileChange & LoginChange, actor: Actor): Promise<void> {
    const context = { isLocked: await this.isDirectoryAuthoritative(projectId) };
    const now = this.deps.clock.now();
    const edit = (current: UserRecord) => editedProfile(editedLogin(current, wanted, context), wanted, now);
    try {
      await this.deps.accounts.change(projectId, userId, edit, actor, {
        onNewLogin: (em, before, after) => this.notify(em, before, after),
      });
    } catch (error) {
      const problem = error instanceof Refusal ? error.problem : undefined;
      if (problem?.code !== 'taken') throw error;
      refuse({ ...problem, field: inputFields[problem.field] ?? problem.field });
    }
  }

  /**
   * Changes custom attributes of a user. Refuses `not-found`, and `invalid`, also for an attribute that the directory
   * manages, and `conflict` if the definitions change meanwhile.
   */
  async editCustom(projectId: string, userId: string, wanted: CustomEdit, actor: Actor): Promise<void> {
    const context = {
      schema: await this.deps.customAttributes.current(projectId),
      isLocked: await this.isDirectoryAuthoritative(projectId),
    };
    const edit = (current: UserRecord) => editedCustom(current, wanted, context);
    await this.deps.accounts.change(projectId, userId, edit, actor, { schema: context.schema });
  }

  private async isDirectoryAuthoritative(projectId: string): Promise<boolean> {
    return found(await this.deps.db.reader().findOne(Project, projectId), 'project').scimAuthoritative;
  }

  /** Notifies the user: an admin can sign in as a user whose address they change (threat model). */
  private async notify(em: EntityManager, before: UserRecord, after: User): Promise<void> {
    const isNewEmail = addressKey(before.email ?? '') !== addressKey(after.email ?? '');
    const isNewPhone = (before.phone ?? null) !== (after.phone ?? null);
    if (!isNewEmail && !isNewPhone) return;
    const mailboxes = mailboxesOf(before);
    const { id: projectId, name: app } = await after.project.loadOrFail();
    const subjects = mailboxes.map((address) => `${projectId} ${addressKey(address)}`);
    const rules = { each: perAddress, shared: { ...perProject, subject: projectId } };
    const { each, shared } = await this.deps.limits.spendMany(em, rules, subjects);
    for (const { allowed, retryAfterSeconds } of [...each, shared]) {
      if (!allowed) refuse({ code: 'too-many', retryAfterSeconds });
    }
    const change = isNewEmail ? (isNewPhone ? 'both' : 'email') : 'phone';
    const at = this.deps.clock.now().toISOString();
    await notifyEverywhere(em, this.deps.delivery, after, { template: 'login-changed', change, app, at }, mailboxes);
  }
}
