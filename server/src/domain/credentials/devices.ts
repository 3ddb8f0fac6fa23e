import type { EntityManager } from '@mikro-orm/postgresql';
import type { JWK } from 'jose';
import type { Audit } from '../audit/audit.ts';
import type { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { isLine, linkFault } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { isTrusted, skipsFactor, trustAfterUse } from '../policy/device-trust.ts';
import type { Project } from '../projects/project.entity.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { Credential } from './credential.entity.ts';
import { Device } from './device.entity.ts';
import { deviceName } from './device-name.ts';
import { deviceKeyAlg } from './proof.ts';

export interface Registration {
  project: Project;
  clientId: string;
  userId: string;
  jkt: string;
  publicJwk: JWK;
  /** Whether the hosted page keeps the key. */
  hosted: boolean;
  /** The custom domain of the page; absent: the base host, or an application's page. */
  domain?: string | null;
  /** False: it is never trusted beyond the sign-in that registers it. */
  remembered: boolean;
  actor: Actor;
}

/** The page that holds a key. */
export interface DevicePage {
  client: Client;
  /** Whether it is the hosted page. */
  isHosted: boolean;
  /** Its custom domain; null: the base host, or an application's page. */
  domain: string | null;
}

/** The required owner of a device. */
export interface DeviceOwner {
  projectId: string;
  userId: string;
}

const maxNameLength = 100;

/** The columns that a use of a device updates. */
type DeviceUse = Pick<Device, 'lastUsedAt' | 'trustedUntil' | 'mfaRememberedAt' | 'mfaRememberedUntil'>;

const useColumns: { [K in keyof DeviceUse]: string } = {
  lastUsedAt: 'last_used_at',
  trustedUntil: 'trusted_until',
  mfaRememberedAt: 'mfa_remembered_at',
  mfaRememberedUntil: 'mfa_remembered_until',
};

/** SQL: records a use of the device. */
export function notedUse({ project, id }: TenantKey<string | Fragment>, use: Partial<DeviceUse>): Fragment {
  const values = Object.entries(use).map(
    ([name, value]) => sql`${sql.raw(useColumns[name as keyof DeviceUse])} = ${value}`,
  );
  return sql`update credentials set ${sql.join(values)} where project_id = ${project.id} and id = ${id}`;
}

/** Registered browsers; renaming and revocation of passkeys, too. */
export class Devices {
  constructor(private readonly deps: { clock: Clock; random: Random; audit: Audit }) {}

  /**
   * A registered key, with its user. Of an active user, includes revoked and expired keys; of a deactivated one, only
   * suspended keys. A key of the hosted page is found there for every client of the project, at its own host only:
   * pages of a lapsed domain could sign for others.
   */
  async find(em: EntityManager, page: DevicePage, jkt: string, userId: string): Promise<Device | null> {
    const where = { project: page.client.project.id, user: { id: userId }, jkt };
    const keys = await em.find(Device, where, { populate: ['user'], orderBy: { id: 'asc' } });
    const mayBeFound = (key: Device) => key.user.getEntity().active || (key.suspendedAt && !key.revokedAt);
    return keys.find((key) => belongsTo(key, page) && mayBeFound(key)) ?? null;
  }

  /** Whether the current policy trusts the device for sign-in. */
  isTrusted(device: Device, project: Project): boolean {
    return isTrusted(device, project, this.deps.clock.now());
  }

  /**
   * Registers a key whose user entered a mail code. It is not trusted yet: a second factor may be missing. A key that is
   * already registered loses its previous trust; `isNew` is then false. Refuses `device-revoked` for a key of this user that
   * was ever revoked, with any client, or that belongs to another host, or to another page of the client: no browser shares
   * keys between hosts and pages.
   */
  async register(em: EntityManager, registration: Registration): Promise<{ device: Device; isNew: boolean }> {
    const { project, clientId, userId, jkt, hosted, domain = null, actor } = registration;
    const ofKey = await em.find(Device, { project: project.id, user: { id: userId }, jkt });
    const isHere = (key: Device) => belongsTo(key, { client: { id: clientId }, isHosted: hosted, domain });
    const isForeign = (key: Device) => (key.domain ?? null) !== domain || (key.client.id === clientId && !isHere(key));
    if (ofKey.some((key) => key.revokedAt || isForeign(key))) refuse({ code: 'device-revoked' });
    const known = ofKey.find(isHere);
    const now = this.deps.clock.now();
    const trust = {
      hosted: hosted || null,
      remembered: registration.remembered,
      trustedUntil: null,
      registeredAt: now,
      suspendedAt: null,
      mfaRememberedAt: null,
      mfaRememberedUntil: null,
      lastUsedAt: now,
    };
    const isNew = !known;
    const device = known
      ? Object.assign(known, trust)
      : em.create(Device, {
          ...trust,
          id: this.deps.random.id(),
          project: project.id,
          client: [project.id, clientId],
          user: [project.id, userId],
          jkt,
          domain,
          publicJwk: registration.publicJwk,
          alg: deviceKeyAlg,
          name: deviceName(actor.userAgent),
          userAgent: actor.userAgent ?? null,
          createdAt: now,
        });
    em.persist(device);
    if (isNew) {
      this.deps.audit.record(em, {
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

  /** Trusts a device whose sign-in has proved everything that is required, unless it is not remembered. */
  trust(device: Device, project: Project): void {
    device.trustedUntil = trustAfterUse(device, project, this.deps.clock.now());
  }

  /** Records a successful sign-in: begins or extends the device's trust, or ends it if the device is not remembered. */
  used(device: Device, project: Project, skipFactorSeconds: number): void {
    Object.assign(device, this.use(device, project, skipFactorSeconds));
  }

  /** The columns that {@link used} writes. */
  use(device: Device, project: Project, skipFactorSeconds: number) {
    const now = this.deps.clock.now();
    return {
      lastUsedAt: now,
      trustedUntil: trustAfterUse(device, project, now),
      mfaRememberedAt: skipFactorSeconds > 0 ? now : (device.mfaRememberedAt ?? null),
      mfaRememberedUntil:
        skipFactorSeconds > 0 ? secondsLater(now, skipFactorSeconds) : (device.mfaRememberedUntil ?? null),
    };
  }

  /** Whether this device may skip the second factor (`remember_me`). */
  skipsFactor(device: Device, project: Project): boolean {
    return skipsFactor(device, project, this.deps.clock.now());
  }

  /** A user's devices that are not revoked, with their clients, most recently used first. */
  list(em: EntityManager, owner: DeviceOwner, limit?: number): Promise<Device[]> {
    const orderBy = { lastUsedAt: 'desc', id: 'desc' } as const;
    return em.find(Device, liveOf(owner), { populate: ['client'], orderBy, ...(limit !== undefined && { limit }) });
  }

  /** The number of {@link list}. */
  count(em: EntityManager, owner: DeviceOwner): Promise<number> {
    return em.count(Device, liveOf(owner));
  }

  /** RFC 7638 thumbprints of a user's keys, including revoked ones, most recently used first; at most 100. */
  async thumbprints(em: EntityManager, owner: DeviceOwner): Promise<string[]> {
    const where = { project: owner.projectId, user: { id: owner.userId } };
    const orderBy = { lastUsedAt: 'desc', id: 'desc' } as const;
    return (await em.find(Device, where, { fields: ['jkt'], orderBy, limit: 100 })).map(({ jkt }) => jkt);
  }

  /** Refuses `not-found`, also for a revoked device, and `invalid` if the name is empty or too long. */
  async rename(
    em: EntityManager,
    owner: DeviceOwner,
    id: string,
    requested: string,
    actor: Actor,
  ): Promise<Credential> {
    const device = await this.owned(em, owner, id);
    if (device.revokedAt) refuse({ code: 'not-found', what: 'device' });
    const name = requested.trim();
    if (name === '') refuse({ code: 'invalid', field: 'name', reason: 'must not be empty' });
    if (name.length > maxNameLength) {
      refuse({ code: 'invalid', field: 'name', reason: `must have at most ${maxNameLength} characters` });
    }
    // The name is shown in mails and in the console.
    const fault = isLine(name) ? linkFault(name) : 'must be one line without control characters';
    if (fault !== null) refuse({ code: 'invalid', field: 'name', reason: fault });
    const before = device.name;
    if (name === before) return device;
    device.name = name;
    this.deps.audit.record(em, {
      type: `${nounOf(device)}.renamed`,
      actor,
      projectId: owner.projectId,
      subject: { kind: nounOf(device), id: device.id, name },
      detail: { userId: owner.userId, before: { name: before }, after: { name } },
    });
    return device;
  }

  /** Revokes a device or passkey permanently. Refuses `not-found`. */
  async revoke(em: EntityManager, owner: DeviceOwner, id: string, actor: Actor): Promise<Credential> {
    const device = await this.owned(em, owner, id);
    if (device.revokedAt) return device;
    device.revokedAt = this.deps.clock.now();
    this.deps.audit.record(em, {
      type: `${nounOf(device)}.revoked`,
      actor,
      projectId: owner.projectId,
      subject: { kind: nounOf(device), id: device.id, name: device.name },
      detail: { userId: owner.userId },
    });
    return device;
  }

  private async owned(em: EntityManager, owner: DeviceOwner, id: string): Promise<Credential> {
    const where = { project: owner.projectId, id, user: { id: owner.userId } };
    return found(isUuid(id) ? await em.findOne(Credential, where) : null, 'device');
  }
}

/**
 * Scripts of an application's page can sign anything with its key. The hosted page therefore does not accept that key: other
 * clients would trust it.
 */
export function belongsTo(
  key: Pick<Device, 'domain' | 'hosted'> & { client: { id: string } },
  { client, isHosted, domain }: { client: Pick<Client, 'id'>; isHosted: boolean; domain: string | null },
): boolean {
  if ((key.domain ?? null) !== domain) return false;
  if (key.hosted) return isHosted;
  return key.client.id === client.id && !(isHosted && key.hosted == null);
}

function nounOf({ kind }: Credential): 'device' | 'passkey' {
  return kind === 'passkey' ? 'passkey' : 'device';
}

function liveOf({ projectId, userId }: DeviceOwner) {
  return { project: projectId, user: { id: userId }, revokedAt: null };
}
