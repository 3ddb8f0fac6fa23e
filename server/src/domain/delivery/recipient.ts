import type { EntityManager } from '@mikro-orm/postgresql';
import type { Message } from './message.entity.ts';

/** The recipient that a message was created for. Sealed with its text, never shown. */
export interface MessageContext {
  /** The user's id; null: no account had the address when the message was created. */
  account: string | null;
  /** The exact address, or number in E.164. The message is sent there or not at all. */
  mailbox: string;
  /** The setup link that the sign-in began with. */
  setupLinkId?: string;
  /** The sign-in of the code. */
  signInId?: string | undefined;
}

/**
 * Decides whether a message may still be sent. Called when it is sent, so that the requester cannot observe the result.
 */
export type RecipientCheck = (em: EntityManager, message: Message, context: MessageContext) => Promise<Recipient>;
export type Recipient = { to: string } | { suppress: string };
