import type { Stage } from './diagnosis.ts';
import type { RenderedMessage } from './templates.ts';

export interface OutgoingMail extends RenderedMessage {
  to: string;
  /** The same for every attempt at one message, so that receivers can drop duplicates. */
  id: string;
}
export interface OutgoingSms {
  to: string;
  text: string;
}

/** How one kind of message leaves the house. Throws {@link SendError}. */
export interface Sender<M> {
  /** `mailbox` keeps messages here, to be read by who sets this instance up; nothing leaves. */
  kind: 'smtp' | 'sms-gateway' | 'twilio' | 'mailbox';
  send(message: M): Promise<void>;
  /** Where it leads, for people: host and port, never a credential. */
  target?: string;
  /** From address of its messages. */
  from?: string;
  /** Sends one message and returns the result of each stage; throws nothing. */
  diagnose?(message: M): Promise<Stage[]>;
}
export type MailSender = Sender<OutgoingMail>;
export type SmsSender = Sender<OutgoingSms>;

/** Why a message could not be sent; its words name no recipient and no content. */
export class SendError extends Error {
  constructor(
    message: string,
    /** Whether another attempt is pointless, e.g. for an address that the mail server refuses. */
    readonly permanent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SendError';
  }
}
