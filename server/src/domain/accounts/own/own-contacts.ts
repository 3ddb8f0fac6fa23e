import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../../ceremonies/notices.ts';
import type { ChangeBy, ChangePlace, PendingChanges, RefusedChange } from '../../contacts/pending-changes.ts';
import type { PhoneChanges } from '../../contacts/phone-changes.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import { maskAddress, maskPhone } from '../../delivery/mask.ts';
import { type Database, rolledBackIfRefused } from '../../kernel/database.ts';
import { type Problem, problemOf, refuse } from '../../kernel/problem.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { codeTtlSeconds } from '../../otp/code-check.ts';
import type { CountedCode } from '../../otp/otp.ts';
import type { TestMode } from '../../projects/test-mode.ts';
import type { FreshnessDeps } from '../../sessions/freshness.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { editedLogin } from '../../users/edits/login-edit.ts';
import { nameLine } from '../../users/edits/profile-edit.ts';
import { addressKey, isAddress } from '../../users/login.ts';
import type { UserRecord } from '../../users/user-record.ts';
import type { Users } from '../../users/users.ts';
import type { Accounts } from '../accounts.ts';
import { checkFresh, type OwnChange, underLock, type Visitor } from './own-change.ts';

/** Codes for a new address that one mailbox gets from a project, from all its users. */
const perMailbox: LimitRule = { name: 'email-change.mailbox', max: 10, windowSeconds: 24 * 3600 };

export interface OwnContactsDeps extends FreshnessDeps {
  db: Database;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  users: Pick<Users, 'locked' | 'findByAddress' | 'checkPhoneLock'>;
  accounts: Pick<Accounts, 'changeIn'>;
  sessions: Pick<Sessions, 'listLive'>;
  delivery: Pick<Delivery, 'enqueue' | 'isAvailable'>;
  testMode: TestMode;
  phones: Pick<PhoneChanges, 'begin' | 'complete' | 'note'>;
  pendingPhones: PendingChanges;
  pendingEmails: PendingChanges;
}

/** The user's login address and phone, as shown to the user. */
export interface OwnContacts {
  email: {
    /** The login address; null: none. */
    address: string | null;
    /** The new address, until its code is verified. */
    pending: string | null;
    /** Whether a directory may overwrite a change. */
    isProvisioned: boolean;
  };
  phone: {
    /** Masked; null: none. */
    number: string | null;
    /** Masked; the new number, until its code is verified. */
    pending: string | null;
    /** Whether the directory owns it (service.md 3.1). */
    isLocked: boolean;
    /** Whether a code can be sent to a new number. */
    isChangeable: boolean;
  };
}

type Step<T> = (em: EntityManager, by: ChangeBy, place: ChangePlace) => Promise<T | RefusedChange>;

/**
 * Users' changes to their own login address and phone (service.md 3.1, decisions/0242). A code that is sent to the new
 * value and entered in the same session verifies it; until then the old one stays. All changes refuse `unauthenticated`
 * if the session is not live, and `forbidden` if its sign-in is not fresh.
 */
export class OwnContactChanges {
  constructor(private readonly deps: OwnContactsDeps) {}

  async state({ project, session, user }: Visitor): Promise<OwnContacts> {
    const { db, delivery, pendingEmails, pendingPhones, testMode, users } = this.deps;
    const em = db.reader();
    const isLocked = (await problemOf(users.checkPhoneLock(em, user, ''))) !== null;
    const pendingPhone = await pendingPhones.pending(em, user, session.id);
    return {
      email: {
        address: user.email ?? null,
        pending: await pendingEmails.pending(em, user, session.id),
        isProvisioned: user.provenance === 'scim',
      },
      phone: {
        number: user.phone ? maskPhone(user.phone) : null,
        pending: pendingPhone && maskPhone(pendingPhone),
        isLocked,
        isChangeable: !isLocked && (delivery.isAvailable('sms') || (await testMode.holds(em, project))),
      },
    };
  }

  /**
   * Sends a code to a new phone number. Refuses like {@link PhoneChanges.begin}. The code is returned in test mode only.
   */
  changePhone(change: OwnChange, requested: string): Promise<{ code: string | null }> {
    return this.begin(change, (em, by, place) => this.deps.phones.begin(em, by, place, requested));
  }

  /** Verifies the code of the new number. Refuses like {@link PhoneChanges.complete}. */
  verifyPhone(change: OwnChange, typed: string): Promise<void> {
    return this.verify(change, this.deps.pendingPhones, (em, by, place, counted) =>
      this.deps.phones.complete(em, by, place, counted, typed),
    );
  }

  /** Cancels the change of the phone number. */
  dropPhone(change: OwnChange): Promise<void> {
    return this.drop(change, this.deps.pendingPhones);
  }

  /**
   * Sends a code to a new email address. Refuses `invalid`, `too-many`, `unavailable`. That another user has the address is
   * revealed only to its holder, by {@link verifyEmail}. The code is returned in test mode only.
   */
  changeEmail(change: OwnChange, requested: string): Promise<{ code: string | null }> {
    return this.begin(change, (em, by, place) => this.beginEmail(em, by, place, nameLine('email', requested) ?? ''));
  }

  /**
   * Verifies the code of the new address, and makes it the login address; the previous addresses get a notice. Refuses
   * `code-rejected`, `too-many`, and `taken` if another user of the project signs in with the address.
   */
  verifyEmail(change: OwnChange, typed: string): Promise<void> {
    return this.verify(change, this.deps.pendingEmails, (em, by, place, counted) =>
      this.completeEmail(em, by, place, counted, typed),
    );
  }

