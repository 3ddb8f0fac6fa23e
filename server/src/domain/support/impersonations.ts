import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../admins/admins.ts';
import type { Audit } from '../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../ceremonies/notices.ts';
import type { HeldImpersonation } from '../ceremonies/requests/authorizations.ts';
import { Client } from '../clients/client.entity.ts';
import { fitsIssuer } from '../clients/client-settings.ts';
import { startOf } from '../clients/redirect-uri.ts';
import { isSamlApplication } from '../clients/saml/saml-application.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { linkFault } from '../kernel/name.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects, inProject, openProject } from '../kernel/scope.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { Logout } from '../logout/logout.ts';
import { Organization } from '../organizations/organization.entity.ts';
import type { Issuer } from '../projects/issuer.ts';
import type { Issuers } from '../projects/issuers.ts';
import { Project } from '../projects/project.entity.ts';
import { siteOf } from '../projects/site.ts';
import { atKey, existing, keyIn, type TenantKey } from '../projects/tenant.ts';
import {
  heldImpersonation,
  impersonationHash,
  newImpersonation,
  openedImpersonation,
} from '../sessions/impersonation.ts';
import { Participation } from '../sessions/participation.entity.ts';
import { type Impersonation, Session } from '../sessions/session.entity.ts';
import { presented } from '../sessions/sessions.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

export interface ImpersonationDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  users: Pick<Users, 'locked'>;
  admins: Pick<Admins, 'impersonatorOf'>;
  delivery: Pick<Delivery, 'enqueue'>;
  logout: Pick<Logout, 'endSessionIn'>;
  issuers: Pick<Issuers, 'base' | 'linkOrigin' | 'ofUrl' | 'ofSlug'>;
}

export interface WantedImpersonation {
  userId: string;
  clientId: string;
  /** The organization of requests that name none. */
  organizationId?: string | undefined;
  reason: string;
}

/** The session of the console from which an admin begins. */
export interface ImpersonatorSession {
  adminId: string;
  amr: readonly string[];
  /** Its last sign-in. */
  freshAt: Date;
}

export interface BegunImpersonation {
  id: string;
  /** Signs this browser in to the application; single use, for a minute. */
  url: string;
  expiresAt: Date;
}

/** A running impersonation. */
export interface RunningImpersonation {
  session: Session;
  impersonation: Impersonation;
}

/** Path of the link, below the issuer. */
export const impersonationPath = '/impersonate';

const linkSeconds = 60;
const lifetimeSeconds = 15 * 60;
const maxReasonLength = 500;
const maxRunning = 100;
/** Methods (RFC 8176) of a sign-in by passkey that verified its user. */
const passkeyMethods: readonly string[] = ['pop', 'mfa'];
/** Impersonations that one admin begins in a project. */
const perAdmin: LimitRule = { name: 'impersonations.admin', max: 20, windowSeconds: 3600 };

/**
 * Impersonation: an admin uses one application as a user, for 15 minutes (RFC 8693 section 1.1, decisions/0422). It is a session with a
 * cookie of its own, which only the authorization endpoint of the project's issuer reads, for that application.
 */
export class Impersonations {
  constructor(private readonly deps: ImpersonationDeps) {}

  /**
   * Begins one, and notifies the user. Refuses `not-found`, `invalid`, `too-many`, and `forbidden` if the project, the admin's right, their
   * sign-in or the user does not allow it.
   */
  async begin(
    projectId: string,
    wanted: WantedImpersonation,
    by: ImpersonatorSession,
    actor: Actor,
  ): Promise<BegunImpersonation> {
    const { db, limits } = this.deps;
    const reason = wanted.reason.trim();
    if (reason === '' || reason.length > maxReasonLength) {
      refuse({ code: 'invalid', field: 'reason', reason: `must have 1 to ${maxReasonLength} characters` });
    }
    const fault = linkFault(reason);
    if (fault !== null) refuse({ code: 'invalid', field: 'reason', reason: fault });
    if (!passkeyMethods.every((method) => by.amr.includes(method))) {
      refuse({ code: 'forbidden', reason: 'it requires a sign-in with a passkey' });
    }
    const act = await this.actorOf(by.adminId, projectId);
    if (!act) refuse({ code: 'forbidden', reason: 'it requires the right to impersonate' });
    // Kept if the rest is refused.
    const spent = await db.transaction((em) => limits.spend(em, perAdmin, `${projectId} ${by.adminId}`));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    return pastDeadlocks(() =>
      db.transaction((em) => this.beginIn(em, projectId, { ...wanted, reason }, { ...by, act }, actor)),
    );
  }

