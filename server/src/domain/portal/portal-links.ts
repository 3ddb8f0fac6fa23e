import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { isOwnOrigin } from '../clients/origins.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Locale } from '../delivery/locale.ts';
import { maskAddress } from '../delivery/mask.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, invalid, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { deleteInBatches, type Fragment, query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { inside } from '../organizations/organization-events.ts';
import type { Issuers } from '../projects/issuers.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import { addressKey, isAddress, trimmed } from '../users/login.ts';
import { isOpen, type OpenLink, openLink, portalPath } from './open-links.ts';
import { PortalLink, type PortalTask, portalTasks } from './portal-link.entity.ts';
import { type PortalSecret, portalToken } from './portal-secret.ts';

const day = 24 * 3600;
const defaultLifetimeSeconds = 7 * day;
const maxLifetimeSeconds = 30 * day;
/** Links of an organization that have not ended. */
const maxLinks = 20;
/** Days for which admins see a link after its expiry. */
const keptDays = 90;
const maxReturnUrl = 2048;
/** Mails with a new link to an address. */
const mails: LimitRule = { name: 'portal-link-mails', max: 5, windowSeconds: 3600 };

export interface NewPortalLink {
  email: string;
  can: readonly PortalTask[];
  expiresAt?: Date | undefined;
  returnUrl?: string | undefined;
}

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  limits: Pick<Limits, 'spend'>;
  issuers: Pick<Issuers, 'linkOrigin'>;
  delivery: Pick<Delivery, 'enqueueNotices'>;
}

/**
 * Links to the set-up portal of an organization (decisions/0418). A link is opened once, in one browser, which then has a session
 * until the link expires; a new link goes by mail to the same address, and ends the session when it is opened.
 */
export class PortalLinks {
  constructor(private readonly deps: Deps) {}

  /**
   * Creates a link, whose URL is available only here. Refuses `not-found`, and `invalid`, also for an organization that no one can
   * use.
   */
  async create(key: TenantKey, given: NewPortalLink, actor: Actor): Promise<{ url: string; portalLink: PortalLink }> {
    const { clock, db, random } = this.deps;
    const now = clock.now();
    const email = trimmed(given.email);
    if (!isAddress(email)) invalid('email', 'must be an email address');
    const can = portalTasks.filter((task) => given.can.includes(task));
    if (can.length === 0) invalid('can', 'must name at least one task');
    const expiresAt = given.expiresAt ?? secondsLater(now, defaultLifetimeSeconds);
    if (expiresAt <= now || expiresAt > secondsLater(now, maxLifetimeSeconds)) {
      invalid('expiresAt', `must be within the next ${maxLifetimeSeconds / day} days`);
    }
    // Before the lock: a second connection that waits behind it could be the last.
    const address = await this.addressOf({ projectId: key.project.id, secret: newSecret(random) });
    return db.transaction(async (em) => {
      // Serialized, so that the limit holds.
      const organization = (await existing(em, Organization, key, 'organization', locked)) as Organization;
      const { organizationsEnabled, scimEnabled } = await existing(em, Project, key.project.id, 'project');
      const field = 'organizationId';
      if (!organizationsEnabled) invalid(field, 'needs organizationsEnabled in the project');
      if (organization.state !== 'active') invalid(field, 'must be an active organization');
      if (can.includes('directory') && !scimEnabled) invalid('can', 'needs scimEnabled in the project for DIRECTORY');
      const live = { organization, revokedAt: null, expiresAt: { $gt: now } };
      if ((await em.count(PortalLink, live)) >= maxLinks) invalid(field, `already has ${maxLinks} links`);
      const returnUrl = await this.checkedReturn(em, key.project.id, given.returnUrl);
      const portalLink = em.create(PortalLink, {
        ...{ project: key.project.id, id: random.id(), organization: [key.project.id, organization.id] },
        ...{
          email,
          emailKey: addressKey(email),
          can,
          returnUrl,
          secretHash: address.hash,
          createdAt: now,
          expiresAt,
        },
      } as never) as PortalLink;
      em.persist(portalLink);
      this.record(em, 'portal-link.created', organization, portalLink, actor, { can, expiresAt });
      return { url: address.url, portalLink };
    });
  }

  /** Ends the link and its session. Refuses `not-found`. */
  revoke(key: TenantKey, actor: Actor): Promise<PortalLink> {
    return this.deps.db.transaction(async (em) => {
      const link = (await existing(em, PortalLink, key, 'portal-link', locked)) as PortalLink;
      if (link.revokedAt != null) return link;
      Object.assign(link, { revokedAt: this.deps.clock.now(), sessionHash: null });
      this.record(em, 'portal-link.revoked', await organizationOf(em, link), link, actor);
      return link;
    });
  }

  /** The link of a secret in a URL, also a used one; null if it does not work. */
  find(link: PortalSecret): Promise<OpenLink | null> {
    return openLink(this.deps.db.alone, link, 'secret_hash', this.deps.clock.now());
  }

  /** Opens a link: of several at once, one. @returns the secret of the new session; null: used, or does not work */
  open({ projectId, secret }: PortalSecret, actor: Actor): Promise<PortalSecret | null> {
    const { clock, db, random } = this.deps;
    const now = clock.now();
    const session = newSecret(random);
    return db.transaction(async (em) => {
      const [row] = await query(
        em,
        sql<{ id: string }>`update portal_links l set used_at = ${now}::timestamptz, session_hash = ${digest(session)}
          where l.project_id = ${projectId}::uuid and l.secret_hash = ${digest(secret)} and l.used_at is null and ${isOpen('l', now)}
          returning l.id`,
      );
      if (!row) return null;
      const link = (await existing(em, PortalLink, keyIn(projectId, row.id), 'portal-link')) as PortalLink;
      this.record(em, 'portal-link.opened', await organizationOf(em, link), link, portalActor(link, actor));
      return { projectId, secret: session };
    });
  }

