import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import {
  completed,
  type Fault,
  failed,
  passed,
  type Stage,
  type StageName,
  skipped,
} from '../../domain/delivery/diagnosis.ts';
import type { OutgoingMail } from '../../domain/delivery/sender.ts';
import { asked, type SessionOptions, type SmtpError, sessionOptions, within } from './smtp-session.ts';

const stageNames: StageName[] = ['dns', 'connect', 'tls', 'sign-in', 'send'];
/** Milliseconds. Shorter than for real mails: somebody waits in front of it. */
const timeouts = { dns: 5_000, connect: 6_000, answer: 8_000, send: 15_000 } as const;

/**
 * One mail, stage by stage, over a connection of its own. Never throws: what fails is told by its stage.
 * @param mail null: nothing is sent, only what comes before is tried
 */
export async function diagnoseSmtp(
  url: string,
  from: string,
  mail: OutgoingMail | null,
  timeout: Record<keyof typeof timeouts, number> = timeouts,
): Promise<Stage[]> {
  const stages: Stage[] = [];
  const opened: { socket?: Socket; session?: SMTPConnection } = {};
  try {
    await walk();
  } finally {
    opened.session?.close();
    opened.socket?.destroy();
  }
  return completed(stages, stageNames);

  async function walk(): Promise<void> {
    const options = sessionOptions(url);
    const host = options.host ?? 'localhost';
    const port = Number(options.port ?? (options.secure ? 465 : 587));

    const address = await resolve(host);
    if (address === null) return;
    const socket = await reach(address, port);
    if (socket === null) return;
    opened.socket = socket;
    const session = await greet(socket, host, port, options);
    if (session === null) return;
    opened.session = session;
    if ((await signIn(session, options)) && mail !== null) await send(session, mail);
  }

  async function resolve(host: string): Promise<string | null> {
    if (isIP(host) !== 0) {
      stages.push(skipped('dns', `${host} is an address`));
      return host;
    }
    const begin = performance.now();
    try {
      const found = await within(lookup(host, { all: true }), timeout.dns);
      stages.push(passed('dns', since(begin), `${host} is ${found.map(({ address }) => address).join(', ')}`));
      return found[0]?.address ?? null;
    } catch (error) {
      const { code } = error as { code?: string };
      const fault = code === 'ENOTFOUND' || code === 'EAI_NODATA' ? 'name-unknown' : 'resolver-silent';
      stages.push(failed('dns', since(begin), fault, `${host}: ${code ?? 'failed'}`));
      return null;
    }
  }

  async function reach(address: string, port: number): Promise<Socket | null> {
    const begin = performance.now();
    const socket = connect({ host: address, port });
    try {
      await within(
        new Promise<void>((done, fail) => {
          socket.once('connect', done);
          socket.once('error', fail);
        }),
        timeout.connect,
      );
      socket.removeAllListeners();
      stages.push(passed('connect', since(begin), `port ${port}`));
      return socket;
    } catch (error) {
      socket.on('error', () => undefined);
      socket.destroy();
      const { code = 'failed' } = error as { code?: string };
      stages.push(failed('connect', since(begin), connectFault(code), `${address}, port ${port}: ${code}`));
      return null;
    }
  }

  /** The greeting, and TLS before or after it. */
  async function greet(
    socket: Socket,
    host: string,
    port: number,
    options: SessionOptions,
  ): Promise<SMTPConnection | null> {
    const begin = performance.now();
    const session = new SMTPConnection({
      ...options,
      ...{ host, port, connection: socket, logger: false, debug: false },
      ...{ connectionTimeout: timeout.answer, greetingTimeout: timeout.answer, socketTimeout: timeout.send },
    });
    try {
      await asked(session, timeout.answer + 1000, (done) => session.connect(done));
    } catch (error) {
      const { isTls, fault } = greetingFault(error as SmtpError, Boolean(options.secure));
      session.close();
      if (isTls) stages.push(failed('tls', since(begin), fault, wordsOf(error as SmtpError)));
      // The port answered, and then not as a mail server does.
      else stages.splice(-1, 1, failed('connect', since(begin), fault, wordsOf(error as SmtpError)));
      return null;
    }
    const { secure, _socket } = session as unknown as { secure: boolean; _socket?: { getProtocol?(): string | null } };
    if (secure) stages.push(passed('tls', since(begin), _socket?.getProtocol?.() ?? null));
    else stages.push(skipped('tls', 'The connection is not encrypted', isLoopback(host) ? undefined : 'unencrypted'));
    return session;
  }

  async function signIn(session: SMTPConnection, { auth }: SessionOptions): Promise<boolean> {
    if (!auth?.user) {
      stages.push(skipped('sign-in', 'SMTP_URL holds no user'));
      return true;
    }
    const begin = performance.now();
    try {
      const credentials = { user: auth.user, pass: auth.pass };
      await asked(session, timeout.answer, (done) => session.login({ credentials }, done));
      stages.push(passed('sign-in', since(begin), `as ${auth.user}`));
      return true;
    } catch (error) {
      stages.push(failed('sign-in', since(begin), 'credentials-rejected', wordsOf(error as SmtpError)));
      return false;
    }
  }

  async function send(session: SMTPConnection, mail: OutgoingMail): Promise<void> {
    const begin = performance.now();
    try {
      const { message, envelope } = await composed(from, mail);
      const info = await asked<SMTPConnection.SentMessageInfo>(session, timeout.send, (done) =>
        session.send(envelope, message, done),
      );
      stages.push(passed('send', since(begin), info?.response ?? null));
    } catch (error) {
      stages.push(failed('send', since(begin), sendFault(error as SmtpError), wordsOf(error as SmtpError)));
    }
  }
}

