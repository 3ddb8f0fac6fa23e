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

/** Runs one command. Rejects also for errors and closed connections that the session reports as events. */
export function command<T = unknown>(
  session: SMTPConnection,
  limitMs: number,
  run: (done: Done<T>) => void,
): Promise<T | undefined> {
  return within(
    new Promise<T | undefined>((resolve, reject) => {
      session.removeAllListeners('error');
      session.on('error', reject);
      session.once('end', () => reject(Object.assign(new Error('Connection closed'), { code: 'ECONNECTION' })));
      run((error, value) => (error ? reject(error) : resolve(value)));
    }),
    limitMs,
  );
}

/** The result of `work`; rejects with `ETIMEDOUT` after `limitMs`. */
export function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
