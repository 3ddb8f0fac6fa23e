import type { EntityManager } from '@mikro-orm/postgresql';
import { type OpenableClient, openableClients } from '../../access/access-lists.ts';
import type { Audit } from '../../audit/audit.ts';
import { endOpenWork } from '../../ceremonies/open-work.ts';
import { addressOf, contextFor, smsNumberOf } from '../../ceremonies/recipients.ts';
import type { BegunFlow } from '../../ceremonies/requests/authorization-requests.ts';
import type { Authorizations } from '../../ceremonies/requests/authorizations.ts';
import type { Identities } from '../../connections/identities.ts';
import type { Identity } from '../../connections/identity.entity.ts';
import type { Device } from '../../credentials/device.entity.ts';
import type { Devices } from '../../credentials/devices.ts';
import type { Passkey } from '../../credentials/passkey.entity.ts';
import type { Passkeys } from '../../credentials/passkeys.ts';
import { forgetRemembered } from '../../credentials/user-tables.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import type { Locale } from '../../delivery/locale.ts';
import { maskAddress, maskPhone } from '../../delivery/mask.ts';
import type { MessageContent } from '../../delivery/wording.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import { inProject } from '../../kernel/scope.ts';
import type { Logout } from '../../logout/logout.ts';
import type { Enrolment, MfaMethod } from '../../mfa/enrolment.entity.ts';
import type { Mfa } from '../../mfa/mfa.ts';
import type { RecoveryGrant } from '../../mfa/recovery-grant.entity.ts';
import { endStandIns } from '../../mfa/reset.ts';
import { invitationOf, invitationsOf, type OpenInvitation } from '../../organizations/invitations/open-invitations.ts';
import type { Memberships } from '../../organizations/memberships.ts';
import { type OwnOrganization, organizationsOfUser } from '../../organizations/own-organizations.ts';
import { isTrusted } from '../../policy/device-trust.ts';
import { Project } from '../../projects/project.entity.ts';
import { keyIn } from '../../projects/tenant.ts';
import { isFreshNow } from '../../sessions/freshness.ts';
import type { Session } from '../../sessions/session.entity.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { CustomAttributes } from '../../users/custom/custom-attributes.ts';
import type { ProfileChange } from '../../users/edits/profile-edit.ts';
import type { User } from '../../users/user.entity.ts';
import type { Users } from '../../users/users.ts';
import {
  type ApplicationAccess,
  type ApplicationAccessDeps,
  applicationsOf,
  removeAccess,
} from '../application-access.ts';
import { beginAccountSignIn, beginConfirmation, type ConfirmationDeps } from '../confirmation.ts';
import type { Recoveries } from '../recoveries.ts';
import { keepSignInMethod } from '../sign-in-methods.ts';
import { checkFresh, type OwnChange, type OwnWork, underLock, type Visitor } from './own-change.ts';
import { editOwnProfile, type OwnProfile, ownProfile } from './own-profile.ts';

export interface OwnAccountDeps extends ConfirmationDeps, ApplicationAccessDeps {
  authorizations: Pick<Authorizations, 'countStart'>;
  db: Database;
  clock: Clock;
  audit: Audit;
  users: Pick<Users, 'change' | 'locked'>;
  customAttributes: Pick<CustomAttributes, 'current'>;
  devices: Pick<Devices, 'list' | 'rename' | 'revoke' | 'thumbprints'>;
  passkeys: Pick<Passkeys, 'list' | 'isHeldBy'>;
  identities: Pick<Identities, 'ofUser' | 'unlink' | 'usableOf'>;
  sessions: Pick<Sessions, 'resume' | 'peek' | 'listLive'>;
  mfa: Pick<Mfa, 'factors' | 'remove' | 'recoveryCodes' | 'recoveryGrants'>;
  recoveries: Pick<Recoveries, 'cancelIn'>;
  logout: Pick<Logout, 'endSessionIn'>;
  delivery: Pick<Delivery, 'enqueue'>;
  memberships: Pick<Memberships, 'leave'>;
}

export interface OwnFactor {
  id: string;
  method: MfaMethod;
  /** Masked; absent for an authenticator app. */
  destination?: string;
  addedAt: Date;
  lastUsedAt: Date | null;
}