/** The message as the real sender would write it. */
async function composed(from: string, mail: OutgoingMail) {
  const stream = createTransport({ streamTransport: true, buffer: true });
  const { id, to, subject, text, html } = mail;
  const [, domain = 'localhost'] = /@([\w.-]+)/.exec(from) ?? [];
  const info = await stream.sendMail({
    ...{ from, to: { name: '', address: to }, subject, text, html, messageId: `<${id}@${domain}>` },
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { from: sender, to: recipients } = info.envelope;
  return { message: info.message as Buffer, envelope: { from: sender, to: recipients } as SMTPConnection.Envelope };
}

function connectFault(code: string): Fault {
  if (code === 'ECONNREFUSED') return 'refused';
  return code === 'ETIMEDOUT' ? 'silent' : 'unreachable';
}

function greetingFault(error: SmtpError, isTlsFirst: boolean): { isTls: boolean; fault: Fault } {
  const said = `${error.code ?? ''} ${error.message} ${(error.cause as { code?: string } | undefined)?.code ?? ''}`;
  if (/SELF_SIGNED|UNABLE_TO|self-signed|unable to (get|verify)/i.test(said))
    return { isTls: true, fault: 'certificate-untrusted' };
  if (/ALTNAME|does not match certificate/i.test(said)) return { isTls: true, fault: 'certificate-name' };
  if (/CERT_HAS_EXPIRED|certificate has expired/i.test(said)) return { isTls: true, fault: 'certificate-expired' };
  if (/WRONG_VERSION_NUMBER|wrong version number|packet length too long/i.test(said))
    return { isTls: true, fault: 'plain-port' };
  if (/ETLS|SSL|TLS/.test(said)) return { isTls: true, fault: 'tls-failed' };
  if (error.responseCode !== undefined && error.responseCode >= 400) {
    return { isTls: false, fault: error.responseCode < 500 ? 'busy' : 'closed' };
  }
  const isSilent = /ETIMEDOUT|Greeting never|timeout/i.test(said);
  if (isTlsFirst) return { isTls: true, fault: isSilent ? 'plain-port' : 'tls-failed' };
  return { isTls: false, fault: isSilent ? 'no-greeting' : 'closed' };
}

function sendFault({ code, command = '', responseCode = 0 }: SmtpError): Fault {
  if (responseCode === 530 || code === 'EAUTH') return 'no-credentials';
  if (responseCode >= 400 && responseCode < 500) return 'busy';
  if (command.startsWith('MAIL')) return 'sender-rejected';
  if (command.startsWith('RCPT')) return 'recipient-rejected';
  return responseCode >= 500 ? 'message-rejected' : 'closed';
}

/** The server's own words, where there are any: whoever tests is the addressee. */
function wordsOf({ response, code, message }: SmtpError): string {
  return response ?? [code, message].filter(Boolean).join(': ');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

const since = (begin: number): number => Math.round(performance.now() - begin);
