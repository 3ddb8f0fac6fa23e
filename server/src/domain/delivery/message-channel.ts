import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { atKey, keyIn, type TenantKey } from '../projects/tenant.ts';
import type { Claimed } from '../relay/channel.ts';
import { RowChannel } from '../relay/row-channel.ts';
import { isCode, longestRetries, messageLanes, retriesOf } from './lanes.ts';
import type { Locale } from './locale.ts';
import { Message } from './message.entity.ts';
import type { MessageContext, Recipient, RecipientCheck } from './recipient.ts';
import { type MailSender, SendError, type SmsSender } from './sender.ts';
import { type MailLook, renderMail, renderSms } from './templates.ts';
import type { MessageContent } from './wording.ts';

/** A claim that is not renewed for this long ends. `next_attempt_at` holds it. */
const leaseSeconds = 60;
const renewMs = 20_000;

export interface DeliveryDeps {
  db: Database;
  clock: Clock;
  random: Random;
  vault: Vault;
  senders: { mail: MailSender | null; sms: SmsSender | null };
  check: RecipientCheck;
  /** Records the outcome of a message, in the transaction that settles it. */
  settled(em: EntityManager, message: Message, context: MessageContext): void;
  /** Called after the commit with the number of messages that expired unsent, for metrics. */
  onExpired?(channel: Message['channel'], count: number): void;
  /** The branding of a project's mails. */
  lookOf(projectId: string, locale: Locale): Promise<MailLook>;
}

/** An attempt that has begun. */
interface Attempt {
  message: Message;
  content: MessageContent;
  context: MessageContext;
  recipient: Recipient;
}

/** Sends the messages of the outbox, by mail and SMS. */
export class MessageChannel extends RowChannel<DeliveryDeps> {
  readonly lanes = messageLanes;
  readonly table = 'messages';
  readonly lane = sql`t.lane`;
  /** The number of the attempt. */
  readonly token = sql`t.attempts`;
  protected readonly leaseSeconds = leaseSeconds;
  protected readonly retries = longestRetries;
  protected readonly attempts = sql`t.attempts`;

  override claim(now: Date) {
    return sql`attempts = t.attempts + 1, ${super.claim(now)}`;
  }

  /** Throws {@link SendError} if it could not be sent yet: the next attempt is scheduled then, until the message expires. */
  async deliver({ project, id, token }: Claimed): Promise<void> {
    const { db, onExpired } = this.deps;
    const [key, attempt] = [keyIn(project, id), Number(token)];
    const begun = await db.transaction((em) => this.begin(em, key, attempt));
    if (begun === null) return;
    if ('expired' in begun) return onExpired?.(begun.expired, 1);
    const { recipient } = begun;
    // Does the same work if nothing is sent, so that the timing of other requests does not reveal it.
    const failure = await this.whileClaimed(key, attempt, () =>
      this.dispatch(begun.message, begun.content, 'to' in recipient ? recipient.to : null),
    );
    await db.transaction((em) => this.end(em, key, attempt, begun, failure));
    if (failure && !failure.permanent) throw failure;
  }

  private async begin(
    em: EntityManager,
    key: TenantKey,
    attempts: number,
  ): Promise<Attempt | { expired: Message['channel'] } | null> {
    const message = await em.findOne(Message, { ...atKey(key), state: 'pending', attempts });
    if (!message) return null;
    if (isPast(message.expiresAt, this.deps.clock.now())) {
      message.expired = true;
      settle(message, 'failed', message.note ?? 'expired before it could be sent');
      return { expired: message.channel };
    }
    const { content, context } = openMessage(this.deps, message);
    return { message, content, context, recipient: await this.deps.check(em, message, context) };
  }

  private async end(
    em: EntityManager,
    key: TenantKey,
    attempts: number,
    { context, recipient }: Attempt,
    failure: SendError | null,
  ): Promise<void> {
    const { clock, random, senders, settled } = this.deps;
    const message = await em.findOne(Message, { ...atKey(key), state: 'pending', attempts });
    if (!message) return;
    if ('suppress' in recipient) settle(message, 'suppressed', recipient.suppress);
    else if (!failure) {
      message.recipient = recipient.to;
      message.sentAt = clock.now();
      settle(message, 'sent', null, { keepContent: senders[message.channel]?.kind === 'mailbox' });
    } else if (failure.permanent) settle(message, 'failed', failure.message);
    else {
      const nextAttemptAt = retriesOf(message).next(clock.now(), message.attempts, random);
      Object.assign(message, { note: failure.message, nextAttemptAt });
    }
    settled(em, message, context);
  }

  /** Renews the claim while `work` runs, so that a slow mail server does not get the message a second time. */
  private async whileClaimed<T>(key: TenantKey, attempt: number, work: () => Promise<T>): Promise<T> {
    const { db, clock } = this.deps;
    const renew = () =>
      execute(
        db.alone,
        sql`update messages set next_attempt_at = ${secondsLater(clock.now(), leaseSeconds)}
            where project_id = ${key.project.id} and id = ${key.id} and state = 'pending' and attempts = ${attempt}`,
      );
    // If the database is unavailable, the claim may end: at worst, the message arrives twice.
    const timer = setInterval(() => void renew().catch(() => undefined), renewMs).unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Renders the message, and sends it if it has a recipient. */
  private async dispatch(message: Message, content: MessageContent, to: string | null): Promise<SendError | null> {
    const { mail, sms } = this.deps.senders;
    const locale = message.locale as Locale;
    try {
      if (message.channel === 'mail') {
        if (!mail) return new SendError('no mail server is set', true);
        const look = await this.deps.lookOf(message.project.id, locale);
        const composed = renderMail(content, locale, look);
        if (to !== null) await mail.send({ ...composed, to, id: message.id, isUrgent: isCode(message) });
      } else {
        if (!sms) return new SendError('no SMS gateway is set', true);
        const text = renderSms(content, locale);
        if (to !== null) await sms.send({ to, text, id: message.id });
      }
      return null;
    } catch (error) {
      if (error instanceof SendError) return error;
      throw error;
    }
  }
}

/** The sealed content of a message that has not been cleared. */
export function openMessage(
  { vault }: Pick<DeliveryDeps, 'vault'>,
  { id, sealedContent }: Message,
): { content: MessageContent; context: MessageContext } {
  return JSON.parse(vault.open('message', id, sealedContent as Uint8Array).toString());
}

function settle(
  message: Message,
  state: 'sent' | 'suppressed' | 'failed',
  note: string | null,
  { keepContent = false } = {},
): void {
  message.state = state;
  message.note = note;
  message.nextAttemptAt = null;
  if (!keepContent) message.sealedContent = null;
}
