import type { EntityManager } from '@mikro-orm/postgresql';
import { changeTemplates, isAwaited } from '../contacts/pending-changes.ts';
import type { Message } from '../delivery/message.entity.ts';
import type { MessageContext, Recipient } from '../delivery/recipient.ts';
import { codeTemplates } from '../delivery/wording.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { Enrolment } from '../mfa/enrolment.entity.ts';
import { isInvited } from '../organizations/invitations/open-invitations.ts';
import { Project } from '../projects/project.entity.ts';
import { isNamedByDirectory } from '../users/identity/guests.ts';
import { atProject } from '../users/identity/home.ts';
import { addressKey, isAddress } from '../users/login.ts';
import { type SignUpVerdict, signUpVerdict } from '../users/sign-up.ts';
import { isAddressReserved } from '../users/suspension/suspensions.ts';
import { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

/** Notices that a deactivation, or a user who takes the address, does not suppress. */
const assuredNotices: readonly string[] = ['login-changed', 'email-changed', 'account-moved', 'deletion-cancelled'];

/** Why an address without an account gets no code. */
const suppressions: Record<SignUpVerdict, string | null> = {
  open: null,
  approval: null,
  closed: 'no account has this address, and sign-up is closed',
  domain: 'no account has this address, and its domain may not sign up',
};

/** The setup links of the console's project, as a sign-in uses them. */
export interface SetupLinks {
  isSetupLinkOpen(em: EntityManager, setupLinkId: string): Promise<boolean>;
  /** Makes the user an owner; refuses if the link has been used or has expired. */
  claim(em: EntityManager, setupLinkId: string, userId: string, actor: Actor): Promise<void>;
}

/**
 * Decides whether a message may still go to its mailbox. The mail job decides, not the request, so that the response
 * does not reveal whether an account exists.
 */
export class Recipients {
  constructor(private readonly deps: { clock: Clock; users: Users; setupLinks: Pick<SetupLinks, 'isSetupLinkOpen'> }) {}

  /** Runs the same queries whether the address is known, unknown, disabled or unprovisioned. */
  async check(
    em: EntityManager,
    message: Message,
    { account, mailbox, setupLinkId }: MessageContext,
  ): Promise<Recipient> {
    const projectId = message.project.id;
    const user = await this.deps.users.find(em, projectId, account ?? message.id);
    const holder = await this.holderOf(em, message, mailbox);
    const project = await em.findOneOrFail(Project, projectId);
    const suppressed = suppressions[await this.verdictOn(em, project, mailbox, setupLinkId)];
    const isReserved = await this.isReserved(em, projectId, mailbox);
    if (account === null) {
      if (holder) return { suppress: 'an account has this address now' };
      if (isReserved) return { suppress: 'the address is reserved for a deactivated user' };
      return suppressed === null ? { to: mailbox } : { suppress: suppressed };
    }
    // An admin could otherwise suppress it, by deactivating the user or by giving the address to another user.
    if (user && assuredNotices.includes(message.template)) return { to: mailbox };
    if (message.template === 'account-deleted') return { to: mailbox };
    if (!user?.active) return { suppress: user ? 'the user is not active' : 'the user no longer exists' };
    if (message.channel === 'mail' && !isAddress(mailbox)) return { suppress: 'the user has no address' };
    // A notice goes to the address at the time of the event: a change of address is announced to the old mailbox.
    const isCode = codeTemplates.includes(message.template);
    // Several users may share a number: each user's code goes there. A code for a new address signs no one in.
    const isShareable = isCode && (message.channel === 'sms' || message.template === 'email-code');
    if (holder && holder.id !== account && !isShareable) return { suppress: 'another account has this address now' };
    if (isCode && !(await this.isStill(em, message, project, user, mailbox)))
      return { suppress: 'the address changed' };
    return { to: mailbox };
  }

  /**
   * What becomes of an unknown address that was verified: by the settings of the project, or by the setup link. One that is reserved
   * for an inactive user is `closed`.
   */
  async signUpOf(em: EntityManager, projectId: string, address: string, setupLinkId?: string): Promise<SignUpVerdict> {
    const verdict = await this.verdictOn(em, await em.findOneOrFail(Project, projectId), address, setupLinkId);
    return (await this.isReserved(em, projectId, address)) ? 'closed' : verdict;
  }

  private isReserved(em: EntityManager, projectId: string, address: string): Promise<boolean> {
    return isAddressReserved(em, atProject(projectId), addressKey(address), this.deps.clock.now());
  }

  /** A valid setup link opens sign-up at the console; an invitation to an organization and its directory open it for their addresses. */
  private async verdictOn(
    em: EntityManager,
    project: Project,
    address: string,
    setupLinkId: string | undefined,
  ): Promise<SignUpVerdict> {
    const verdict = signUpVerdict(project, address);
    if (verdict !== 'open' && project.organizationsEnabled) {
      if (await isInvited(em, project.id, address, this.deps.clock.now())) return 'open';
      if (await isNamedByDirectory(em, project.id, address)) return 'open';
    }
    if (project.builtIn !== 'console' || setupLinkId === undefined) return verdict;
    return (await this.deps.setupLinks.isSetupLinkOpen(em, setupLinkId)) ? 'open' : verdict;
  }

  private holderOf(em: EntityManager, message: Message, mailbox: string): Promise<User | null> {
    const projectId = message.project.id;
    if (message.channel === 'sms') return em.findOne(User, { project: projectId, phone: mailbox });
    return this.deps.users.findByAddress(em, projectId, mailbox);
  }

  /** Whether a code issued now would go to the same address or number. */
  private async isStill(
    em: EntityManager,
    message: Message,
    project: Project,
    user: User,
    mailbox: string,
  ): Promise<boolean> {
    const change = changeTemplates[message.template];
    if (change) return isAwaited(em, user, change, mailbox);
    if (message.channel === 'mail') return addressOf(user) === mailbox;
    const factors = await em.find(Enrolment, { user, method: 'sms' });
    return factors.some((factor) => smsNumberOf(project, user, factor) === mailbox);
  }
}

/** Mails to a user go to the address on record, never to the typed one. */
export function addressOf(user: User): string | null {
  return user.email ?? null;
}

/** The number of an SMS factor: the directory's, if it owns the phone, else the enrolled one. */
export function smsNumberOf(project: Project, user: User, factor: Enrolment): string | null {
  const directoryOwns = user.provenance === 'scim' && project.scimAuthoritative;
  return (directoryOwns ? user.phone : null) ?? factor.phone ?? null;
}

/** The message context of this user. */
export function contextFor(user: User): MessageContext {
  return { account: user.id, mailbox: addressOf(user) ?? user.userName };
}
