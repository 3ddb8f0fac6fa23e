import { type MailSender, type OutgoingMail } from '../../domain/delivery/sender.ts';
import { diagnoseSmtp } from './smtp-diagnosis.ts';
import { sendErrorOf } from './smtp-fault.ts';
import { composed } from './smtp-message.ts';
import { SmtpPool, type SmtpTimes } from './smtp-pool.ts';
import { type SmtpError, sessionOptions } from './smtp-session.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  url: string;
  /** The sender, e.g. `Acme <no-reply@acme.example>`. */
  from: string;
  /** For tests. */
  times?: Partial<SmtpTimes>;
}

export interface SmtpSender extends MailSender {
  close(): void;
}

const minute = 60_000;
const steps = { connect: 10_000, command: 10_000, check: 3_000, envelope: 20_000, idle: 20_000 };
/**
 * A server may take ten minutes to accept a message (RFC 5321 section 4.5.3.2.6). Giving up earlier sends it twice, which
 * is right for a code that expires in five: the attempt ends in time for another one, with the same Message-ID.
 */
const noticeTimes: SmtpTimes = { ...steps, accept: 10 * minute, attempt: 15 * minute };
const codeTimes: SmtpTimes = { ...steps, accept: minute, attempt: 1.5 * minute };

/** Mail through an SMTP server, over a few connections: some for urgent messages, some for the rest. */
export function smtpSender({ url, from, times }: SmtpOptions): SmtpSender {
  const options = sessionOptions(url);
  const urgent = new SmtpPool(options, 4, { ...codeTimes, ...times });
  const other = new SmtpPool(options, 3, { ...noticeTimes, ...times });
  return {
    kind: 'smtp',
    target: new URL(url).host,
    from,
    diagnose: (mail: OutgoingMail) => diagnoseSmtp(url, from, mail),
    async send(mail: OutgoingMail) {
      try {
        await (mail.isUrgent ? urgent : other).send(await composed(from, mail));
      } catch (error) {
        throw sendErrorOf(error as SmtpError);
      }
    },
    close: () => {
      urgent.close();
      other.close();
    },
  };
}
