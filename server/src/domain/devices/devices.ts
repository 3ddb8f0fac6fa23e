import type { EntityManager } from '@mikro-orm/postgresql';
import type { JWK } from 'jose';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import { found } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { Project } from '../projects/project.entity.ts';
import { Device } from './device.entity.ts';
import { deviceName } from './device-name.ts';
import { deviceKeyAlg } from './proof.ts';

export interface Registration {
  project: Project;
  clientId: string;
  userId: string;
  jkt: string;
  publicJwk: JWK;
  /** False: its trust ends with the sign-in that registers it. */
  remembered: boolean;
  actor: Actor;
}

/** A device that is not to be remembered has this long to finish the sign-in that registered it. */
const unrememberedSeconds = 10 * 60;

/** Browsers that users have registered. */
export class Devices {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly audit: Audit;

  constructor(clock: Clock, random: Random, audit: Audit) {
    this.clock = clock;
    this.random = random;
    this.audit = audit;
  }

  /** A device of an active user, with its user; null where it is revoked or its trust has run out. */
  async trusted(em: EntityManager, clientId: string, jkt: string, userId: string): Promise<Device | null> {
    const device = await em.findOne(
      Device,
      { client: clientId, user: { id: userId, active: true }, jkt, revokedAt: null },
      { populate: ['user'] },
    );
    return device?.trustedUntil && !isPast(device.trustedUntil, this.clock.now()) ? device : null;
  }

  /**
   * Registers a key after its user was proved. A key that was registered before begins anew: what it was trusted with
   * is not its own any more. `isNew` is false for such a one.
   */
  async register(em: EntityManager, registration: Registration): Promise<{ device: Device; isNew: boolean }> {
    const { project, clientId, userId, jkt, actor } = registration;
    const known = await em.findOne(Device, { client: clientId, user: userId, jkt });
    const now = this.clock.now();
    const trust = {
      remembered: registration.remembered,
      trustedUntil: secondsLater(now, registration.remembered ? project.deviceTrustSeconds : unrememberedSeconds),
      mfaRememberedUntil: null,
      lastUsedAt: now,
      revokedAt: null,
    };
    const isNew = !known || known.revokedAt !== null;
    const device = known
      ? Object.assign(known, trust)
      : em.create(Device, {
          ...trust,
          id: this.random.id(),
          project: project.id,
          client: clientId,
          user: userId,
          jkt,
          publicJwk: registration.publicJwk,
          alg: deviceKeyAlg,
          name: deviceName(actor.userAgent),
          userAgent: actor.userAgent ?? null,
          createdAt: now,
        });
    em.persist(device);
    if (isNew) {
      this.audit.record(em, {
        type: 'device.registered',
        actor,
        projectId: project.id,
        clientId,
        subject: { kind: 'device', id: device.id, name: device.name },
        detail: { userId },
      });
    }
    return { device, isNew };
  }

  /** A sign-in with this device has ended well: its trust slides on, or, where it is not remembered, is over. */
  used(device: Device, project: Project, skipFactorSeconds: number): void {
    const now = this.clock.now();
    device.lastUsedAt = now;
    device.trustedUntil = device.remembered ? secondsLater(now, project.deviceTrustSeconds) : null;
    if (skipFactorSeconds > 0) device.mfaRememberedUntil = secondsLater(now, skipFactorSeconds);
  }

  /** Whether `remember_me` lets this device skip the second factor now. */
  skipsFactor(device: Device, project: Project): boolean {
    if (!device.mfaRememberedUntil || project.rememberMfaSeconds === 0) return false;
    return !isPast(device.mfaRememberedUntil, this.clock.now());
  }

  /** Ends a device's trust for good. Refuses `not-found`. */
  async revoke(em: EntityManager, owner: { projectId: string; userId: string }, deviceId: string, actor: Actor) {
    const device = found(
      await em.findOne(Device, { id: deviceId, user: owner.userId, project: owner.projectId }),
      'device',
    );
    if (device.revokedAt) return device;
    device.revokedAt = this.clock.now();
    this.audit.record(em, {
      type: 'device.revoked',
      actor,
      projectId: owner.projectId,
      subject: { kind: 'device', id: device.id, name: device.name },
      detail: { userId: owner.userId },
    });
    return device;
  }
}