  /** Cancels the change of the email address. */
  dropEmail(change: OwnChange): Promise<void> {
    return this.drop(change, this.deps.pendingEmails);
  }

  private async beginEmail(
    em: EntityManager,
    by: ChangeBy,
    place: ChangePlace,
    to: string,
  ): Promise<{ code: string } | RefusedChange> {
    const { audit, delivery, limits, pendingEmails, testMode } = this.deps;
    const { app, locale, project, user } = by;
    if (!isAddress(to)) return { refused: { code: 'invalid', field: 'email', reason: 'must be an email address' } };
    if (!delivery.isAvailable('mail') && !(await testMode.holds(em, project))) {
      return { refused: { code: 'unavailable', reason: 'mail is not available', retryAfterSeconds: 60 } };
    }
    const issued = await pendingEmails.begin(em, by, place, to);
    if ('refused' in issued) return issued;
    const { allowed, retryAfterSeconds } = await limits.spend(em, perMailbox, `${project.id} ${addressKey(to)}`);
    if (!allowed) return { refused: { code: 'too-many', retryAfterSeconds } };
    const { code, expiresAt } = issued;
    await delivery.enqueue(em, {
      projectId: project.id,
      channel: 'mail',
      to,
      locale,
      content: { template: 'email-code', app, code, minutes: codeTtlSeconds / 60 },
      context: { account: user.id, mailbox: to },
      expiresAt,
    });
    audit.record(em, { ...about(by), type: 'user.email_change_begun' });
    return { code };
  }

  private async completeEmail(
    em: EntityManager,
    by: ChangeBy,
    place: ChangePlace,
    counted: CountedCode | null,
    typed: string,
  ): Promise<object | RefusedChange> {
    const { accounts, pendingEmails, users } = this.deps;
    const { actor, project, user } = by;
    const subject = subjectOf(by);
    const email = await pendingEmails.prove(em, by, place, counted, typed);
    if (email === null) {
      const event = { type: 'otp.rejected', subject, detail: { purpose: 'email' } } as const;
      return { refused: { code: 'code-rejected', attemptsLeft: 0 }, event };
    }
    await pendingEmails.drop(em, user, place.boundTo);
    // Taken, too, if the address is only another user's user name: at sign-in it identifies that user.
    const holder = await users.findByAddress(em, project.id, email);
    const isTaken = holder !== null && holder.id !== user.id;
    const refused = isTaken
      ? ({ code: 'taken', what: 'user', field: 'email' } satisfies Problem)
      : await problemOf(
          accounts.changeIn(em, project.id, user.id, (current) => withEmail(current, email), actor, {
            keepSessionId: place.boundTo,
            onNewLogin: (joined, before) => this.notify(joined, by, before, email),
          }),
        );
    return refused ? { refused, event: { type: 'user.email_change_refused', subject } } : {};
  }

  /** Notifies every address that the user had: the person who made the change may not hold all of them. */
  private async notify(em: EntityManager, by: ChangeBy, before: UserRecord, email: string): Promise<void> {
    const { audit, clock, delivery } = this.deps;
    audit.record(em, { ...about(by), type: 'user.email_changed' });
    const at = clock.now().toISOString();
    const notice = { template: 'email-changed', app: by.app, email: maskAddress(email), at } as const;
    await notifyEverywhere(em, delivery, by.user, notice, mailboxesOf(before));
  }

  private begin(change: OwnChange, step: Step<{ code: string }>): Promise<{ code: string | null }> {
    return this.step<{ code: string | null }>(change, async (em, by, place) => {
      const sent = await rolledBackIfRefused(em, () => step(em, by, place));
      if ('refused' in sent) return sent;
      return { code: (await this.deps.testMode.holds(em, by.project)) ? sent.code : null };
    });
  }

  /** Counts the attempt before it is checked; a refusal keeps only the count. */
  private async verify(
    change: OwnChange,
    pending: PendingChanges,
    complete: (
      em: EntityManager,
      by: ChangeBy,
      place: ChangePlace,
      counted: CountedCode | null,
    ) => Promise<object | RefusedChange>,
  ): Promise<void> {
    await this.step<object>(change, async (em, by, place) => {
      const tried = await pending.count(em, by, place);
      if ('refused' in tried) return tried;
      return rolledBackIfRefused(em, () => complete(em, by, place, tried.counted));
    });
  }

  private drop({ visitor }: OwnChange, pending: PendingChanges): Promise<void> {
    return underLock(this.deps, visitor, (em, user, session) => pending.drop(em, user, session.id));
  }

  /** Commits the result, refusals included, before it throws or returns. */
  private async step<T extends object>({ actor, locale, visitor }: OwnChange, step: Step<T>): Promise<T> {
    const outcome = await underLock(this.deps, visitor, async (em, user, session) => {
      await checkFresh(this.deps, em, user, session);
      const by = { user, project: visitor.project, app: visitor.project.name, locale, actor };
      const answer = await step(em, by, { boundTo: session.id, jkt: null, clientId: null });
      if ('refused' in answer) await this.deps.phones.note(em, by, answer);
      return answer;
    });
    return 'refused' in outcome ? refuse(outcome.refused as Problem) : (outcome as T);
  }
}

/** A directory finds its user by the user name, which stays; any other user name follows the address if it was the same. */
function withEmail(current: UserRecord, email: string) {
  const name = current.provenance === 'scim' ? { userName: current.userName } : {};
  return editedLogin(current, { email, ...name }, { isLocked: false });
}

function about(by: ChangeBy) {
  return { actor: by.actor, projectId: by.project.id, subject: subjectOf(by) };
}

function subjectOf({ user: { id, userName } }: ChangeBy) {
  return { kind: 'user', id, name: userName };
}
