import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../admins/admins.ts';
import { isOfAdmins } from '../admins/admins-of.ts';
import { endRoles } from '../admins/ended-rights.ts';
import type { Audit } from '../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../ceremonies/notices.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { Consent } from '../consents/consent.entity.ts';
import type { Consents, GivenConsent } from '../consents/consents.ts';
import type { Device } from '../credentials/device.entity.ts';
import type { Devices } from '../credentials/devices.ts';
import type { Passkey } from '../credentials/passkey.entity.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, problemOf, refuse } from '../kernel/problem.ts';
import { inAllProjects, inProject } from '../kernel/scope.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Logout } from '../logout/logout.ts';
import type { LogoutNotices } from '../logout/notices.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { RecoveryGrant } from '../mfa/recovery-grant.entity.ts';
import { endStandIns } from '../mfa/reset.ts';
import { endGrants } from '../mfa/user-tables.ts';
import { trustEnd } from '../policy/device-trust.ts';
import { Project } from '../projects/project.entity.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { Session } from '../sessions/session.entity.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { addressKey } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';
import type { Accounts } from './accounts.ts';
import { removeAccess } from './application-access.ts';
import type { AccountDeletion } from './deletions/account-deletion.entity.ts';
import { pendingDeletion } from './deletions/pending-deletions.ts';

export interface AccountAccessDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  limits: Pick<Limits, 'spendMany'>;
  users: Pick<Users, 'locked'>;
  delivery: Pick<Delivery, 'enqueue'>;
  accounts: Pick<Accounts, 'setActive' | 'deactivate' | 'erase'>;
  admins: Pick<Admins, 'keepOwner'>;
  devices: Pick<Devices, 'count' | 'list' | 'revoke'>;
  passkeys: Pick<Passkeys, 'list'>;
  consents: Pick<Consents, 'list'>;
  sessions: Pick<Sessions, 'countOpen' | 'endAllOfUser' | 'listLive'>;
  mfa: Pick<Mfa, 'factors' | 'remove' | 'recoveryCodes' | 'recoveryGrants'>;
  logout: Pick<Logout, 'endSessionIn'>;
  logoutNotices: Pick<LogoutNotices, 'ofUser'>;
}

/** Notices of removed passkeys that one address gets from a project, in addition to those to the login address of a user. */
const perAddress: LimitRule = { name: 'passkey-removal.address', max: 10, windowSeconds: 24 * 3600 };
/** The same, for all addresses of a project. */
const perProject: LimitRule = { name: 'passkey-removal.project', max: 1000, windowSeconds: 24 * 3600 };

/** A device, with the end of its trust by the current policy. */
type ShownDevice = Pick<
  Device,
  'client' | 'createdAt' | 'id' | 'lastUsedAt' | 'name' | 'project' | 'remembered' | 'userAgent'
> & {
  trustedUntil: Date | null;
};

type ShownPasskey = Pick<
  Passkey,
  'aaguid' | 'createdAt' | 'createdBy' | 'id' | 'lastUsedAt' | 'name' | 'userVerified'
> & {
  attested: boolean;
  synced: boolean;
};

/** Sessions, and devices, of an overview. */
const maxShown = 100;

/** Sessions, devices, passkeys, consents and factors of a user. */
export interface AccessOverview {
  user: User;
  /** Live ones, most recently seen first; at most {@link maxShown}. */
  sessions: Session[];
  sessionCount: number;
  /** Not revoked, most recently used first; at most {@link maxShown}. */
  devices: ShownDevice[];
  deviceCount: number;
  /** Not revoked, most recently used first. */
  passkeys: ShownPasskey[];
  consents: GivenConsent[];
  /** Verified ones. */
  factors: Enrolment[];
  recoveryCodesLeft: number;
  /** Neither used nor ended nor expired; null: none. */
  recovery: RecoveryGrant | null;
  /** The deletion that the user has requested. */
  deletion: AccountDeletion | null;
}

/**
 * Admins' changes to a user's access. Each method is one transaction, and refuses `not-found` outside the project.
 * Removing sessions, devices, factors or the account also ends the user's open work ({@link endOpenWork}).
 */
export class AccountAccess {
  constructor(private readonly deps: AccountAccessDeps) {}

