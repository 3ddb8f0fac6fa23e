import type { EntityManager } from '@mikro-orm/postgresql';
import type { MessageContext, PreviousContext, Recipient } from '../delivery/delivery.ts';
import type { Message } from '../delivery/message.entity.ts';
import { codeTemplates } from '../delivery/wording.ts';
import type { Actor } from '../kernel/actor.ts';
import { Enrolment } from '../mfa/enrolment.entity.ts';
import { PhoneChange } from '../phones/phone-change.entity.ts';
import { Project } from '../projects/project.entity.ts';
import { addressKey, isAddress } from '../users/login.ts';
import { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

/** The set-up links of the console's project, as far as a sign-in is concerned with them. */
export interface SetupLinks {
  isSetupLinkOpen(em: EntityManager, setupLinkId: string): Promise<boolean>;
  /** Makes the user an owner; refuses where the link was used or has expired meanwhile. */
  claim(em: EntityManager, setupLinkId: string, userId: string, actor: Actor): Promise<void>;
}

/**
 * Whether a message may still go to the mailbox that it was made for. Decided by the mail job, not by the request, so that
 * the caller learns nothing.
 */
export class Recipients {
  constructor(private readonly deps: { users: Users; setupLinks: Pick<SetupLinks, 'isSetupLinkOpen'> }) {}

  /** The same queries whether the address is known, unknown, disabled or unprovisioned. */
  async judge(em: EntityManager, message: Message, sealed: MessageContext | PreviousContext): Promise<Recipient> {
    const projectId = message.project.id;
    const context = 'mailbox' in sealed ? sealed : await this.ofPreviousRelease(em, message, sealed);
    const { account, mailbox } = context;
    const user = await this.deps.users.find(em, projectId, account ?? message.id);
    const holder = await this.holderOf(em, message, mailbox);
    const project = await em.findOneOrFail(Project, projectId);
    const welcome = await this.isWelcome(em, project, context.setupLinkId);
    if (account === null) {
      if (holder) return { suppress: 'an account has this address now' };
      return welcome ? { to: mailbox } : { suppress: 'no account has this address, and sign-up is closed' };
    }
    if (!user?.active) return { suppress: user ? 'the user is not active' : 'the user no longer exists' };
    if (message.channel === 'mail' && !isAddress(mailbox)) return { suppress: 'the user has no address' };
    // A notice goes to the address at the time of the event: after a change of address, the old mailbox receives it.
    const isCode = codeTemplates.includes(message.template);
    // Several users may prove the same number: the code of each goes there.
    const isShareable = isCode && message.channel === 'sms';
    if (holder && holder.id !== account && !isShareable) return { suppress: 'another account has this address now' };
    if (isCode && !(await this.isStill(em, message, project, user, mailbox)))
      return { suppress: 'the address changed' };
    return { to: mailbox };
  }

  /** Whether strangers may become users: where sign-up is open, or by a set-up link that is still good. */
  async maySignUp(em: EntityManager, projectId: string, setupLinkId: string | undefined): Promise<boolean> {
    return this.isWelcome(em, await em.findOneOrFail(Project, projectId), setupLinkId);
  }

  private async isWelcome(em: EntityManager, project: Project, setupLinkId: string | undefined): Promise<boolean> {
    if (project.signUp === 'open') return true;
    return (
      project.builtIn === 'console' &&
      setupLinkId !== undefined &&
      this.deps.setupLinks.isSetupLinkOpen(em, setupLinkId)
    );
  }

  private holderOf(em: EntityManager, message: Message, mailbox: string): Promise<User | null> {
    const projectId = message.project.id;
    if (message.channel === 'sms') return em.findOne(User, { project: projectId, phone: mailbox });
    return this.deps.users.findByAddress(em, projectId, mailbox);
  }

  /** Whether a code made now would go to the same address or number. */
  private async isStill(
    em: EntityManager,
    message: Message,
    project: Project,
    user: User,
    mailbox: string,
  ): Promise<boolean> {
    if (message.channel === 'mail') return addressOf(user) === mailbox;
    if (message.template === 'phone-code') return (await em.count(PhoneChange, { user: user.id, phone: mailbox })) > 0;
    const factors = await em.find(Enrolment, { user: user.id, method: 'sms' });
    return factors.some((factor) => smsNumberOf(project, user, factor) === mailbox);
  }

  /** The previous release sealed no mailbox: it is the address that was typed, if it is on record or belongs to no account. */
  private async ofPreviousRelease(
    em: EntityManager,
    message: Message,
    { userId, setupLinkId }: PreviousContext,
  ): Promise<MessageContext> {
    const { recipient, project } = message;
    const link = setupLinkId === undefined ? {} : { setupLinkId };
    if (userId !== undefined) return { account: userId, mailbox: recipient, ...link };
    const holder = await this.deps.users.findByAddress(em, project.id, recipient);
    const isOnRecord = holder?.email != null && addressKey(holder.email) === recipient;
    return { account: holder?.id ?? null, mailbox: isOnRecord ? (holder.email as string) : recipient, ...link };
  }
}

/** Mails to a user go to the address on record, never to the typed one. */
export function addressOf(user: User): string | null {
  return user.email ?? null;
}

/** Where SMS of a factor go: to the directory's number where it owns the phone, else to the one that was enrolled. */
export function smsNumberOf(project: Project, user: User, factor: Enrolment): string | null {
  const directoryOwns = user.provenance === 'scim' && project.scimAuthoritative;
  return (directoryOwns ? user.phone : null) ?? factor.phone ?? null;
}

/** The context of a mail to this user now. */
export function contextFor(user: User): MessageContext {
  return { account: user.id, mailbox: addressOf(user) ?? user.userName };
}
