import type { Stage } from '../../domain/delivery/diagnosis.ts';
import type { OutgoingMail } from '../../domain/delivery/sender.ts';
import { diagnoseSmtp } from './smtp-diagnosis.ts';
import { sendErrorOf } from './smtp-fault.ts';
import { composed } from './smtp-message.ts';
import { SmtpPool, type SmtpTimes } from './smtp-pool.ts';
import { type SmtpError, sessionOptions } from './smtp-session.ts';

const minute = 60_000;
const steps = { connect: 10_000, command: 10_000, check: 3_000, envelope: 20_000, idle: 20_000 };
/**
 * A server may take ten minutes to accept a message (RFC 5321 section 4.5.3.2.6). Giving up earlier sends it twice, which
 * is right for a code that expires in five: the attempt ends in time for another one, with the same Message-ID.
 */
const noticeTimes: SmtpTimes = { ...steps, accept: 10 * minute, attempt: 15 * minute };
const codeTimes: SmtpTimes = { ...steps, accept: minute, attempt: 1.5 * minute };

/** Mail through an SMTP server, over a few connections: some for urgent messages, some for the rest. */
export class SmtpService {
  readonly #url: string;
  readonly #from: string;
  readonly #urgent: SmtpPool;
  readonly #other: SmtpPool;

  constructor(url: string, from: string, times: Partial<SmtpTimes> | undefined) {
    this.#url = url;
    this.#from = from;
    const options = sessionOptions(url);
    this.#urgent = new SmtpPool(options, 4, { ...codeTimes, ...times });
    this.#other = new SmtpPool(options, 3, { ...noticeTimes, ...times });
  }

  diagnose(mail: OutgoingMail | null): Promise<Stage[]> {
    return diagnoseSmtp(this.#url, this.#from, mail);
  }

  async send(mail: OutgoingMail): Promise<void> {
    try {
      await (mail.isUrgent ? this.#urgent : this.#other).send(await composed(this.#from, mail));
    } catch (error) {
      throw sendErrorOf(error as SmtpError);
    }
  }

  close(): void {
    this.#urgent.close();
    this.#other.close();
  }
}