  async overview(em: EntityManager, user: User): Promise<AccessOverview> {
    const { consents, devices, mfa, passkeys, sessions } = this.deps;
    const project = await em.findOneOrFail(Project, user.project.id);
    const owner = { projectId: project.id, userId: user.id };
    const live = await sessions.listLive(em, project, user.id, maxShown);
    const registered = await devices.list(em, owner, maxShown);
    return {
      user,
      sessions: live,
      sessionCount: live.length < maxShown ? live.length : await sessions.countOpen(em, project, user.id),
      devices: registered.map((device) => shown(device, project)),
      deviceCount: registered.length < maxShown ? registered.length : await devices.count(em, owner),
      passkeys: (await passkeys.list(em, owner)).map(shownPasskey),
      consents: await consents.list(em, user),
      factors: await mfa.factors(em, user),
      recoveryCodesLeft: await mfa.recoveryCodes.left(em, user),
      recovery: await mfa.recoveryGrants.open(em, user),
      deletion: await pendingDeletion(em, user),
    };
  }

  /** Whether the user has no passkey, although the project uses them. */
  async lacksPasskey(em: EntityManager, user: TenantKey): Promise<boolean> {
    const { id: projectId } = user.project;
    const { passkeys } = await em.findOneOrFail(Project, projectId);
    const list = () => this.deps.passkeys.list(em, { projectId, userId: user.id });
    return passkeys && (await inProject(projectId, list)).length === 0;
  }

  async activate(projectId: string, userId: string, actor: Actor): Promise<void> {
    await this.deps.accounts.setActive(projectId, userId, true, actor);
  }

  /** Refuses `forbidden` for the last owner of the instance. */
  deactivate(projectId: string, userId: string, actor: Actor): Promise<void> {
    return this.change(projectId, userId, async (em, user) => {
      await this.deps.admins.keepOwner(em, userId);
      await this.deps.accounts.deactivate(em, user, actor);
    });
  }

  /** Refuses `forbidden` for the last owner of the instance. */
  async erase(projectId: string, userId: string, actor: Actor): Promise<void> {
    const ofAdmins = await isOfAdmins(this.deps.db.alone, projectId);
    const work = () =>
      this.change(projectId, userId, async (em, user) => {
        await this.deps.admins.keepOwner(em, userId);
        await this.eraseIn(em, user, actor, ofAdmins);
      });
    // An admin is named in the events of other projects, too.
    await (ofAdmins ? inAllProjects(work) : work());
  }

  /** Joins: erases a locked user. @param ofAdmins the user is an admin; to be called in the scope of all projects */
  async eraseIn(em: EntityManager, user: User, actor: Actor, ofAdmins: boolean): Promise<void> {
    const { accounts, audit, clock } = this.deps;
    const { id, project } = user;
    const name = user.email ?? user.userName;
    // Before the erasure, which removes the name.
    if (ofAdmins) await endRoles(em, { id, projectId: project.id, name }, { actor, audit, now: clock.now() });
    await accounts.erase(em, project.id, [id], actor);
  }

  /** Ends all sessions and notifies the applications that the user used, also without a session. */
  endSessions(projectId: string, userId: string, actor: Actor): Promise<void> {
    const { logoutNotices, sessions } = this.deps;
    return this.change(projectId, userId, async (em, user) => {
      await this.endWork(em, user);
      await sessions.endAllOfUser(em, user, 'revoked', actor);
      await logoutNotices.ofUser(em, user, actor);
    });
  }

  /**
   * Removes all second factors, recovery codes and remembered factors of devices, and ends an open recovery grant; passkeys
   * stay. If the project requires a factor, the next sign-in enrolls one and shows new codes.
   */
  resetFactors(projectId: string, userId: string, actor: Actor): Promise<void> {
    const { mfa } = this.deps;
    return this.change(projectId, userId, async (em, user) => {
      await this.endWork(em, user);
      for (const factor of await mfa.factors(em, user)) await mfa.remove(em, user, factor.id, actor);
      await endStandIns(em, user);
      await endGrants(em, user, this.deps.clock.now());
    });
  }

