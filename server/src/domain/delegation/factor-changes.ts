import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { maySometimesEnter } from '../access/has-access.ts';
import type { Audit } from '../audit/audit.ts';
import { languageOf } from '../ceremonies/notices.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { addressOf, contextFor } from '../ceremonies/recipients.ts';
import type { Client } from '../clients/client.entity.ts';
import type { PhoneChanges } from '../contacts/phone-changes.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import { forgetRemembered } from '../credentials/user-tables.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { maskAddress, maskPhone } from '../delivery/mask.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import { type Database, pastDeadlocks, rolledBackIfRefused } from '../kernel/database.ts';
import { type Problem, problemOf, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import type { Enrolment, MfaMethod } from '../mfa/enrolment.entity.ts';
import { FactorChange } from '../mfa/factor-change.entity.ts';
import { countChangeTry } from '../mfa/factor-change-rows.ts';
import type { Mfa } from '../mfa/mfa.ts';
import { endSuspendedSms } from '../mfa/user-tables.ts';
import { codeTtlSeconds } from '../otp/code-check.ts';
import type { CountedCode, Otp } from '../otp/otp.ts';
import type { Sends } from '../otp/sends.ts';
import { isSufficient } from '../policy/requirements.ts';
import type { Project } from '../projects/project.entity.ts';
import { atKey } from '../projects/tenant.ts';
import type { TestMode } from '../projects/test-mode.ts';
import type { SmsGuard, SmsToSend } from '../sms/sms-guard.ts';
import { userIdOfSub } from '../users/identity/sub.ts';
import { isE164 } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import { phoneOf } from '../users/user-writing.ts';
import type { Users } from '../users/users.ts';
import { about, type BackEnd, purposeOf } from './back-end.ts';

/** Lifetime of a pending change. */
const changeTtlSeconds = 10 * 60;
/** Attempts that one change allows. */
const triesPerChange = 5;

/** The factor operations that a change needs. */
type Factors = Pick<
  Mfa,
  'factors' | 'begin' | 'locked' | 'totpSetup' | 'countTry' | 'lockedForSeconds' | 'acceptTotp' | 'accepted' | 'verify'
>;

export interface FactorChangesDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  users: Pick<Users, 'find' | 'findByAddress' | 'locked' | 'checkPhoneLock' | 'isPhoneTaken'>;
  factors: Factors;
  passkeys: Pick<Passkeys, 'isHeldBy'>;
  otp: Pick<Otp, 'issue' | 'count' | 'spendTry' | 'redeem'>;
  sends: Sends;
  smsGuard: Pick<SmsGuard, 'spend'>;
  phones: Pick<PhoneChanges, 'put'>;
  delivery: Pick<Delivery, 'isAvailable' | 'enqueue'>;
  testMode: TestMode;
}

export interface NewChange {
  /** The user's email, id or `sub`. */
  userid: string;
  method: MfaMethod;
  /** For `sms`; undefined: the number on record. */
  phone: string | undefined;
}

/** A started change; the new factor has been challenged. */
export interface BegunChange {
  sessionId: string;
  expiresInSeconds: number;
  /** The code's destination, masked. */
  sentTo?: string;
  totp?: { secret: string; otpauthUri: string };
  /** Test mode only. */
  code?: string;
}

type ChangeOutcome<T> = T | { refused: Problem };
/** A refusal, and the refused SMS, if any. */
interface RefusedSms {
  refused: Problem;
  sms?: SmsToSend;
}
const over: { refused: Problem } = { refused: { code: 'transaction-expired' } };
const rejected: { refused: Problem } = { refused: { code: 'code-rejected', attemptsLeft: 0 } };
const noSuchUser: { refused: Problem } = { refused: { code: 'not-found', what: 'user' } };

/**
 * Changes of users' second factors by back ends. The back end has authenticated the user; the new factor is verified
 * here, and until then the old one stays required.
 */
export class FactorChanges {
  constructor(private readonly deps: FactorChangesDeps) {}

  /**
   * Starts a change and challenges the new factor. Refuses `not-found`, `phone-invalid`, `phone-locked` (service.md
   * 3.1), `mfa-method-not-allowed`, `too-many`, `unavailable`.
   */
  async initiate(backEnd: BackEnd, change: NewChange): Promise<BegunChange> {
    return unwrap<BegunChange>(
      await this.deps.db.transaction(async (em) => {
        const begun: ChangeOutcome<BegunChange> | RefusedSms = await rolledBackIfRefused(em, () =>
          this.begin(em, backEnd, change),
        );
        // The count was rolled back with the rest: count again.
        if ('refused' in begun && 'sms' in begun && begun.sms) await this.deps.smsGuard.spend(em, begun.sms);
        return begun;
      }),
    );
  }

