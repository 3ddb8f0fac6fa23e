import { createTransport } from 'nodemailer';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';

export type SessionOptions = SMTPConnection.Options & { auth?: SMTPConnection.Credentials };

export interface SmtpError extends Error {
  code?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

/** The options in an SMTP URL, parsed by nodemailer as for real mails. */
export function sessionOptions(url: string): SessionOptions {
  return (createTransport(url).transporter as unknown as { options: SessionOptions }).options;
}

type Done<T> = (error?: SmtpError | null, value?: T) => void;

/**
 * Runs one command. Rejects also for errors and closed connections that the session reports as events, and with
 * `ETIMEDOUT` after `limitMs`; `extend` starts that time again.
 */
export function command<T = unknown>(
  session: SMTPConnection,
  limitMs: number,
  run: (done: Done<T>, extend: (limitMs: number) => void) => void,
): Promise<T | undefined> {
  // Without a listener, the error of an idle connection would end the process.
  if (session.listenerCount('error') === 0) session.on('error', () => undefined);
  return new Promise<T | undefined>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isSettled = false;
    const settle = (act: () => void): void => {
      isSettled = true;
      clearTimeout(timer);
      session.off('error', fail);
      session.off('end', ended);
      act();
    };
    const fail = (error: SmtpError): void => settle(() => reject(error));
    const ended = (): void => fail(Object.assign(new Error('Connection closed'), { code: 'ECONNECTION' }));
    const extend = (ms: number): void => {
      clearTimeout(timer);
      if (!isSettled) timer = setTimeout(() => fail(noAnswer()), ms);
    };
    extend(limitMs);
    session.on('error', fail);
    session.on('end', ended);
    run((error, value) => (error ? fail(error) : settle(() => resolve(value))), extend);
  });
}

export const noAnswer = (): SmtpError => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });

/** The result of `work`; rejects with `ETIMEDOUT` after `limitMs`. */
export function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(noAnswer()), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