  /** Ends one session; does nothing if it has ended. */
  endSession(key: TenantKey, actor: Actor): Promise<void> {
    const { db, logout } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const session = found(await em.findOne(Session, atKey(key)), 'session');
        await this.endWork(em, { id: session.user.id, project: session.project });
        await logout.endSessionIn(em, session, 'revoked', actor);
      }),
    );
  }

  /** Revokes a consent and ends the application's access to the user: refresh grants, codes and access tokens. */
  async revokeConsent(key: TenantKey, actor: Actor): Promise<void> {
    const consent = found(await this.deps.db.reader().findOne(Consent, atKey(key)), 'consent');
    const [user, client] = [consent.user.id, consent.client.id];
    await this.change(key.project.id, user, (em, locked) => removeAccess(this.deps, em, locked, client, actor));
  }

  /** Revokes a device or passkey and ends its sessions. */
  revokeDevice(projectId: string, userId: string, deviceId: string, actor: Actor): Promise<void> {
    return this.change(projectId, userId, (em, user) => this.revoke(em, user, deviceId, actor));
  }

  /**
   * Like {@link revokeDevice}, for the key of a browser; does nothing if it is already revoked. A session's passkey is
   * kept: it belongs to the user, not to the browser.
   */
  async forgetDevice(projectId: string, userId: string, deviceId: string, actor: Actor): Promise<void> {
    const forgotten = this.change(projectId, userId, async (em, user) => {
      const keys = await this.deps.devices.list(em, { projectId, userId });
      if (keys.some(({ id }) => id === deviceId)) await this.revoke(em, user, deviceId, actor);
    });
    const problem = await problemOf(forgotten);
    if (problem && problem.code !== 'not-found') refuse(problem);
  }

  private async revoke(em: EntityManager, user: User, deviceId: string, actor: Actor): Promise<void> {
    const { devices, logout, passkeys } = this.deps;
    const owner = { projectId: user.project.id, userId: user.id };
    const passkey = (await passkeys.list(em, owner)).find(({ id }) => id === deviceId);
    await this.endWork(em, user);
    await devices.revoke(em, owner, deviceId, actor);
    const where = { user, $or: [{ deviceId }, { passkeyId: deviceId }], endedAt: null };
    for (const session of await em.find(Session, where)) {
      await logout.endSessionIn(em, session, 'revoked', actor);
    }
    if (passkey) await this.notifyRemoval(em, user, passkey);
  }

  private async notifyRemoval(em: EntityManager, user: User, { name: passkey }: Passkey): Promise<void> {
    const { name: app } = await user.project.loadOrFail();
    const at = this.deps.clock.now().toISOString();
    const notice = { template: 'passkey-changed', change: 'removed', app, passkey, at } as const;
    const [login, ...others] = mailboxesOf(user);
    if (login === undefined) return;
    // The others are unverified, and admins and directories can add hundreds.
    const mailboxes = [login, ...(await this.withinLimits(em, user.project.id, others))];
    await notifyEverywhere(em, this.deps.delivery, user, notice, mailboxes);
  }

  /** The addresses that still get a notice. */
  private async withinLimits(em: EntityManager, projectId: string, addresses: readonly string[]): Promise<string[]> {
    const subjects = addresses.map((address) => `${projectId} ${addressKey(address)}`);
    const rules = { each: perAddress, shared: { ...perProject, subject: projectId } };
    const { each, shared } = await this.deps.limits.spendMany(em, rules, subjects);
    return shared.allowed ? addresses.filter((_, at) => each[at]?.allowed) : [];
  }

  private endWork(em: EntityManager, user: TenantKey): Promise<void> {
    return endOpenWork(em, this.deps.clock.now(), user);
  }

  private change(
    projectId: string,
    userId: string,
    work: (em: EntityManager, user: User) => Promise<void>,
  ): Promise<void> {
    return pastDeadlocks(() =>
      this.deps.db.transaction(async (em) =>
        work(em, found(await this.deps.users.locked(em, projectId, userId), 'user')),
      ),
    );
  }
}

function shown(device: Device, project: Project): ShownDevice {
  const { client, createdAt, id, lastUsedAt, name, remembered, userAgent } = device;
  return {
    project: device.project,
    client,
    createdAt,
    id,
    lastUsedAt,
    name,
    remembered,
    userAgent,
    trustedUntil: trustEnd(device, project),
  };
}

function shownPasskey(passkey: Passkey): ShownPasskey {
  const { aaguid, attestedRoot, backupEligible: synced, createdAt, createdBy, id, lastUsedAt, name } = passkey;
  const { userVerified } = passkey;
  return { aaguid, attested: attestedRoot !== null, createdAt, createdBy, id, lastUsedAt, name, synced, userVerified };
}
