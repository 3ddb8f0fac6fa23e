import { SMTPServer } from 'smtp-server';
import { freePort } from '../../support/latchkey.ts';
import { pause } from '../experiment.ts';

export interface ReceivedMail {
  messageId: string;
  to: string;
  subject: string;
  /** On the clock of `performance`. */
  at: number;
}

/** A mail server that can be unavailable or slow. */
export class MailSink {
  readonly port: number;
  /** In the order of arrival; a mail counts when it is accepted. */
  readonly received: ReceivedMail[] = [];
  /** Message IDs, one for each complete mail, even if it is not accepted yet. */
  readonly offered: string[] = [];
  /** Time between the end of the mail and its 250. */
  answerAfterMs = 0;
  #server: SMTPServer | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async create(): Promise<MailSink> {
    const sink = new MailSink(await freePort());
    await sink.open();
    return sink;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async open(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      // The server ends idle connections before a slow response is sent.
      socketTimeout: 10 * 60_000,
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', async () => {
          const head = Buffer.concat(chunks).toString().split('\r\n\r\n', 1)[0] ?? '';
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? '';
          this.offered.push(idOf(field('message-id')));
          if (this.answerAfterMs > 0) await pause(this.answerAfterMs);
          const to = session.envelope.rcptTo[0]?.address ?? '';
          this.received.push({ messageId: field('message-id'), to, subject: field('subject'), at: performance.now() });
          done();
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((listening) => {
      server.listen(this.port, '127.0.0.1', () => listening());
    });
    this.#server = server;
  }

  /** Refuses connections until {@link open}. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise<void>((done) => server.close(() => done()));
    for (const connection of server.connections) connection.close();
    await closed;
  }

  /** Number of arrivals of each mail, by the ID of its message. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { messageId } of this.received) {
      const id = idOf(messageId);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }
}

const idOf = (messageId: string): string => messageId.replace(/^<|@.*$/g, '');
