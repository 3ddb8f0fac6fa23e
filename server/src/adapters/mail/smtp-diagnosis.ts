import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { completed, failed, passed, type Stage, type StageName, skipped } from '../../domain/delivery/diagnosis.ts';
import type { OutgoingMail } from '../../domain/delivery/sender.ts';
import { connectFault, greetingFault, sendFault } from './smtp-fault.ts';
import { composed } from './smtp-message.ts';
import { command, type SessionOptions, type SmtpError, sessionOptions, within } from './smtp-session.ts';

const stageNames: StageName[] = ['dns', 'connect', 'tls', 'sign-in', 'send'];
/** Milliseconds. Shorter than for real mail: an admin waits for the result. */
const timeouts = { dns: 5_000, connect: 6_000, answer: 8_000, send: 15_000 } as const;
type Timeouts = Record<keyof typeof timeouts, number>;

/**
 * Sends one mail, stage by stage, over a separate connection. Never throws: a failure is recorded in its stage.
 * @param mail null: only the stages before `send` run
 */
export async function diagnoseSmtp(
  url: string,
  from: string,
  mail: OutgoingMail | null,
  timeout: Timeouts = timeouts,
): Promise<Stage[]> {
  const diagnosis = new SmtpDiagnosis(sessionOptions(url), timeout);
  try {
    await diagnosis.run(from, mail);
  } finally {
    diagnosis.close();
  }
  return completed(diagnosis.stages, stageNames);
}

/** Each stage records its result; a stage that returns null or false ends the diagnosis. */
class SmtpDiagnosis {
  readonly stages: Stage[] = [];
  private readonly options: SessionOptions;
  private readonly timeout: Timeouts;
  private socket: Socket | undefined;
  private session: SMTPConnection | undefined;

  constructor(options: SessionOptions, timeout: Timeouts) {
    this.options = options;
    this.timeout = timeout;
  }

  async run(from: string, mail: OutgoingMail | null): Promise<void> {
    const host = this.options.host ?? 'localhost';
    const port = Number(this.options.port ?? (this.options.secure ? 465 : 587));
    const address = await this.resolve(host);
    if (address === null) return;
    const socket = await this.connect(address, port);
    if (socket === null) return;
    const session = await this.greet(socket, host, port);
    if (session === null) return;
    if ((await this.signIn(session)) && mail !== null) await this.send(session, from, mail);
  }

  close(): void {
    this.session?.close();
    this.socket?.destroy();
  }

  private async resolve(host: string): Promise<string | null> {
    if (isIP(host) !== 0) {
      this.stages.push(skipped('dns', `${host} is an address`));
      return host;
    }
    const begin = performance.now();
    try {
      const found = await within(lookup(host, { all: true }), this.timeout.dns);
      this.stages.push(passed('dns', since(begin), `${host} is ${found.map(({ address }) => address).join(', ')}`));
      return found[0]?.address ?? null;
    } catch (error) {
      const { code } = error as { code?: string };
      const fault = code === 'ENOTFOUND' || code === 'EAI_NODATA' ? 'name-unknown' : 'resolver-silent';
      this.stages.push(failed('dns', since(begin), fault, `${host}: ${code ?? 'failed'}`));
      return null;
    }
  }

  private async connect(address: string, port: number): Promise<Socket | null> {
    const begin = performance.now();
    const socket = connect({ host: address, port });
    try {
      await within(
        new Promise<void>((done, fail) => {
          socket.once('connect', done);
          socket.once('error', fail);
        }),
        this.timeout.connect,
      );
      socket.removeAllListeners();
      this.stages.push(passed('connect', since(begin), `port ${port}`));
      this.socket = socket;
      return socket;
    } catch (error) {
      socket.on('error', () => undefined);
      socket.destroy();
      const { code = 'failed' } = error as { code?: string };
      this.stages.push(failed('connect', since(begin), connectFault(code), `${address}, port ${port}: ${code}`));
      return null;
    }
  }

  /** The greeting, and TLS before or after it. */
  private async greet(socket: Socket, host: string, port: number): Promise<SMTPConnection | null> {
    const { options, timeout, stages } = this;
    const begin = performance.now();
    const session = new SMTPConnection({
      ...options,
      ...{ host, port, connection: socket, logger: false, debug: false },
      ...{ connectionTimeout: timeout.answer, greetingTimeout: timeout.answer, socketTimeout: timeout.send },
    });
    try {
      await command(session, timeout.answer + 1000, (done) => session.connect(done));
    } catch (error) {
      const { isTls, fault } = greetingFault(error as SmtpError, Boolean(options.secure));
      session.close();
      if (isTls) stages.push(failed('tls', since(begin), fault, responseOf(error as SmtpError)));
      // The port is open, but not that of a mail server: the connect stage failed.
      else stages.splice(-1, 1, failed('connect', since(begin), fault, responseOf(error as SmtpError)));
      return null;
    }
    const { secure, _socket } = session as unknown as { secure: boolean; _socket?: { getProtocol?(): string | null } };
    if (secure) stages.push(passed('tls', since(begin), _socket?.getProtocol?.() ?? null));
    else stages.push(skipped('tls', 'The connection is not encrypted', isLoopback(host) ? undefined : 'unencrypted'));
    this.session = session;
    return session;
  }

  private async signIn(session: SMTPConnection): Promise<boolean> {
    const { auth } = this.options;
    if (!auth?.user) {
      this.stages.push(skipped('sign-in', 'SMTP_URL holds no user'));
      return true;
    }
    const begin = performance.now();
    try {
      const credentials = { user: auth.user, pass: auth.pass };
      await command(session, this.timeout.answer, (done) => session.login({ credentials }, done));
      this.stages.push(passed('sign-in', since(begin), `as ${auth.user}`));
      return true;
    } catch (error) {
      this.stages.push(failed('sign-in', since(begin), 'credentials-rejected', responseOf(error as SmtpError)));
      return false;
    }
  }

  private async send(session: SMTPConnection, from: string, mail: OutgoingMail): Promise<void> {
    const begin = performance.now();
    try {
      const { message, envelope } = await composed(from, mail);
      const info = await command<SMTPConnection.SentMessageInfo>(session, this.timeout.send, (done) =>
        session.send(envelope, message, done),
      );
      this.stages.push(passed('send', since(begin), info?.response ?? null));
    } catch (error) {
      this.stages.push(failed('send', since(begin), sendFault(error as SmtpError), responseOf(error as SmtpError)));
    }
  }
}

/** The server's response, if there is one: shown to the admin who tests. */
function responseOf({ response, code, message }: SmtpError): string {
  return response ?? [code, message].filter(Boolean).join(': ');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

const since = (begin: number): number => Math.round(performance.now() - begin);
