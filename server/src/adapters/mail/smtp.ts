import { createTransport } from 'nodemailer';
import { type MailSender, type OutgoingMail, SendError } from '../../domain/delivery/sender.ts';
import { diagnoseSmtp } from './smtp-diagnosis.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  url: string;
  /** The sender, e.g. `Acme <no-reply@acme.example>`. */
  from: string;
}

export interface SmtpSender extends MailSender {
  close(): void;
}

/** Mail through an SMTP server, over pooled connections: some for urgent messages, some for the rest. */
export function smtpSender({ url, from }: SmtpOptions): SmtpSender {
  const [urgent, other] = [pool(url, 4), pool(url, 3)];
  return {
    kind: 'smtp',
    target: new URL(url).host,
    from,
    diagnose: (mail: OutgoingMail) => diagnoseSmtp(url, from, mail),
    async send(mail: OutgoingMail) {
      await asSendError(
        (mail.isUrgent ? urgent : other).sendMail({
          from,
          // An object: no character in the address can add a recipient.
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.id}@${domainOf(from)}>`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        }),
      );
    },
    close: () => {
      urgent.close();
      other.close();
    },
  };
}

function pool(url: string, maxConnections: number) {
  return createTransport({
    url,
    pool: true,
    maxConnections,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    // A server may take ten minutes to accept a message (RFC 5321 section 4.5.3.2.6). Giving up earlier sends it twice.
    socketTimeout: 10 * 60_000,
    // No message may read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Translates a failure. The server's response may repeat the address or the text, so only codes are kept. */
async function asSendError(sending: Promise<unknown>): Promise<void> {
  try {
    await sending;
  } catch (cause) {
    const {
      code = 'failed',
      responseCode,
      command,
    } = cause as { code?: string; responseCode?: number; command?: string };
    const words = ['mail server', code, command, responseCode].filter((word) => word !== undefined).join(' ');
    const permanent = responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH';
    throw new SendError(words, permanent);
  }
}

function domainOf(from: string): string {
  return /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
}