/** A user's own account. */
export interface AccountOverview {
  /** Each with its client. */
  devices: Device[];
  passkeys: Passkey[];
  /** Whether passkeys can be added. */
  isPasskeyAddable: boolean;
  /** Thumbprints of all device keys, revoked ones too, for "Forget this browser". */
  deviceKeys: string[];
  /** Accounts at upstream providers, each with its connection. */
  identities: Identity[];
  sessions: Session[];
  applications: ApplicationAccess[];
  openable: OpenableClient[];
  organizations: OwnOrganization[];
  /** Invitations to organizations, of the user's login address. */
  invitations: OpenInvitation[];
  profile: OwnProfile;
  factors: OwnFactor[];
  recoveryCodesLeft: number;
  /** Whether second factors may be changed now. */
  isFresh: boolean;
  /** An admin's grant that can be used, now or after its waiting time. */
  recovery: Pick<RecoveryGrant, 'expiresAt' | 'usableAt'> | null;
}

/**
 * Users' changes to their own sessions, devices and second factors. Every lookup is scoped to the user of the visitor's
 * session; all methods refuse `unauthenticated` if it is not live.
 */
export class OwnAccount {
  constructor(private readonly deps: OwnAccountDeps) {}

  /** The user of a session cookie, or null. @param isUse whether it extends the idle timeout */
  visit(projectId: string, secret: string, isUse: boolean): Promise<Visitor | null> {
    const { db, sessions } = this.deps;
    return inProject(projectId, () =>
      db.transaction(async (em) => {
        const project = await em.findOne(Project, projectId);
        if (!project) return null;
        const session = await (isUse ? sessions.resume(em, project, secret) : sessions.peek(em, project, secret));
        return session && { project, session, user: session.user.getEntity() };
      }),
    );
  }

  /**
   * Begins a sign-in that ends at this page; see {@link beginAccountSignIn}. Open to unauthenticated callers, so limited per
   * network. Refuses `not-found`, `too-many`.
   */
  async signIn(
    projectId: string,
    domain: string | null,
    ip: string | undefined,
    loginHint?: string,
  ): Promise<BegunFlow> {
    await this.deps.authorizations.countStart(ip);
    return inProject(projectId, () =>
      this.deps.db.transaction((em) => beginAccountSignIn(this.deps, em, projectId, domain, loginHint)),
    );
  }

  /** The invitation of a link; null if it cannot be accepted. */
  invitation(projectId: string, secret: string): Promise<OpenInvitation | null> {
    const { clock, db } = this.deps;
    return inProject(projectId, () => invitationOf(db.alone, { projectId, secret, now: clock.now() }));
  }

  async overview({ project, user, session }: Visitor): Promise<AccountOverview> {
    const { clock, customAttributes, db, devices, identities, mfa, passkeys, sessions } = this.deps;
    const em = db.reader();
    const now = clock.now();
    const live = await sessions.listLive(em, project, user.id);
    const inUse = new Set(live.map(({ deviceId }) => deviceId));
    const all = await devices.list(em, owner(user));
    const factors = await mfa.factors(em, user);
    return {
      passkeys: await passkeys.list(em, owner(user)),
      isPasskeyAddable: project.passkeys,
      devices: all.filter((device) => isTrusted(device, project, now) || inUse.has(device.id)),
      deviceKeys: await devices.thumbprints(em, owner(user)),
      identities: await identities.ofUser(em, keyIn(project.id, user.id)),
      sessions: live,
      applications: await applicationsOf(this.deps, em, user),
      openable: await openableClients(em, keyIn(project.id, user.id)),
      organizations: project.organizationsEnabled ? await organizationsOfUser(em, keyIn(project.id, user.id)) : [],
      invitations: await invitationsTo(em, user, project, now),
      profile: await ownProfile(em, project, user, await customAttributes.current(project.id)),
      factors: factors.map((factor) => shown(factor, project, user)),
      recoveryCodesLeft: await mfa.recoveryCodes.left(em, user),
      isFresh: await isFreshNow(this.deps, em, user, session),
      recovery: await mfa.recoveryGrants.open(em, user),
    };
  }

  /** Refuses `not-found`, `invalid`. */
  renameDevice(change: OwnChange, deviceId: string, name: string): Promise<void> {
    return this.change(change, async (em, user) => {
      await this.deps.devices.rename(em, owner(user), deviceId, name, change.actor);
    });
  }

  /**
   * Revokes the device or passkey and ends its sessions. Refuses `not-found`, `last-sign-in-method`, and `forbidden` for a
   * passkey if the sign-in is not fresh.
   */
  revokeDevice(change: OwnChange, deviceId: string): Promise<void> {
    const { devices, logout, sessions } = this.deps;
    return this.change(change, async (em, user, session) => {
      const passkey = (await this.deps.passkeys.list(em, owner(user))).find(({ id }) => id === deviceId);
      if (passkey) await this.checkFresh(em, user, session);
      await keepSignInMethod(this.deps, em, change.visitor.project, user, deviceId);
      await this.endWork(em, user, change.visitor);
      const device = await devices.revoke(em, owner(user), deviceId, change.actor);
      const live = await sessions.listLive(em, change.visitor.project, user.id);
      for (const session of live.filter((one) => [one.deviceId, one.passkeyId].includes(device.id))) {
        await logout.endSessionIn(em, session, 'revoked', change.actor);
      }
      if (!passkey) return;
      const [app, at] = [change.visitor.project.name, this.deps.clock.now().toISOString()];
      const notice = { template: 'passkey-changed', app, change: 'removed', passkey: passkey.name, at } as const;
      await this.notify(em, user, change.locale, notice);
    });
  }