  /** Whether the project allows it, and the admin has the right. */
  async mayBegin({ id: projectId }: TenantKey['project'], adminId: string): Promise<boolean> {
    const project = await this.deps.db.reader().findOne(Project, projectId);
    return project?.impersonation === true && (await this.actorOf(adminId, projectId)) !== null;
  }

  /** The secret of the cookie, and where the browser goes. Null: the link is unknown, used or expired. */
  async open(
    issuer: Issuer,
    token: string,
    domain: string | null,
  ): Promise<{ secret: string; seconds: number; start: string } | null> {
    const { clock, db, random } = this.deps;
    if (issuer.project === null) return null;
    const { id: projectId } = issuer.project;
    openProject(projectId);
    const [secret, now] = [newSecret(random), clock.now()];
    const opening = openedImpersonation(projectId, {
      linkHash: impersonationHash('link', presented(token, domain)),
      cookieHash: impersonationHash('cookie', presented(secret, domain)),
      now,
    });
    const [opened] = await query(db.alone, opening, { prepare: 'impersonations.open' });
    const client = opened && (await db.reader().findOne(Client, atKey(keyIn(projectId, opened.clientId))));
    const start = client && startOf(client);
    if (!opened || !start) return null;
    const seconds = Math.floor((new Date(opened.expiresAt).getTime() - now.getTime()) / 1000);
    return { secret, seconds, start };
  }

  /** The impersonation of a browser's cookie at a client, while its admin has the right. @param secret see `presented` */
  async held(client: TenantKey, secret: string): Promise<HeldImpersonation | null> {
    const { clock, db } = this.deps;
    const { id: projectId } = client.project;
    const sessionHash = impersonationHash('cookie', secret);
    const reading = heldImpersonation(projectId, {
      cookieHash: sessionHash,
      clientId: client.id,
      now: clock.now(),
    });
    const [held] = await query(db.alone, reading, { prepare: 'impersonations.held' });
    if (!held || !(await this.actorOf(held.adminId, projectId))) return null;
    return { sessionHash, organizationId: held.organizationId };
  }

  /** Those that are running in a project, newest first; at most 100. */
  async running(em: EntityManager, projectId: string): Promise<RunningImpersonation[]> {
    const now = this.deps.clock.now();
    const where = {
      project: projectId,
      impersonation: { $ne: null },
      endedAt: null,
      expiresAt: { $gt: now },
      idleExpiresAt: { $gt: now },
    };
    const options = { orderBy: { createdAt: 'desc' }, limit: maxRunning, populate: ['user'] } as const;
    const sessions = await em.find(Session, where, options);
    return sessions.flatMap((session) =>
      session.impersonation ? [{ session: session as Session, impersonation: session.impersonation }] : [],
    );
  }

  /** Job: ends those that have expired, or whose project or admin no longer allows them, and notifies their applications. */
  async sweep(): Promise<void> {
    const { clock, db } = this.deps;
    const open = await inAllProjects(() =>
      db.reader().find(Session, { impersonation: { $ne: null }, endedAt: null }, { populate: ['project'] }),
    );
    const now = clock.now();
    for (const session of open) {
      const { id, project } = session;
      const isAllowed = session.expiresAt > now && session.idleExpiresAt > now && (await this.isAllowed(session));
      if (!isAllowed) await inProject(project.id, () => this.end(keyIn(project.id, id), system));
    }
  }

