import type { MailSender } from '../../domain/delivery/sender.ts';
import { atFirstUse } from '../../domain/kernel/cache.ts';
import type { SmtpTimes } from './smtp-pool.ts';
import type { SmtpService } from './smtp-service.ts';

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

/** Mail through an SMTP server. Its library loads with the first mail. */
export function smtpSender({ url, from, times }: SmtpOptions): SmtpSender {
  let opened: SmtpService | undefined;
  const service = atFirstUse(async () => {
    const { SmtpService } = await import('./smtp-service.ts');
    opened = new SmtpService(url, from, times);
    return opened;
  });
  return {
    kind: 'smtp',
    target: new URL(url).host,
    from,
    diagnose: async (mail) => (await service()).diagnose(mail),
    send: async (mail) => (await service()).send(mail),
    close: () => opened?.close(),
  };
}