  /**
   * Sends a new link to the address of the link; the former one ends, its session when the new one is opened. Refuses `too-many`.
   *
   * @returns false: the link does not work
   */
  async resend({ projectId, secret }: PortalSecret, locale: Locale, actor: Actor): Promise<boolean> {
    const by = (link: PortalLink) => portalActor(link, actor);
    return (await this.renew(projectId, sql`l.secret_hash = ${digest(secret)}`, locale, by)) !== null;
  }

  /** The same, for an admin. Refuses `not-found`, `too-many`, and `conflict` for a link that does not work. */
  async send({ project, id }: TenantKey, locale: Locale, actor: Actor): Promise<PortalLink> {
    await existing(this.deps.db.reader(), PortalLink, keyIn(project.id, id), 'portal-link');
    const link = await this.renew(project.id, sql`l.id = ${id}::uuid`, locale, () => actor);
    return link ?? refuse({ code: 'conflict', what: 'portal-link' });
  }

  private async renew(
    projectId: string,
    which: Fragment,
    locale: Locale,
    by: (link: PortalLink) => Actor,
  ): Promise<PortalLink | null> {
    const { clock, db, delivery, limits, random } = this.deps;
    const now = clock.now();
    const next = await this.addressOf({ projectId, secret: newSecret(random) });
    return db.transaction(async (em) => {
      const [row] = await query(
        em,
        sql<{ id: string }>`update portal_links l set used_at = null, secret_hash = ${next.hash}
          where l.project_id = ${projectId}::uuid and ${which} and ${isOpen('l', now)} returning l.id`,
      );
      if (!row) return null;
      const link = (await existing(em, PortalLink, keyIn(projectId, row.id), 'portal-link')) as PortalLink;
      const spent = await limits.spend(em, mails, `${projectId} ${link.emailKey}`);
      if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
      const organization = await organizationOf(em, link);
      const { name: app } = await existing(em, Project, projectId, 'project');
      const content = {
        template: 'portal-link' as const,
        ...{ app, organization: organization.name, url: next.url },
        ...{ until: link.expiresAt.toISOString(), at: now.toISOString() },
      };
      const notice = { projectId, channel: 'mail' as const, to: link.email, locale, content };
      await delivery.enqueueNotices(em, [{ ...notice, context: { account: null, mailbox: link.email } }]);
      this.record(em, 'portal-link.sent', organization, link, by(link));
      return link;
    });
  }

  /** Records that the contact has completed the set-up, once. */
  complete({ projectId, id }: Pick<OpenLink, 'projectId' | 'id'>, actor: Actor): Promise<void> {
    const { clock, db } = this.deps;
    const now = clock.now();
    return db.transaction(async (em) => {
      const [row] = await query(
        em,
        sql`update portal_links l set completed_at = ${now}::timestamptz
          where l.project_id = ${projectId}::uuid and l.id = ${id}::uuid and l.completed_at is null and ${isOpen('l', now)} returning 1`,
      );
      if (!row) return;
      const link = (await existing(em, PortalLink, keyIn(projectId, id), 'portal-link')) as PortalLink;
      this.record(em, 'portal-link.completed', await organizationOf(em, link), link, actor, { can: link.can });
    });
  }

  /** Job: deletes links {@link keptDays} after their expiry. */
  async sweep(): Promise<void> {
    const over = secondsLater(this.deps.clock.now(), -keptDays * day);
    await deleteInBatches(this.deps.db.alone, 'portal_links', sql`expires_at <= ${over}::timestamptz`);
  }

  /** The URL of a secret, and the hash that is stored. */
  private async addressOf(link: PortalSecret): Promise<{ url: string; hash: string }> {
    const origin = await this.deps.issuers.linkOrigin(link.projectId);
    return { url: `${origin}${portalPath}/${portalToken(link)}`, hash: digest(link.secret) };
  }

  /** Refuses an address of a page that no application of the project has. */
  private async checkedReturn(em: EntityManager, projectId: string, given: string | undefined): Promise<string | null> {
    if (given === undefined) return null;
    const url = given.length <= maxReturnUrl && /^https?:\/\//.test(given) ? URL.parse(given) : null;
    if (!url || url.username !== '' || !(await isOwnOrigin(em, projectId, url.origin))) {
      invalid('returnUrl', 'must have the origin of a redirect URI of an application of the project');
    }
    return url.href;
  }

  private record(
    em: EntityManager,
    type: EventType,
    organization: Organization,
    { id, email }: PortalLink,
    actor: Actor,
    detail: object = {},
  ): void {
    const subject: AuditEntry['subject'] = { kind: 'portal-link', id, name: maskAddress(email) };
    this.deps.audit.record(em, inside(type, organization, { subject, actor, detail }));
  }
}

/** The link as the author of an action. */
export function portalActor({ id, email }: Pick<OpenLink, 'id' | 'email'>, caller: Actor): Actor {
  return { ...caller, kind: 'portal-link', id, name: maskAddress(email) };
}

async function organizationOf(em: EntityManager, { project, organization }: PortalLink): Promise<Organization> {
  const key = keyIn(project.id, organization.id);
  return found(await existing(em, Organization, key, 'organization'), 'organization') as Organization;
}
