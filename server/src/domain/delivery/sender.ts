import type { Stage } from './diagnosis.ts';
import type { RenderedMessage } from './templates.ts';

export interface OutgoingMail extends RenderedMessage {
  to: string;
  /** The same for every attempt at one message, so that receivers can drop duplicates. */
  id: string;
  /** Whether a user waits for the message, so that it must not queue behind others. */
  isUrgent: boolean;
}
export interface OutgoingSms {
  to: string;
  text: string;
  /** The same for every attempt at one message. */
  id: string;
}

/** Sends one kind of message. Throws {@link SendError}. */
export interface Sender<M> {
  /** `mailbox` stores messages in the dev mailbox and sends nothing. */
  kind: 'smtp' | 'sms-gateway' | 'twilio' | 'mailbox';
  send(message: M): Promise<void>;
  /** Host and port for display; no credentials. */
  target?: string;
  /** From address of its messages. */
  from?: string;
  /** Sends one message and returns the result of each stage; never throws. */
  diagnose?(message: M): Promise<Stage[]>;
}
export type MailSender = Sender<OutgoingMail>;
export type SmsSender = Sender<OutgoingSms>;

/** The reason why a message could not be sent. Its message contains no recipient and no content. */
export class SendError extends Error {
  /** Low-cardinality metrics label. */
  readonly reason: string;

  constructor(
    message: string,
    /** Whether a retry is pointless, e.g. for an address that the mail server rejects. */
    readonly permanent: boolean,
    { reason = 'other', ...options }: ErrorOptions & { reason?: string } = {},
  ) {
    super(message, options);
    this.name = 'SendError';
    this.reason = reason;
  }
}