  /**
   * Unlinks an account at an upstream provider, and ends the user's other sessions that a provider began. Refuses `not-found`, `last-sign-in-method`, `forbidden` if the sign-in is not
   * fresh.
   */
  unlinkIdentity(change: OwnChange, identityId: string): Promise<void> {
    const { identities, logout, sessions } = this.deps;
    return this.change(change, async (em, user, session) => {
      await this.checkFresh(em, user, session);
      await keepSignInMethod(this.deps, em, change.visitor.project, user, identityId);
      await this.endWork(em, user, change.visitor);
      const { name: provider } = await identities.unlink(em, user, identityId, change.actor);
      // A session has no record of the provider.
      for (const live of await sessions.listLive(em, change.visitor.project, user.id)) {
        const isByProvider = live.amr.includes('fed') && live.id !== session.id;
        if (isByProvider) await logout.endSessionIn(em, live, 'revoked', change.actor);
      }
      const [app, at] = [change.visitor.project.name, this.deps.clock.now().toISOString()];
      await this.notify(em, user, change.locale, {
        template: 'identity-changed',
        app,
        change: 'unlinked',
        provider,
        at,
      });
    });
  }

  /** Refuses `not-found` if the user has no such live session. */
  endSession(change: OwnChange, sessionId: string): Promise<void> {
    const { logout, sessions } = this.deps;
    return this.change(change, async (em, user) => {
      const live = await sessions.listLive(em, change.visitor.project, user.id);
      const session = live.find(({ id }) => id === sessionId) ?? refuse({ code: 'not-found', what: 'session' });
      await this.endWork(em, user, change.visitor);
      await logout.endSessionIn(em, session, 'logout', change.actor);
    });
  }

  /**
   * Signs out and revokes this browser's device: the next sign-in here requires a code. Refuses `last-sign-in-method`.
   */
  forgetBrowser(change: Pick<OwnChange, 'actor' | 'visitor'>): Promise<void> {
    const { devices, logout, sessions } = this.deps;
    const { actor, visitor } = change;
    return this.change(change, async (em, user, { id, deviceId }) => {
      const own = await devices.list(em, owner(user));
      // If the session began with a passkey, `deviceId` is the passkey, which stays.
      const device = own.find((one) => one.id === deviceId);
      if (device) await keepSignInMethod(this.deps, em, visitor.project, user, device.id);
      await this.endWork(em, user, visitor);
      if (device) await devices.revoke(em, owner(user), device.id, actor);
      for (const session of await sessions.listLive(em, visitor.project, user.id)) {
        const isHere = session.id === id || (device && session.deviceId === device.id);
        if (isHere) await logout.endSessionIn(em, session, 'logout', actor);
      }
    });
  }

  /**
   * Edits the user's own profile; see {@link editOwnProfile}. Refuses `invalid`, and `forbidden` if a field needs a fresh
   * sign-in.
   */
  editProfile({ actor, visitor }: OwnChange, wanted: ProfileChange): Promise<void> {
    const { clock, users } = this.deps;
    return this.change({ visitor }, (em, user, session) =>
      editOwnProfile({ users, now: clock.now() }, em, { project: visitor.project, user, actor }, wanted, () =>
        this.checkFresh(em, user, session),
      ),
    );
  }

  /** Ends an application's access without the user. */
  removeApplication(change: Pick<OwnChange, 'actor' | 'visitor'>, clientId: string): Promise<void> {
    return this.change(change, (em, user) => removeAccess(this.deps, em, user, clientId, change.actor));
  }

  /** Ends the user's own membership, and their tokens in the organization. Refuses `not-found`. */
  leaveOrganization(change: Pick<OwnChange, 'actor' | 'visitor'>, membershipId: string): Promise<void> {
    return this.change(change, (em, user) => this.deps.memberships.leave(em, user, membershipId, change.actor));
  }

  /** Cancels an admin's recovery grant. Any session of the user suffices, also one that is not fresh. */
  cancelRecovery(change: Pick<OwnChange, 'actor' | 'visitor'>): Promise<void> {
    return this.change(change, (em, user) => this.deps.recoveries.cancelIn(em, user, change.actor));
  }

