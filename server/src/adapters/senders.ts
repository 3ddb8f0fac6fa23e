import type { Config } from '../config.ts';
import { type MailSender, SendError, type Sender, type SmsSender } from '../domain/delivery/sender.ts';
import { smtpSender } from './mail/smtp.ts';
import { gatewaySms, twilioSms } from './sms/gateways.ts';

/** Development: messages stay in the outbox, where `Delivery.mailbox` reads them. */
export const mailboxMail: MailSender = { kind: 'mailbox', send: async () => undefined };
export const mailboxSms: SmsSender = { kind: 'mailbox', send: async () => undefined };

/** The senders of mail and SMS; null: not configured, so that sending fails. */
export interface Senders {
  mail: MailSender | null;
  sms: SmsSender | null;
}

/** Called with the result of each attempt, and the reason of a failure: a metrics label. */
export type OnSent = (channel: string, result: 'sent' | 'failed', failure?: SendError) => void;

/** Calls `onSent` with the result of each message. */
export function counted({ mail, sms }: Senders, onSent: OnSent): Senders {
  const wrap = <M>(channel: string, sender: Sender<M> | null): Sender<M> | null =>
    sender && {
      ...sender,
      send: async (message) => {
        try {
          await sender.send(message);
          onSent(channel, 'sent');
        } catch (error) {
          onSent(channel, 'failed', error instanceof SendError ? error : undefined);
          throw error;
        }
      },
    };
  return { mail: wrap('mail', mail), sms: wrap('sms', sms) };
}

/** Chooses by the settings; without any, an embedded instance keeps messages in the dev mailbox. */
export function chooseSenders(config: Config, embedded: boolean): Senders {
  const fallback = embedded && config.SMTP_URL === undefined;
  return {
    mail:
      config.SMTP_URL !== undefined && config.MAIL_FROM !== undefined
        ? smtpSender({ url: config.SMTP_URL.reveal(), from: config.MAIL_FROM })
        : fallback
          ? mailboxMail
          : null,
    sms: smsOf(config) ?? (fallback ? mailboxSms : null),
  };
}

function smsOf(config: Config): SmsSender | null {
  if (config.SMS_URL !== undefined) return gatewaySms(config.SMS_URL.reveal());
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_FROM: from } = config;
  if (accountSid === undefined || authToken === undefined || from === undefined) return null;
  return twilioSms({ accountSid, authToken: authToken.reveal(), from });
}

/** Failures in a row after which messages count as not leaving. */
const leastFailures = 3;
/** Failures that concern one message only. */
const ofMessage = ['recipient-rejected', 'message-rejected'];

/** Whether messages of a channel leave this process, by its last attempts. */
export class SendHealth {
  #failures = 0;
  #last: string | null = null;

  record(result: 'sent' | 'failed', failure?: SendError): void {
    if (failure && ofMessage.includes(failure.reason)) return;
    this.#failures = result === 'sent' ? 0 : this.#failures + 1;
    this.#last = failure?.message ?? null;
  }

  /** The reason why messages do not leave; null if they do, or none was sent. */
  get fault(): string | null {
    if (this.#failures < leastFailures) return null;
    return `the last ${this.#failures} attempts failed: ${this.#last ?? 'failed'}`;
  }
}
