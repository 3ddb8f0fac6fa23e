import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { languageOf } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Locale } from '../delivery/locale.ts';
import { maskAddress } from '../delivery/mask.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { deleteInBatches, sql } from '../kernel/sql.ts';
import type { Spent } from '../limits/limits.ts';
import { invitationPath, takeInvitation, writeInvitation } from '../organizations/invitations/open-invitations.ts';
import { OrganizationInvitation } from '../organizations/invitations/organization-invitation.entity.ts';
import type { Memberships } from '../organizations/memberships.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { inside } from '../organizations/organization-events.ts';
import { OrganizationMembership } from '../organizations/organization-membership.entity.ts';
import { defaultRolesOf, rolesWithKeys } from '../organizations/organization-roles.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { isAddress, trimmed } from '../users/login.ts';
import type { Users } from '../users/users.ts';
import type { InvitationContext, Invitations } from './invitations.ts';
import { type OwnChange, underLock } from './own/own-change.ts';

/** Days until a link expires. */
const lifetimeDays = 14;
/** Days for which admins see an invitation after its expiry. */
const keptDays = 90;

export interface Invited {
  email: string;
  /** Default: the default roles of the organization. */
  roleKeys?: readonly string[] | undefined;
  /** Language of the mail, if the address has no user. */
  locale?: Locale | undefined;
}

interface Deps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  delivery: Pick<Delivery, 'enqueueNotices'>;
  users: Pick<Users, 'findByAddress' | 'locked'>;
  sessions: Pick<Sessions, 'listLive'>;
  invitations: Pick<Invitations, 'contextOf' | 'spend'>;
  memberships: Pick<Memberships, 'join'>;
}

/**
 * Invitations of mail addresses to organizations (decisions/0383). The link only shows the invitation: it is accepted by the user
 * whose login address it names, after a sign-in.
 */
export class OrganizationInvitations {
  constructor(private readonly deps: Deps) {}

  /**
   * Invites an address; an open invitation of it to the organization is replaced. Refuses `not-found` for the organization or a role,
   * `invalid`, `too-many`, and `taken` for the address of a member.
   */
  async invite(key: TenantKey, invited: Invited, actor: Actor): Promise<OrganizationInvitation> {
    const { clock, db, random } = this.deps;
    const email = trimmed(invited.email);
    if (!isAddress(email)) refuse({ code: 'invalid', field: 'email', reason: 'must be an email address' });
    const context = await this.deps.invitations.contextOf(key.project.id, 'organizationId');
    return db.transaction(async (em) => {
      const organization = await usableOrganization(em, key, 'organizationId');
      await this.keepNew(em, organization, email);
      const { roleKeys } = invited;
      const roles = roleKeys ? await rolesWithKeys(em, key.project.id, roleKeys) : await defaultRolesOf(em, key);
      const secret = newSecret(random);
      const now = clock.now();
      const times = { now, expiresAt: secondsLater(now, lifetimeDays * 24 * 3600) };
      const roleIds = roles.map(({ id }) => id);
      const id = await writeInvitation(em, key, { id: random.id(), email, secret, roleIds, ...times });
      const invitation = await this.read(em, keyIn(key.project.id, id));
      await this.send(em, { context, organization, invitation, secret, locale: invited.locale });
      this.record(em, 'organization-invitation.sent', organization, invitation, actor);
      return invitation;
    });
  }

  /** Sends a new link, which replaces the former one. Refuses `not-found`, `too-many`, and `invalid` for a closed invitation. */
  async resend(key: TenantKey, locale: Locale | undefined, actor: Actor): Promise<OrganizationInvitation> {
    const { clock, db, random } = this.deps;
    const context = await this.deps.invitations.contextOf(key.project.id, 'id');
    return db.transaction(async (em) => {
      const invitation = await this.open(em, key);
      const organization = await usableOrganization(em, keyIn(key.project.id, invitation.organization.id), 'id');
      const secret = newSecret(random);
      const now = clock.now();
      const expiresAt = secondsLater(now, lifetimeDays * 24 * 3600);
      Object.assign(invitation, { secretHash: digest(secret), sentAt: now, expiresAt });
      await this.send(em, { context, organization, invitation, secret, locale });
      this.record(em, 'organization-invitation.sent', organization, invitation, actor);
      return invitation;
    });
  }

  /** Refuses `not-found`, and `invalid` for one that is accepted or revoked. */
  revoke(key: TenantKey, actor: Actor): Promise<OrganizationInvitation> {
    return this.deps.db.transaction(async (em) => {
      const invitation = await this.open(em, key);
      const organization = await existing(
        em,
        Organization,
        keyIn(key.project.id, invitation.organization.id),
        'organization',
      );
      invitation.revokedAt = this.deps.clock.now();
      this.record(em, 'organization-invitation.revoked', organization as Organization, invitation, actor);
      return invitation;
    });
  }