  /**
   * Checks the code of the new factor. If correct, the new factor replaces all previous ones, its number replaces the
   * phone on record, and the user is notified. Refuses `transaction-expired`, `mfa-method-not-allowed`, `code-rejected`,
   * `too-many`, `phone-locked`.
   *
   * @returns the method, and recovery codes if the user had none
   */
  async verify(
    backEnd: BackEnd,
    tried: { userid: string; sessionId: string; code: string },
  ): Promise<{ method: MfaMethod; recoveryCodes: string[] | null }> {
    return unwrap(await pastDeadlocks(() => this.deps.db.transaction((em) => this.complete(em, backEnd, tried))));
  }

  /** The user's current factor; null: none. Refuses `not-found`. */
  async current({ client }: BackEnd, userid: string): Promise<MfaMethod | null> {
    const em = this.deps.db.reader();
    const user = await this.userOf(em, client, userid);
    if (!user) refuse(noSuchUser.refused);
    return (await this.deps.factors.factors(em, user))[0]?.method ?? null;
  }

  private async begin(em: EntityManager, backEnd: BackEnd, change: NewChange): Promise<BegunChange | RefusedSms> {
    const { audit, clock, factors, random, users } = this.deps;
    const { client } = backEnd;
    const named = await this.userOf(em, client, change.userid);
    const user = named && (await users.locked(em, client.project.id, named.id));
    if (!user?.active) return noSuchUser;
    const phone = change.method === 'sms' ? await this.phoneFor(em, user, change.phone) : null;
    if (phone && 'refused' in phone) return phone;
    const project = client.project.getEntity();
    if (!isOffered(project, change.method)) {
      return { refused: { code: 'mfa-method-not-allowed', method: change.method } };
    }
    const to = change.method === 'sms' ? (phone?.number ?? null) : addressOf(user);
    if (change.method !== 'totp') {
      const refused = await this.sendable(em, project, user, change.method, to);
      if (refused) return refused;
    }
    const changeId = random.id();
    const enrolment = await factors.begin(em, {
      user,
      ceremonyId: changeId,
      deviceId: null,
      method: change.method,
      phone: phone?.number ?? null,
    });
    const sessionId = newSecret(random);
    const now = clock.now();
    const begun = em.create(FactorChange, {
      project: project.id,
      id: changeId,
      sessionHash: digest(sessionId),
      client,
      user,
      enrolmentId: enrolment.id,
      createdAt: now,
      expiresAt: secondsLater(now, changeTtlSeconds),
    });
    em.persist(begun);
    audit.record(em, { ...about(backEnd, user), type: 'mfa.change_begun', detail: { method: change.method } });
    const answer = { sessionId, expiresInSeconds: changeTtlSeconds };
    if (change.method === 'totp' || to === null) {
      const totp = factors.totpSetup(enrolment, project.name, addressOf(user) ?? user.userName);
      return { ...answer, ...(totp && { totp }) };
    }
    const code = await this.send(em, backEnd, user, begun, change.method, to);
    const sentTo = change.method === 'sms' ? maskPhone(to) : maskAddress(to);
    return { ...answer, sentTo, ...((await this.deps.testMode.holds(em, project)) && { code }) };
  }

