import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { forgetRemembered } from '../credentials/user-tables.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, processSkewSeconds, seconds, secondsLater } from '../kernel/clock.ts';
import { found } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';
import { Enrolment, isMailboxAlone, isSuspended, type MfaMethod } from './enrolment.entity.ts';
import { RecoveryCodes } from './recovery-codes.ts';
import { RecoveryGrants } from './recovery-grants.ts';
import { failuresUntilOff, newTotpSecret, otpauthUri, totpStep, waitAfter } from './totp.ts';
import { endSuspendedSms } from './user-tables.ts';

/** The secret for an authenticator app, as text and as a URI for a QR code. */
export interface TotpSetup {
  secret: string;
  otpauthUri: string;
}

/** Second factors (email, SMS, TOTP) and recovery codes. */
export class Mfa {
  readonly recoveryCodes: RecoveryCodes;
  readonly recoveryGrants: RecoveryGrants;

  constructor(private readonly deps: { clock: Clock; random: Random; vault: Vault; audit: Audit }) {
    this.recoveryCodes = new RecoveryCodes(deps);
    this.recoveryGrants = new RecoveryGrants(deps);
  }

  /** A user's verified factors, most recently used or enrolled first; none that is suspended ({@link isSuspended}). */
  async factors(em: EntityManager, user: User): Promise<Enrolment[]> {
    const verified = await em.find(Enrolment, { user, verifiedAt: { $ne: null } });
    const factors = verified.filter((factor) => !isSuspended(factor));
    const lastSeen = (factor: Enrolment) => (factor.lastUsedAt ?? factor.verifiedAt ?? factor.createdAt).getTime();
    return factors.sort((a, b) => lastSeen(b) - lastSeen(a));
  }

  /** The unverified factor that was started in one of these sign-ins. */
  async pending(em: EntityManager, user: User, ceremonyIds: readonly string[]): Promise<Enrolment | null> {
    if (ceremonyIds.length === 0) return null;
    return em.findOne(Enrolment, { user, ceremonyId: { $in: [...ceremonyIds] }, verifiedAt: null });
  }

  /**
   * Starts a factor, replacing an unverified one of the same sign-in or factor change. It is not required until
   * verified, and can be verified only there, where the person has proved more than a device key.
   *
   * @param begun.deviceId null for a back end (delegation)
   */
  async begin(
    em: EntityManager,
    begun: {
      user: User;
      ceremonyId?: string | null;
      deviceId: string | null;
      method: MfaMethod;
      phone: string | null;
      besidePasskey?: boolean;
    },
  ): Promise<Enrolment> {
    const ceremonyId = begun.ceremonyId ?? null;
    await em.nativeDelete(Enrolment, { user: begun.user, ceremonyId, verifiedAt: null });
    const id = this.deps.random.id();
    const secret = begun.method === 'totp' ? newTotpSecret((count) => this.deps.random.bytes(count)) : null;
    const enrolment = em.create(Enrolment, {
      project: begun.user.project,
      id,
      user: begun.user,
      ceremonyId,
      deviceId: begun.deviceId,
      method: begun.method,
      phone: begun.phone,
      sealedSecret: secret === null ? null : this.deps.vault.seal('totp', id, secret),
      createdAt: this.deps.clock.now(),
      besidePasskey: begun.besidePasskey ?? false,
    });
    em.persist(enrolment);
    return enrolment;
  }

  /** The secret for the authenticator app; null once the factor is verified. */
  totpSetup(enrolment: Enrolment, issuer: string, account: string): TotpSetup | null {
    if (enrolment.method !== 'totp' || enrolment.verifiedAt) return null;
    const secret = this.secretOf(enrolment);
    return { secret, otpauthUri: otpauthUri(secret, issuer, account) };
  }