  /** Ends one; does nothing if it has ended. Refuses `not-found` for the user's own sessions. */
  end(key: TenantKey, actor: Actor): Promise<void> {
    const { db, logout } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const session = await em.findOne(Session, { ...atKey(key), impersonation: { $ne: null } });
        await logout.endSessionIn(em, found(session, 'session'), 'revoked', actor);
      }),
    );
  }

  private async isAllowed({ impersonation, project }: Session): Promise<boolean> {
    if (!impersonation || !project.getEntity().impersonation) return false;
    return (await this.actorOf(impersonation.adminId, project.id)) !== null;
  }

  /** `act` of an admin who may impersonate users of the project now; null for others. */
  private async actorOf(adminId: string, projectId: string): Promise<Impersonation['act'] | null> {
    const sub = await this.deps.admins.impersonatorOf(adminId, projectId);
    return sub === null ? null : { iss: this.deps.issuers.base.url, sub };
  }

  private async beginIn(
    em: EntityManager,
    projectId: string,
    { clientId, organizationId, reason, userId }: WantedImpersonation,
    { act, adminId, amr, freshAt }: ImpersonatorSession & Pick<Impersonation, 'act'>,
    actor: Actor,
  ): Promise<BegunImpersonation> {
    const { audit, clock, random, users } = this.deps;
    const project = await existing(em, Project, projectId, 'project');
    if (project.builtIn === 'console') refuse({ code: 'forbidden', reason: 'admins cannot be impersonated' });
    if (!project.impersonation) refuse({ code: 'forbidden', reason: 'the project does not allow impersonation' });
    const user = found(await users.locked(em, projectId, userId), 'user');
    if (!user.active) refuse({ code: 'invalid', field: 'userId', reason: 'must be an active user' });
    const client = await this.usable(em, keyIn(projectId, clientId));
    const organization =
      organizationId === undefined ? null : await organizationOf(em, project, keyIn(projectId, organizationId));
    const issuer = await this.issuerFor(em, client, project);
    const { domain } = siteOf(this.deps.issuers.base.url, issuer.url);
    const [id, token, now] = [random.id(), newSecret(random), clock.now()];
    const expiresAt = secondsLater(now, lifetimeSeconds);
    const impersonation = { adminId, act, reason, clientId: client.id, organizationId: organization?.id ?? null };
    const linkHash = impersonationHash('link', presented(token, domain));
    const { ip, userAgent } = actor;
    const times = { now, linkUntil: secondsLater(now, linkSeconds), expiresAt };
    const inserted = { projectId, id, userId, linkHash, domain, amr, freshAt, impersonation, ...times, ip, userAgent };
    await execute(em, newImpersonation(inserted));
    audit.record(em, {
      type: 'impersonation.begun',
      actor,
      projectId,
      clientId: client.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: {
        reason,
        sessionId: id,
        expiresAt: expiresAt.toISOString(),
        ...(organization && { organizationId: organization.id }),
      },
    });
    if (project.impersonationNotices) await this.notify(em, user, client, { reason, now });
    return { id, url: `${issuer.url}${impersonationPath}?${new URLSearchParams({ token })}`, expiresAt };
  }

  /** The application. Refuses `not-found`, and `invalid` for one that an admin cannot open as a user. */
  private async usable(em: EntityManager, key: TenantKey): Promise<Client> {
    const client = (await existing(em, Client, key, 'client', { populate: ['project'] })) as Client;
    const fault =
      (client.disabledAt && 'is disabled') ??
      (client.thirdParty && 'is a third-party application: users alone can allow it') ??
      (isSamlApplication(client) && 'is a SAML application, whose assertions name no admin') ??
      null;
    if (fault) refuse({ code: 'invalid', field: 'clientId', reason: fault });
    if (startOf(client) === null) {
      refuse({ code: 'invalid', field: 'clientId', reason: 'has no start address: set startUri' });
    }
    return client;
  }

  /** The issuer that the application uses: that of its latest sign-in, else the project's, at its custom domain if it has one. */
  private async issuerFor(em: EntityManager, client: Client, project: Project): Promise<Issuer> {
    const { issuers } = this.deps;
    const where = { project: client.project.id, client };
    const [latest] = await em.find(Participation, where, { orderBy: { lastAt: 'desc' }, limit: 1 });
    if (latest && latest.issuer == null && fitsIssuer(client, issuers.base)) {
      const reason = 'uses the base issuer: impersonation needs the issuer of the project';
      refuse({ code: 'invalid', field: 'clientId', reason });
    }
    const known = latest?.issuer == null ? null : await issuers.ofUrl(latest.issuer);
    const origin = await issuers.linkOrigin(project.id);
    const own = known ?? (origin === issuers.base.url ? null : await issuers.ofUrl(origin));
    return found(own ?? (await issuers.ofSlug(project.slug)), 'project');
  }

  private async notify(
    em: EntityManager,
    user: User,
    { name: client }: Client,
    { reason, now }: { reason: string; now: Date },
  ): Promise<void> {
    const { name: app } = await user.project.loadOrFail();
    const notice = { template: 'impersonation', app, client, reason, at: now.toISOString() } as const;
    const [login] = mailboxesOf(user);
    if (login !== undefined) await notifyEverywhere(em, this.deps.delivery, user, notice, [login]);
  }
}

async function organizationOf(em: EntityManager, { organizationsEnabled }: Project, key: TenantKey) {
  if (!organizationsEnabled || !isUuid(key.id)) refuse({ code: 'not-found', what: 'organization' });
  return existing(em, Organization, key, 'organization');
}
