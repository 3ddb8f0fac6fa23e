import type { MailSender, SmsSender } from '../domain/delivery/sender.ts';

/** The dev mailbox in place of a mail server: messages stay in the outbox, where `Delivery.mailbox` reads them. */
export const mailboxMail: MailSender = { kind: 'mailbox', send: async () => undefined };
/** The same in place of an SMS gateway. */
export const mailboxSms: SmsSender = { kind: 'mailbox', send: async () => undefined };