  /** Locks and returns the factor; null if it no longer exists. */
  async locked(em: EntityManager, key: TenantKey): Promise<Enrolment | null> {
    return em.findOne(Enrolment, atKey(key), { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  }

  /** True if too many wrong codes have disabled it: only a recovery code is then accepted. */
  isOff(enrolment: Enrolment): boolean {
    return enrolment.failures >= failuresUntilOff;
  }

  /**
   * Seconds until a locked factor accepts codes again; 0: not locked. A lock that ends later than it can was set by a clock
   * that was ahead, and is over.
   */
  lockedForSeconds({ failures, lockedUntil }: Pick<Enrolment, 'failures' | 'lockedUntil'>): number {
    if (!lockedUntil) return 0;
    const left = Math.ceil((lockedUntil.getTime() - this.deps.clock.now().getTime()) / 1000);
    return left > waitAfter(failures) + processSkewSeconds ? 0 : Math.max(0, left);
  }

  /**
   * Counts an attempt at a TOTP code as wrong before the code is checked: the row lock serializes attempts, and a
   * refusal does not roll back the count. {@link accepted} resets it.
   */
  async countTry(
    em: EntityManager,
    { project, id, failures }: Pick<Enrolment, 'project' | 'id' | 'failures'>,
  ): Promise<void> {
    const pause = waitAfter(failures + 1);
    await execute(
      em,
      sql`
        update enrolments set failures = ${failures + 1},
          locked_until = ${pause > 0 ? secondsLater(this.deps.clock.now(), pause) : null}
        where project_id = ${project.id} and id = ${id}`,
      { prepare: 'mfa.count-try' },
    );
  }

  /** Whether this is the factor's current TOTP code; the caller holds the row lock. Each time-step is accepted once. */
  async acceptTotp(em: EntityManager, enrolment: Enrolment, code: string): Promise<boolean> {
    const step = totpStep(this.secretOf(enrolment), code, seconds(this.deps.clock.now()), enrolment.lastStep ?? null);
    if (step === null) return false;
    const taken = await execute(
      em,
      sql`
        update enrolments set last_step = ${step}
        where project_id = ${enrolment.project.id} and id = ${enrolment.id} and (last_step is null or last_step < ${step})`,
      { prepare: 'mfa.accept-totp' },
    );
    if (taken === 1) this.accepted(enrolment);
    return taken === 1;
  }

  /** Records a successful use of the factor, by its own code or a recovery code. */
  accepted(enrolment: Enrolment): void {
    enrolment.failures = 0;
    enrolment.lockedUntil = null;
    enrolment.lastUsedAt = this.deps.clock.now();
  }

  /**
   * Marks a factor as verified after its first correct code. Returns recovery codes, to be shown once, if the user has
   * none yet. The first factor, and the first one besides email, replaces earlier codes and forgets remembered devices:
   * a reader of the mailbox could have obtained them. An SMS factor replaces one that is suspended.
   *
   * @param hasPasskey whether a passkey has verified the user: codes would replace it, so none are created
   */
  async verify(
    em: EntityManager,
    enrolment: Enrolment,
    user: User,
    actor: Actor,
    hasPasskey = false,
  ): Promise<string[] | null> {
    const others = (await this.factors(em, user)).filter(({ id }) => id !== enrolment.id);
    enrolment.verifiedAt = this.deps.clock.now();
    this.deps.audit.record(em, {
      type: 'mfa.enrolled',
      actor,
      projectId: user.project.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { method: enrolment.method },
    });
    if (enrolment.method === 'sms') await endSuspendedSms(em, user);
    if (enrolment.besidePasskey) return null;
    const isFirst = others.length === 0 || (enrolment.method !== 'email' && isMailboxAlone(others));
    if (isFirst) await forgetRemembered(em, user);
    if (hasPasskey) return null;
    if (isFirst) return this.recoveryCodes.issue(em, user);
    return (await this.recoveryCodes.left(em, user)) > 0 ? null : this.recoveryCodes.issue(em, user);
  }

  /**
   * Changes the number of the user's SMS factor, and forgets browsers that the old one was remembered in. Returns the numbers
   * that it replaces.
   */
  async moveSms(em: EntityManager, user: User, phone: string): Promise<string[]> {
    const factors = await em.find(Enrolment, { user, method: 'sms', verifiedAt: { $ne: null } });
    const replaced = factors.flatMap((factor) => (factor.phone && factor.phone !== phone ? [factor.phone] : []));
    for (const factor of factors) factor.phone = phone;
    if (replaced.length > 0) await forgetRemembered(em, user);
    return replaced;
  }

  /** Removes a verified factor. Refuses `not-found`. */
  async remove(em: EntityManager, user: User, enrolmentId: string, actor: Actor): Promise<Enrolment> {
    const where = { id: enrolmentId, user, verifiedAt: { $ne: null } };
    const enrolment = found(isUuid(enrolmentId) ? await em.findOne(Enrolment, where) : null, 'enrolment');
    em.remove(enrolment);
    this.deps.audit.record(em, {
      type: 'mfa.removed',
      actor,
      projectId: user.project.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { method: enrolment.method },
    });
    return enrolment;
  }

  private secretOf(enrolment: Enrolment): string {
    return this.deps.vault.open('totp', enrolment.id, enrolment.sealedSecret as Uint8Array).toString();
  }
}