  /** Counts the attempt, then checks it; a refusal keeps only the count. */
  private async complete(
    em: EntityManager,
    backEnd: BackEnd,
    tried: { userid: string; sessionId: string; code: string },
  ): Promise<ChangeOutcome<{ method: MfaMethod; recoveryCodes: string[] | null }>> {
    const { clock, factors, users } = this.deps;
    const { client } = backEnd;
    const begun = await em.findOne(FactorChange, { sessionHash: digest(tried.sessionId), client });
    const named = begun && (await this.userOf(em, client, tried.userid));
    if (!named || named.id !== begun.user.id) return over;
    // Lock the user before the change, in the order of `endOpenWork`.
    const user = await users.locked(em, client.project.id, named.id);
    const change = await em.findOne(FactorChange, atKey(begun), {
      lockMode: LockMode.PESSIMISTIC_WRITE,
      refresh: true,
    });
    if (!change || change.finishedAt || isPast(change.expiresAt, clock.now())) return over;
    const enrolment = await factors.locked(em, { project: change.project, id: change.enrolmentId });
    if (!user?.active || !enrolment || enrolment.verifiedAt || change.attempts >= triesPerChange) return over;
    const { method } = enrolment;
    if (!isOffered(client.project.getEntity(), method)) return { refused: { code: 'mfa-method-not-allowed', method } };
    const locked = enrolment.phone && (await problemOf(users.checkPhoneLock(em, user, enrolment.phone)));
    if (locked) return { refused: locked };
    const counted = await this.count(em, client.project.id, change, enrolment);
    if ('refused' in counted) return counted;
    const outcome = await rolledBackIfRefused(em, () =>
      this.accept(em, backEnd, change.id, counted.counted, tried.code),
    );
    if ('refused' in outcome) {
      const event = { type: 'mfa.rejected' as const, detail: { method, change: true } };
      await this.deps.audit.recordRepeated(em, { ...about(backEnd, user), ...event }, outcome.refused.code);
    }
    return outcome;
  }

  private async count(
    em: EntityManager,
    projectId: string,
    change: FactorChange,
    enrolment: Enrolment,
  ): Promise<ChangeOutcome<{ counted: CountedCode | null }>> {
    const { factors, otp } = this.deps;
    const wait = factors.lockedForSeconds(enrolment);
    if (wait > 0) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
    await countChangeTry(em, change);
    if (enrolment.method === 'totp') {
      await factors.countTry(em, enrolment);
      return { counted: null };
    }
    const place = { projectId, ceremonyId: change.id, purpose: purposeOf(enrolment.method) };
    const pause = await otp.spendTry(em, place, change.user.id);
    if (pause !== null) return { refused: { code: 'too-many', retryAfterSeconds: pause } };
    return { counted: await otp.count(em, place) };
  }

  private async accept(
    em: EntityManager,
    backEnd: BackEnd,
    changeId: string,
    counted: CountedCode | null,
    code: string,
  ): Promise<ChangeOutcome<{ method: MfaMethod; recoveryCodes: string[] | null }>> {
    const { clock, factors, users } = this.deps;
    const { client } = backEnd;
    const change = await em.findOneOrFail(
      FactorChange,
      { project: client.project.id, id: changeId },
      { refresh: true },
    );
    const user = await users.locked(em, client.project.id, change.user.id);
    const enrolment = await factors.locked(em, { project: change.project, id: change.enrolmentId });
    if (!user?.active || !enrolment) return over;
    if (!(await this.isCorrect(em, user, enrolment, client, counted, code))) return rejected;
    change.finishedAt = clock.now();
    const recoveryCodes = await this.swap(em, backEnd, user, enrolment);
    return { method: enrolment.method, recoveryCodes };
  }

  private async isCorrect(
    em: EntityManager,
    user: User,
    enrolment: Enrolment,
    client: Client,
    counted: CountedCode | null,
    code: string,
  ): Promise<boolean> {
    const { factors, otp } = this.deps;
    if (enrolment.method === 'totp') return factors.acceptTotp(em, enrolment, code);
    const redeemed = await otp.redeem(em, counted, { jkt: null, clientId: client.id, code });
    const to = enrolment.method === 'sms' ? enrolment.phone : addressOf(user);
    if (!redeemed.accepted || redeemed.userId !== user.id || !redeemed.wentTo(to ?? '')) return false;
    factors.accepted(enrolment);
    return true;
  }

  /** Verifies the new factor and removes all previous ones. */
  private async swap(em: EntityManager, backEnd: BackEnd, user: User, enrolment: Enrolment): Promise<string[] | null> {
    const { audit, clock, delivery, factors, passkeys, phones, users } = this.deps;
    const before = await factors.factors(em, user);
    const hasPasskey = await passkeys.isHeldBy(em, { projectId: user.project.id, userId: user.id });
    const recoveryCodes = await factors.verify(em, enrolment, user, backEnd.actor, hasPasskey);
    for (const old of before) em.remove(old);
    await endSuspendedSms(em, user);
    await forgetRemembered(em, user);
    await endOpenWork(em, clock.now(), user);
    // Another user may have this number on record; the factor is valid anyway.
    if (enrolment.phone && enrolment.phone !== user.phone && !(await users.isPhoneTaken(em, user, enrolment.phone))) {
      const { actor, client } = backEnd;
      const project = client.project.getEntity();
      const by = { user, project, app: client.name, clientId: client.id, locale: languageOf(user), actor };
      await phones.put(em, by, enrolment.phone, null);
    }
    audit.record(em, {
      ...about(backEnd, user),
      type: 'mfa.changed',
      detail: { before: { factors: before.map(({ method }) => method) }, after: { factors: [enrolment.method] } },
    });
    await delivery.enqueue(em, {
      projectId: user.project.id,
      channel: 'mail',
      to: addressOf(user) ?? user.userName,
      locale: languageOf(user),
      content: {
        template: 'factor-changed',
        app: backEnd.client.name,
        change: before.length > 0 ? 'replaced' : 'added',
        method: enrolment.method,
        at: clock.now().toISOString(),
      },
      context: contextFor(user),
    });
    return recoveryCodes;
  }