  /**
   * Accepts an invitation of the visitor's own login address. Of several at once, one succeeds. Refuses `not-found`, also for an
   * invitation of another address, and of one that the directory of another organization may have made up.
   */
  accept(change: OwnChange, id: string): Promise<void> {
    const { clock, memberships } = this.deps;
    const { visitor, actor } = change;
    return underLock(this.deps, visitor, async (em, user) => {
      const projectId = visitor.project.id;
      const own = { userId: user.id, email: user.email ?? '', now: clock.now() };
      const row = isUuid(id) ? await takeInvitation(em, keyIn(projectId, id), own) : null;
      const { organization, roles } = found(row, 'organization-invitation');
      const joined = await usableOrganization(em, keyIn(projectId, organization), 'id');
      const member = { userId: user.id, source: 'invitation', roleIds: roles } as const;
      await memberships.join(em, joined, member, actor);
      const invitation = await this.read(em, keyIn(projectId, id));
      this.record(em, 'organization-invitation.accepted', joined, invitation, actor);
    });
  }

  /** Job: deletes invitations {@link keptDays} after they ended. */
  async sweep(): Promise<void> {
    const over = secondsLater(this.deps.clock.now(), -keptDays * 24 * 3600);
    await deleteInBatches(this.deps.db.alone, 'organization_invitations', sql`expires_at <= ${over}::timestamptz`);
  }

  /** Refuses `taken` for the address of a member. */
  private async keepNew(em: EntityManager, { project, id }: Organization, email: string): Promise<void> {
    const user = await this.deps.users.findByAddress(em, project.id, email);
    const at = { organization: [project.id, id], user: [project.id, user?.id ?? ''] } as object;
    if (user && (await em.count(OrganizationMembership, at)) > 0) {
      refuse({ code: 'taken', what: 'organization-membership', field: 'email' });
    }
  }

  private async send(
    em: EntityManager,
    sent: {
      context: InvitationContext;
      organization: Organization;
      invitation: OrganizationInvitation;
      secret: string;
      locale: Locale | undefined;
    },
  ): Promise<void> {
    const { clock, delivery, invitations, users } = this.deps;
    const { context, organization, invitation, secret, locale } = sent;
    const { projectId, app, origin } = context;
    const to = invitation.email;
    const [spent] = (await invitations.spend(em, context, [to])) as [Spent];
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const user = await users.findByAddress(em, projectId, to);
    const content = {
      template: 'organization-invitation' as const,
      ...{ app, organization: organization.name, until: invitation.expiresAt.toISOString() },
      url: `${origin}${invitationPath}?${new URLSearchParams({ project: projectId, invitation: secret })}`,
      at: clock.now().toISOString(),
    };
    const language = user ? languageOf(user) : (locale ?? 'en');
    const notice = { projectId, channel: 'mail' as const, to, locale: language, content };
    await delivery.enqueueNotices(em, [{ ...notice, context: { account: user?.id ?? null, mailbox: to } }]);
  }

  private async open(em: EntityManager, key: TenantKey): Promise<OrganizationInvitation> {
    const invitation = await existing(em, OrganizationInvitation, key, 'organization-invitation', locked);
    if (invitation.acceptedAt != null || invitation.revokedAt != null) {
      refuse({ code: 'invalid', field: 'id', reason: 'must be an open invitation' });
    }
    return invitation as OrganizationInvitation;
  }

  private async read(em: EntityManager, { project, id }: TenantKey): Promise<OrganizationInvitation> {
    const options = { refresh: true } as const;
    return found(
      await em.findOne(OrganizationInvitation, { project: project.id, id }, options),
      'organization-invitation',
    );
  }

  private record(
    em: EntityManager,
    type: EventType,
    organization: Organization,
    { id, email }: OrganizationInvitation,
    actor: Actor,
  ): void {
    const subject: AuditEntry['subject'] = { kind: 'organization-invitation', id, name: maskAddress(email) };
    this.deps.audit.record(em, inside(type, organization, { subject, actor }));
  }
}

/** Refuses `not-found`, and `invalid` for an organization that no one can use. @param field the input that names it */
async function usableOrganization(
  em: EntityManager,
  key: TenantKey,
  field: 'id' | 'organizationId',
): Promise<Organization> {
  const organization = (await existing(em, Organization, key, 'organization')) as Organization;
  const project = await existing(em, Project, key.project.id, 'project');
  if (!project.organizationsEnabled)
    refuse({ code: 'invalid', field, reason: 'needs organizationsEnabled in the project' });
  if (organization.state !== 'active') refuse({ code: 'invalid', field, reason: 'must be an active organization' });
  return organization;
}
