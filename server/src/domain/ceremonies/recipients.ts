import type { EntityManager } from '@mikro-orm/postgresql';
import type { MessageContext, Recipient } from '../delivery/delivery.ts';
import type { Message } from '../delivery/message.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

/** The set-up links of the console's project, as far as a sign-in is concerned with them. */
export interface SetupLinks {
  /** Whether the link can still be claimed. */
  isOpen(em: EntityManager, setupLinkId: string): Promise<boolean>;
  /** Makes the user an owner; refuses where the link was used or has expired meanwhile. */
  claim(em: EntityManager, setupLinkId: string, userId: string, actor: Actor): Promise<void>;
}

/**
 * Who really gets a message. Asked for by the mail job, not by the request: whoever asks for a code learns nothing of
 * what becomes of it.
 */
export class Recipients {
  private readonly users: Users;
  private readonly setupLinks: Pick<SetupLinks, 'isOpen'>;

  constructor(users: Users, setupLinks: Pick<SetupLinks, 'isOpen'>) {
    this.users = users;
    this.setupLinks = setupLinks;
  }

  async judge(em: EntityManager, message: Message, context: MessageContext): Promise<Recipient> {
    const projectId = message.project.id;
    if (context.userId !== undefined) {
      const user = await this.users.find(em, projectId, context.userId);
      if (!user?.active) return { suppress: user ? 'the user is not active' : 'the user is gone' };
      const to = message.channel === 'sms' ? message.recipient : addressOf(user);
      return to === null ? { suppress: 'the user has no address' } : { to };
    }
    const user = await this.users.findByAddress(em, projectId, message.recipient);
    if (!user) {
      const welcome = await this.maySignUp(em, projectId, context.setupLinkId);
      return welcome ? { to: message.recipient } : { suppress: 'nobody here has this address' };
    }
    if (!user.active) return { suppress: 'the user is not active' };
    const to = addressOf(user);
    return to === null ? { suppress: 'the user has no address' } : { to };
  }

  /** Whether a stranger may become a user: where sign-up is open, or by a set-up link that is still good. */
  async maySignUp(em: EntityManager, projectId: string, setupLinkId: string | undefined): Promise<boolean> {
    const project = await em.findOneOrFail(Project, projectId);
    if (project.signUp === 'open') return true;
    return project.builtIn === 'console' && setupLinkId !== undefined && this.setupLinks.isOpen(em, setupLinkId);
  }
}

/** Where codes and notices go: to the address on record, never to what was typed. */
export function addressOf(user: User): string | null {
  return user.email ?? null;
}