  /** The number of the new factor. A phone owned by the directory cannot be replaced. */
  private async phoneFor(
    em: EntityManager,
    user: User,
    requested: string | undefined,
  ): Promise<{ number: string } | { refused: Problem }> {
    const number = requested?.replace(/[\s()./-]/g, '') ?? phoneOf(user) ?? '';
    if (!isE164(number)) return { refused: { code: 'phone-invalid' } };
    const refused = await problemOf(this.deps.users.checkPhoneLock(em, user, number));
    return refused ? { refused } : { number };
  }

  private async sendable(
    em: EntityManager,
    project: Project,
    user: User,
    method: MfaMethod,
    to: string | null,
  ): Promise<RefusedSms | null> {
    if (to === null) return { refused: { code: 'mfa-method-not-allowed', method } };
    const channel = method === 'sms' ? 'sms' : 'mail';
    if (!this.deps.delivery.isAvailable(channel) && !(await this.deps.testMode.holds(em, project))) {
      return { refused: { code: 'unavailable', reason: `${channel} is not available`, retryAfterSeconds: 60 } };
    }
    // A back end acts for many users: the budget is per user, not per network.
    const send = { projectId: project.id, purpose: purposeOf(method), address: user.id, ceremonyId: user.id, ip: null };
    const spent = await this.deps.sends.spend(em, send);
    if ('refused' in spent) return spent;
    if (method !== 'sms') return null;
    const sms = { project, number: to, proved: user.phone === to };
    const refused = await this.deps.smsGuard.spend(em, sms);
    return refused && { refused, sms };
  }

  private async send(
    em: EntityManager,
    { client }: BackEnd,
    user: User,
    change: FactorChange,
    method: MfaMethod,
    to: string,
  ): Promise<string> {
    const { clock, delivery, otp } = this.deps;
    const code = await otp.issue(em, {
      projectId: user.project.id,
      clientId: client.id,
      ceremonyId: change.id,
      purpose: purposeOf(method),
      userId: user.id,
      address: user.id,
      sentTo: to,
      jkt: null,
    });
    await delivery.enqueue(em, {
      projectId: user.project.id,
      channel: method === 'sms' ? 'sms' : 'mail',
      to,
      locale: languageOf(user),
      content: { template: 'factor-code', app: client.name, code, minutes: codeTtlSeconds / 60 },
      context: { account: user.id, mailbox: to },
      expiresAt: secondsLater(clock.now(), codeTtlSeconds),
    });
    return code;
  }

  /**
   * An active user of the client's project who has access to it, by id, `sub` or address. A name that two users have, as `subject`
   * and as address, names neither.
   */
  private async userOf(em: EntityManager, client: Client, userid: string): Promise<User | null> {
    const projectId = client.project.id;
    const { users } = this.deps;
    const named = isUuid(userid)
      ? await users.find(em, projectId, userid)
      : await users.findByAddress(em, projectId, userid);
    const subId = await userIdOfSub(em, projectId, userid);
    if (named && subId !== null && named.id !== subId) return null;
    const user = named ?? (subId === null ? null : await users.find(em, projectId, subId));
    return user?.active && (await maySometimesEnter(em, client, user.id)) ? user : null;
  }
}

/** Whether the project offers the method, and it meets the policy. */
function isOffered({ offeredFactors, mfaPolicy: policy, emailFactor }: Project, method: MfaMethod): boolean {
  return offeredFactors.includes(method) && isSufficient(method, { policy, emailFactor });
}

function unwrap<T>(outcome: ChangeOutcome<T>): T {
  if (typeof outcome === 'object' && outcome !== null && 'refused' in outcome) refuse(outcome.refused);
  return outcome as T;
}
