import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { command, noAnswer, type SessionOptions } from './smtp-session.ts';

/** Limits of an attempt, in milliseconds. */
export interface SmtpTimes {
  /** Name lookup, connection and TLS. */
  connect: number;
  /** The greeting, and each of EHLO, STARTTLS and authentication. */
  command: number;
  /** Until an idle connection has shown that it still works. */
  check: number;
  /** MAIL, RCPT and DATA together. */
  envelope: number;
  /** From the start of the body until the server has accepted the message. */
  accept: number;
  /** The whole attempt, the wait for a connection included. */
  attempt: number;
  /** An unused connection is closed after this: firewalls and balancers drop it silently. */
  idle: number;
}

/** A mail as sent. */
export interface RawMail {
  envelope: { from: string; to: string[] };
  message: Buffer;
}

/** Some servers close a connection after a number of mails, in the middle of one: close it earlier. */
const mailsPerConnection = 100;
/** A connection that was used within this time is not checked before its next use. */
const freshMs = 1_000;

/** A limit in milliseconds, within that of the attempt. */
type Within = (limitMs: number) => number;

/** An authenticated connection. */
interface Session {
  connection: SMTPConnection;
  mails: number;
  usedAt: number;
  /** While it is idle. */
  timer?: NodeJS.Timeout | undefined;
}

/** Sends mails over a few connections to one server. A connection that fails in any way is not used again. */
export class SmtpPool {
  readonly #options: SessionOptions;
  readonly #times: SmtpTimes;
  readonly #idle: Session[] = [];
  readonly #active = new Set<Session>();
  readonly #waiting: { go(): void; fail(): void }[] = [];
  #free: number;

  constructor(options: SessionOptions, connections: number, times: SmtpTimes) {
    this.#options = options;
    this.#free = connections;
    this.#times = times;
  }

  /** Resolves when the server has accepted the mail; rejects with `SmtpError`. Waits for a connection. */
  async send(mail: RawMail): Promise<void> {
    const endsAt = performance.now() + this.#times.attempt;
    const within: Within = (limitMs) => Math.max(1, Math.min(limitMs, endsAt - performance.now()));
    await this.#turn(within(this.#times.attempt));
    try {
      const session = (await this.#reused(within)) ?? (await this.#opened(within));
      await this.#transmit(session, mail, within);
    } finally {
      const next = this.#waiting.shift();
      if (next) next.go();
      else this.#free += 1;
    }
  }

  /** Resolves when a connection is free, in the order of the calls. */
  async #turn(limitMs: number): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const turn = {
        go: (): void => {
          clearTimeout(timer);
          resolve();
        },
        fail: (): void => {
          clearTimeout(timer);
          reject(noAnswer());
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        turn.fail();
      }, limitMs);
      this.#waiting.push(turn);
    });
  }

  /** Ends all connections; mails in progress and waiting ones fail. */
  close(): void {
    for (const turn of this.#waiting.splice(0)) turn.fail();
    for (const session of [...this.#idle.splice(0), ...this.#active]) end(session);
  }

  /** An idle connection that works; undefined: none. */
  async #reused(within: Within): Promise<Session | undefined> {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) {
      clearTimeout(session.timer);
      const { connection } = session;
      if (performance.now() - session.usedAt < freshMs) return session;
      this.#active.add(session);
      try {
        await command(connection, within(this.#times.check), (done) => connection.reset(done));
        return session;
      } catch {
        this.#drop(session);
        // The others were dropped by the same firewall or server.
        for (const other of this.#idle.splice(0)) end(other);
      }
    }
    return undefined;
  }

  async #opened(within: Within): Promise<Session> {
    const { connect, command: each } = this.#times;
    const connection = new SMTPConnection({
      ...this.#options,
      ...{ connectionTimeout: connect, dnsTimeout: connect, greetingTimeout: each },
      // Ours are shorter.
      socketTimeout: connect + 4 * each + this.#times.accept,
    });
    const session: Session = { connection, mails: 0, usedAt: performance.now() };
    this.#active.add(session);
    // The server may close it while it is idle.
    connection.once('end', () => this.#forget(session));
    try {
      // The greeting, EHLO, STARTTLS and EHLO again.
      await command(connection, within(connect + 4 * each), (done) => connection.connect(done));
      const { auth } = this.#options;
      if (auth?.user) {
        const credentials = { user: auth.user, pass: auth.pass };
        await command(connection, within(each), (done) => connection.login({ credentials }, done));
      }
      return session;
    } catch (error) {
      this.#drop(session);
      throw error;
    }
  }

  async #transmit(session: Session, { envelope, message }: RawMail, within: Within): Promise<void> {
    const { connection } = session;
    this.#active.add(session);
    try {
      await command(connection, within(this.#times.envelope), (done, extend) => {
        const body = new Readable({
          // Read once the server has accepted DATA.
          read: () => {
            extend(within(this.#times.accept));
            body.push(message);
            body.push(null);
          },
        });
        connection.send(envelope, body, done);
      });
    } catch (error) {
      this.#drop(session);
      throw error;
    }
    this.#active.delete(session);
    session.mails += 1;
    session.usedAt = performance.now();
    if (session.mails >= mailsPerConnection) return end(session);
    this.#idle.push(session);
    session.timer = setTimeout(() => {
      this.#forget(session);
      end(session);
    }, this.#times.idle).unref();
  }

  #drop(session: Session): void {
    this.#active.delete(session);
    end(session);
  }

  #forget(session: Session): void {
    const at = this.#idle.indexOf(session);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

/** Without QUIT, which a server that is gone does not answer. */
function end({ connection, timer }: Session): void {
  clearTimeout(timer);
  // Rejects a command in progress.
  connection.close();
}
