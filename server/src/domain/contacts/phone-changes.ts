import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Channel, Delivery } from '../delivery/delivery.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Problem, problemOf } from '../kernel/problem.ts';
import type { Mfa } from '../mfa/mfa.ts';
import { codeTtlSeconds } from '../otp/code-check.ts';
import { recordNetworkLimit } from '../otp/network-limit.ts';
import type { CountedCode } from '../otp/otp.ts';
import type { TestMode } from '../projects/test-mode.ts';
import type { SmsGuard } from '../sms/sms-guard.ts';
import { isE164 } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';
import type { ChangeBy, ChangePlace, PendingChanges, RefusedChange } from './pending-changes.ts';

/** The sign-in or session that makes a change; the ids differ. */
type KeptPlace = Record<'keepCeremonyId' | 'keepSessionId', string | null>;

export interface PhoneChangesDeps {
  clock: Clock;
  audit: Audit;
  users: Pick<Users, 'checkPhoneLock' | 'isPhoneTaken' | 'changePhone'>;
  mfa: Pick<Mfa, 'moveSms'>;
  pendingPhones: PendingChanges;
  smsGuard: Pick<SmsGuard, 'spend'>;
  delivery: Pick<Delivery, 'isAvailable' | 'enqueue'>;
  testMode: TestMode;
  /** `endOpenWork` of ceremonies/, injected because that layer is above this one. */
  endOpenWork(em: EntityManager, now: Date, user: User, options: KeptPlace): Promise<void>;
}

export interface PhoneCodeSent {
  /** E.164; mask before display. */
  to: string;
  resendAfterSeconds: number;
  /** Shown in test mode only. */
  code: string;
}

const rejected: { refused: Problem } = { refused: { code: 'code-rejected', attemptsLeft: 0 } };

/**
 * Changes of the login phone (`change_phone_number`, service.md 3.1). A code verifies the new number; until then the
 * old one stays. Every method joins the caller's transaction and returns refusals as values.
 */
export class PhoneChanges {
  constructor(private readonly deps: PhoneChangesDeps) {}

  /**
   * Sends a code to the new number; repeatable, also with another number. Refuses `phone-invalid`, `phone-locked`,
   * `too-many`, `unavailable`. That another user has the number is revealed only to its holder, by `complete`.
   */
  async begin(
    em: EntityManager,
    by: ChangeBy,
    place: ChangePlace,
    requested: string,
  ): Promise<PhoneCodeSent | RefusedChange> {
    const { audit, delivery, pendingPhones, smsGuard, testMode, users } = this.deps;
    const { project, user } = by;
    const to = requested.normalize('NFKC').replace(/[\s()./-]/g, '');
    if (!isE164(to)) return { refused: { code: 'phone-invalid' } };
    const locked = await problemOf(users.checkPhoneLock(em, user, to));
    if (locked) return { refused: locked, event: { type: 'user.phone_change_refused', subject: subjectOf(user) } };
    if (!delivery.isAvailable('sms') && !(await testMode.holds(em, project))) {
      return { refused: { code: 'unavailable', reason: 'sms is not available', retryAfterSeconds: 60 } };
    }
    const issued = await pendingPhones.begin(em, by, place, to);
    if ('refused' in issued) return issued;
    const sms = { project, number: to };
    const refused = await smsGuard.spend(em, sms);
    if (refused) return { refused, counts: [{ sms }] };
    const { code, expiresAt, resendAfterSeconds } = issued;
    await delivery.enqueue(em, {
      projectId: project.id,
      channel: 'sms',
      to,
      locale: by.locale,
      content: { template: 'phone-code', app: by.app, code, minutes: codeTtlSeconds / 60 },
      context: { account: user.id, mailbox: to },
      expiresAt,
    });
    audit.record(em, { ...about(by), type: 'user.phone_change_begun' });
    return { to, resendAfterSeconds, code };
  }

  /** Writes the counters and the audit event of a refusal after its rollback. */
  async note(em: EntityManager, by: ChangeBy, { refused, counts = [], event }: RefusedChange): Promise<void> {
    for (const { sms } of counts) await this.deps.smsGuard.spend(em, sms);
    if (event) await this.deps.audit.recordRepeated(em, { ...about(by), ...event }, refused.code);
    await recordNetworkLimit(this.deps.audit, em, refused, about(by));
  }

  /**
   * Checks a counted attempt and stores the number that the code was sent to. Refuses `code-rejected`; if the code is
   * correct, `phone-locked`, and `taken` if another user of the project has the number.
   */
  async complete(
    em: EntityManager,
    by: ChangeBy,
    place: ChangePlace,
    counted: CountedCode | null,
    typed: string,
  ): Promise<{ phone: string } | RefusedChange> {
    const { pendingPhones, users } = this.deps;
    const { user } = by;
    const phone = await pendingPhones.prove(em, by, place, counted, typed);
    if (phone === null) {
      return { ...rejected, event: { type: 'otp.rejected', subject: subjectOf(user), detail: { purpose: 'phone' } } };
    }
    const locked = await problemOf(users.checkPhoneLock(em, user, phone));
    const refused: Problem | null =
      locked ?? ((await users.isPhoneTaken(em, user, phone)) ? { code: 'taken', what: 'user', field: 'phone' } : null);
    if (refused) return { refused, event: { type: 'user.phone_change_refused', subject: subjectOf(user) } };
    await pendingPhones.drop(em, user, place.boundTo);
    await this.put(em, by, phone, place.boundTo);
    return { phone };
  }

  /**
   * Stores a verified number, also for the user's SMS factor, ends the user's other open work, and notifies the user by
   * mail, and by SMS within its limits at each number that it replaces. Refuses `phone-locked`, `taken`.
   *
   * @param keepId the sign-in or session that makes the change; null: none
   */
  async put(em: EntityManager, by: ChangeBy, phone: string, keepId: string | null): Promise<void> {
    const { audit, clock, delivery, endOpenWork, mfa, smsGuard, users } = this.deps;
    const { user } = by;
    const before = user.phone ?? null;
    const replaced = new Set(await mfa.moveSms(em, user, phone));
    const isMoved = before !== phone || replaced.size > 0;
    if (isMoved) await endOpenWork(em, clock.now(), user, { keepCeremonyId: keepId, keepSessionId: keepId });
    await users.changePhone(em, user, phone, by.actor);
    if (!isMoved) return;
    if (before !== null && before !== phone) replaced.add(before);
    audit.record(em, { ...about(by), type: 'user.phone_changed' });
    const notice = {
      projectId: by.project.id,
      locale: by.locale,
      content: {
        template: 'phone-changed',
        app: by.app,
        ending: phone.slice(-4),
        at: clock.now().toISOString(),
      },
    } as const;
    const notify = (channel: Channel, to: string) =>
      delivery.enqueue(em, { ...notice, channel, to, context: { account: user.id, mailbox: to } });
    await notify('mail', user.email ?? user.userName);
    if (!delivery.isAvailable('sms')) return;
    for (const number of replaced) {
      const refused = await smsGuard.spend(em, { project: by.project, number, proved: true });
      if (!refused) await notify('sms', number);
    }
  }
}

function about({ actor, clientId, project, user }: ChangeBy) {
  return {
    actor,
    projectId: project.id,
    ...(clientId !== undefined && { clientId }),
    subject: subjectOf(user),
  };
}

function subjectOf({ id, userName }: User) {
  return { kind: 'user', id, name: userName };
}
