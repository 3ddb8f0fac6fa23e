import { createTransport } from 'nodemailer';
import type { OutgoingMail } from '../../domain/delivery/sender.ts';
import type { RawMail } from './smtp-pool.ts';

/** The message as sent, and its envelope. */
export async function composed(from: string, mail: OutgoingMail): Promise<RawMail> {
  const stream = createTransport({ streamTransport: true, buffer: true });
  const { id, to, subject, text, html } = mail;
  const info = await stream.sendMail({
    // An object: no character in the address can add a recipient.
    ...{ from, to: { name: '', address: to }, subject, text, html, messageId: `<${id}@${domainOf(from)}>` },
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    // No message may read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { from: sender, to: recipients } = info.envelope;
  return { message: info.message as Buffer, envelope: { from: sender || '', to: recipients } };
}

function domainOf(from: string): string {
  return /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
}