  /** Begins the sign-in that refreshes this session; see {@link beginConfirmation}. */
  confirm(change: Pick<OwnChange, 'visitor'>, section?: string): Promise<BegunFlow> {
    return this.change(change, (em, user, session) => beginConfirmation(this.deps, em, user, session, { section }));
  }

  /** Begins the creation of a passkey on the hosted page, after a sign-in there if the session is not fresh. */
  addPasskey(change: Pick<OwnChange, 'visitor'>): Promise<BegunFlow> {
    const adding = { adds: 'passkey', section: 'passkeys' } as const;
    return this.change(change, (em, user, session) => beginConfirmation(this.deps, em, user, session, adding));
  }

  /** Ends all sessions except the visitor's. */
  endOtherSessions(change: OwnChange): Promise<void> {
    const { logout, sessions } = this.deps;
    return this.change(change, async (em, user) => {
      await this.endWork(em, user, change.visitor);
      for (const session of await sessions.listLive(em, change.visitor.project, user.id)) {
        if (session.id !== change.visitor.session.id) await logout.endSessionIn(em, session, 'logout', change.actor);
      }
    });
  }

  /**
   * Clears the remembered factors of devices; the last factor takes the recovery codes with it. Refuses `not-found`,
   * `last-sign-in-method`, `forbidden` if the sign-in is not fresh.
   */
  removeFactor(change: OwnChange, enrolmentId: string): Promise<void> {
    const { clock, mfa } = this.deps;
    return this.change(change, async (em, user, session) => {
      await this.checkFresh(em, user, session);
      await keepSignInMethod(this.deps, em, change.visitor.project, user, enrolmentId);
      await this.endWork(em, user, change.visitor);
      const { method } = await mfa.remove(em, user, enrolmentId, change.actor);
      await forgetRemembered(em, user);
      if ((await mfa.factors(em, user)).length === 0) await endStandIns(em, user);
      const at = clock.now().toISOString();
      const { name: app } = change.visitor.project;
      await this.notify(em, user, change.locale, { template: 'factor-changed', app, change: 'removed', method, at });
    });
  }

  /** Replaces the recovery codes with ten new ones, shown once. Refuses `forbidden` if the sign-in is not fresh. */
  renewRecoveryCodes(change: OwnChange): Promise<string[]> {
    const { audit, clock, mfa } = this.deps;
    return this.change(change, async (em, user, session) => {
      await this.checkFresh(em, user, session);
      // A sign-in may have used a code that was stolen.
      await this.endWork(em, user, change.visitor);
      const codes = await mfa.recoveryCodes.issue(em, user);
      audit.record(em, {
        type: 'mfa.recovery_codes_renewed',
        actor: change.actor,
        projectId: user.project.id,
        subject: { kind: 'user', id: user.id, name: user.userName },
      });
      const at = clock.now().toISOString();
      const { name: app } = change.visitor.project;
      await this.notify(em, user, change.locale, { template: 'recovery-codes-renewed', app, at });
      return codes;
    });
  }

  private change<T>(change: Pick<OwnChange, 'visitor'>, work: OwnWork<T>): Promise<T> {
    return underLock(this.deps, change.visitor, work);
  }

  private endWork(em: EntityManager, user: User, { session }: Visitor): Promise<void> {
    return endOpenWork(em, this.deps.clock.now(), user, { keepSessionId: session.id });
  }

  private checkFresh(em: EntityManager, user: User, session: Session): Promise<void> {
    return checkFresh(this.deps, em, user, session);
  }

  private async notify(em: EntityManager, user: User, locale: Locale, content: MessageContent): Promise<void> {
    const context = contextFor(user);
    await this.deps.delivery.enqueue(em, {
      projectId: user.project.id,
      channel: 'mail',
      to: context.mailbox,
      locale,
      content,
      context,
    });
  }
}

function owner(user: User): { projectId: string; userId: string } {
  return { projectId: user.project.id, userId: user.id };
}

function shown(factor: Enrolment, project: Project, user: User): OwnFactor {
  const { id, method, lastUsedAt } = factor;
  const to = method === 'email' ? addressOf(user) : method === 'sms' ? smsNumberOf(project, user, factor) : null;
  return {
    id,
    method,
    ...(to && { destination: method === 'email' ? maskAddress(to) : maskPhone(to) }),
    addedAt: factor.verifiedAt ?? factor.createdAt,
    lastUsedAt: lastUsedAt ?? null,
  };
}

/** Only a login address that receives codes can accept one. */
async function invitationsTo(em: EntityManager, user: User, project: Project, now: Date): Promise<OpenInvitation[]> {
  if (!project.organizationsEnabled || user.email == null) return [];
  return invitationsOf(em, { projectId: project.id, userId: user.id, email: user.email, now });
}
