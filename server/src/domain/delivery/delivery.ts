import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import type { Queue } from '../kernel/queue.ts';
import type { Random } from '../kernel/random.ts';
import { deleteInBatches, execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import { atKey, type TenantKey } from '../projects/tenant.ts';
import { claim, lostMessages, whileClaimed } from './lease.ts';
import type { Locale } from './locale.ts';
import { Message, type MessageOutcome } from './message.entity.ts';
import { isCode, type MessageQueue, pauseSeconds, queueOf } from './queues.ts';
import { sampleOf, type TemplateName } from './samples.ts';
import { type MailSender, SendError, type SmsSender } from './sender.ts';
import { type MailLook, renderMail, renderSms } from './templates.ts';
import type { MessageContent } from './wording.ts';

/** Retention of rows of the log. */
const rememberSeconds = 30 * 24 * 3600;
/** Retention of texts in the dev mailbox. */
const mailboxSeconds = 24 * 3600;
const noticeTtlSeconds = 24 * 3600;

export type Channel = 'mail' | 'sms';

export interface NewMessage {
  projectId: string;
  channel: Channel;
  /** The address as typed, or the phone in E.164. */
  to: string;
  locale: Locale;
  content: MessageContent;
  /** The recipient now; checked again when the message is sent. */
  context: MessageContext;
  /** Not sent after this; absent: in a day. */
  expiresAt?: Date;
}
/** The recipient that a message was created for. Sealed with its text, never shown. */
export interface MessageContext {
  /** The user's id; null: no account had the address when the message was created. */
  account: string | null;
  /** The exact address, or number in E.164. The message goes there or nowhere. */
  mailbox: string;
  /** The setup link that the sign-in began with. */
  setupLinkId?: string;
  /** The sign-in of the code. */
  signInId?: string | undefined;
}

/** Format of the previous release. */
export interface PreviousContext {
  setupLinkId?: string;
  userId?: string;
}

/**
 * Decides whether a message may still be sent. Called when it is sent, so that the caller cannot observe the result.
 */
type RecipientCheck = (
  em: EntityManager,
  message: Message,
  context: MessageContext | PreviousContext,
) => Promise<Recipient>;
export type Recipient = { to: string } | { suppress: string };

export interface DeliveryDeps {
  db: Database;
  clock: Clock;
  random: Random;
  vault: Vault;
  queue: Queue;
  senders: { mail: MailSender | null; sms: SmsSender | null };
  check: RecipientCheck;
  /** Records the outcome of a message, in the transaction that settles it. */
  settled(em: EntityManager, message: Message, context: MessageContext | PreviousContext): void;
  /** Called after the commit with the number of messages that expired unsent, for metrics. */
  onExpired?(channel: Channel, count: number): void;
  /** The branding of a project's mails. */
  lookOf(projectId: string, locale: Locale): Promise<MailLook>;
}

/** An attempt that has begun. */
interface Attempt {
  /** Its number, from 1. */
  attempt: number;
  message: Message;
  content: MessageContent;
  context: MessageContext | PreviousContext;
  recipient: Recipient;
}

/** Filter of the log; an absent field does not filter. */
export interface LogFilter {
  channel?: Channel | undefined;
  state?: MessageOutcome | undefined;
  template?: string | undefined;
  /** The whole address or number. */
  recipient?: string | undefined;
}

/** A message as the dev mailbox shows it. */
export interface MailboxMessage {
  id: string;
  projectId: string;
  at: Date;
  channel: Channel;
  to: string;
  subject: string;
  text: string;
}

/** The outbox: a message is written in the caller's transaction, and sent after its commit. */
export class Delivery {
  constructor(private readonly deps: DeliveryDeps) {}

  get senders(): DeliveryDeps['senders'] {
    return this.deps.senders;
  }

  /** Whether the channel has a sender. */
  isAvailable(channel: Channel): boolean {
    return this.deps.senders[channel] !== null;
  }

  /** True if messages stay in the dev mailbox. */
  get hasMailbox(): boolean {
    return this.deps.senders.mail?.kind === 'mailbox' || this.deps.senders.sms?.kind === 'mailbox';
  }

  /** The reason why sign-in cannot work, for readiness; null if it can. */
  fault(): string | null {
    return this.isAvailable('mail') ? null : 'no mail server is set (SMTP_URL): one-time codes cannot be sent';
  }

  /** Puts a message into the outbox. Does the same work for every recipient, known or not. */
  async enqueue(em: EntityManager, message: NewMessage): Promise<void> {
    const { queueName, ...job } = this.write(em, message);
    await em.flush();
    await this.deps.queue.send(em, queueName, job);
  }

  /** Like {@link enqueue}, many notices at the cost of few statements. */
  async enqueueNotices(em: EntityManager, notices: readonly NewMessage[]): Promise<void> {
    const jobs = notices.map((notice) => this.write(em, notice)).map(({ queueName: _, ...job }) => job);
    await em.flush();
    await this.deps.queue.sendMany(em, 'delivery.notices' satisfies MessageQueue, jobs);
  }

  /** Stores the message with the caller's flush; returns its queue and the data of its job. */
  private write(
    em: EntityManager,
    message: NewMessage,
  ): { queueName: MessageQueue; projectId: string; messageId: string } {
    const { random, clock, vault } = this.deps;
    const id = random.id();
    const now = clock.now();
    const { account } = message.context;
    // A process of the previous release, which reads `userId`, may send it.
    const context = { ...message.context, ...(account !== null && { userId: account }) };
    const sealed = JSON.stringify({ content: message.content, context });
    em.persist(
      em.create(Message, {
        id,
        project: message.projectId,
        channel: message.channel,
        template: message.content.template,
        recipient: message.to,
        userId: account,
        sealedContent: vault.seal('message', id, sealed),
        locale: message.locale,
        createdAt: now,
        nextAttemptAt: now,
        expiresAt: message.expiresAt ?? secondsLater(now, noticeTtlSeconds),
      }),
    );
    const queueName = queueOf({ channel: message.channel, template: message.content.template });
    return { queueName, projectId: message.projectId, messageId: id };
  }

  /**
   * Sends one message that is pending and due, unless another process is sending it. Throws {@link SendError} if it
   * could not be sent yet: the next attempt is scheduled then, until the message expires.
   */
  async send(key: TenantKey): Promise<void> {
    const due = await this.deps.db.transaction((em) => this.begin(em, key));
    if (due === null) return;
    if ('expired' in due) return this.deps.onExpired?.(due.expired, 1);
    const { recipient } = due;
    // Does the same work if nothing is sent, so that the timing of other requests does not reveal it.
    const failure = await whileClaimed(this.deps, key, due.attempt, () =>
      this.dispatch(due.message, due.content, 'to' in recipient ? recipient.to : null),
    );
    await this.deps.db.transaction((em) => this.end(em, key, due, failure));
    if (failure && !failure.permanent) throw failure;
  }

  /** Enqueues jobs again for due messages that have lost theirs, codes first. */
  async recover(): Promise<void> {
    const { clock, db, queue } = this.deps;
    await db.transaction(async (em) => {
      for (const { key, queueName } of await lostMessages(em, clock.now())) {
        await queue.send(em, queueName, { projectId: key.project.id, messageId: key.id });
      }
    });
  }

  private async begin(em: EntityManager, key: TenantKey): Promise<Attempt | { expired: Channel } | null> {
    const now = this.deps.clock.now();
    const attempt = await claim(em, key, now);
    if (attempt === null) return null;
    const message = await em.findOneOrFail(Message, atKey(key));
    if (isPast(message.expiresAt, now)) {
      message.expired = true;
      settle(message, 'failed', message.note ?? 'expired before it could be sent');
      return { expired: message.channel };
    }
    const { content, context } = this.open(message);
    return { attempt, message, content, context, recipient: await this.deps.check(em, message, context) };
  }

  private async end(
    em: EntityManager,
    key: TenantKey,
    { attempt, context, recipient }: Attempt,
    failure: SendError | null,
  ): Promise<void> {
    const { clock, queue } = this.deps;
    const message = await em.findOne(Message, { ...atKey(key), state: 'pending', attempts: attempt });
    if (!message) return;
    if ('suppress' in recipient) settle(message, 'suppressed', recipient.suppress);
    else if (!failure) {
      message.recipient = recipient.to;
      message.sentAt = clock.now();
      settle(message, 'sent', null, { keepContent: this.keepsContent(message.channel) });
    } else if (failure.permanent) settle(message, 'failed', failure.message);
    else {
      const startAfter = secondsLater(clock.now(), pauseSeconds(message));
      Object.assign(message, { note: failure.message, nextAttemptAt: startAfter });
      await em.flush();
      await queue.send(em, queueOf(message), { projectId: key.project.id, messageId: key.id }, { startAfter });
    }
    this.deps.settled(em, message, context);
  }

  /** Messages of all projects in the dev mailbox, newest first, with their texts. The caller must authorize. */
  async mailbox(page: PageRequest): Promise<Page<MailboxMessage>> {
    if (!this.hasMailbox) return { items: [], hasNextPage: false };
    const where = { state: 'sent' as const, sealedContent: { $ne: null } };
    const { items, hasNextPage } = await pageOf(this.deps.db.reader(), Message, where, page);
    return { hasNextPage, items: await Promise.all(items.map((message) => this.readable(message))) };
  }

  /** A project's messages and their outcomes, newest first, without texts. */
  log(em: EntityManager, projectId: string, filter: LogFilter, page: PageRequest): Promise<Page<Message>> {
    const { recipient, state, ...rest } = filter;
    const exact = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const to = recipient === undefined ? {} : { recipient: { $in: [recipient, recipient.toLowerCase()] } };
    const outcome =
      state === undefined
        ? {}
        : state === 'expired'
          ? { state: 'failed' as const, expired: true }
          : { state, expired: false };
    return pageOf(em, Message, { project: projectId, ...exact, ...outcome, ...to }, page);
  }

  /** Joins: writes a test into the log. The dev mailbox shows it. */
  async recordTest(
    em: EntityManager,
    id: string,
    test: { projectId: string; channel: Channel; to: string; template: TemplateName; locale: Locale; app: string },
    fault: string | null,
  ): Promise<void> {
    const { clock, vault } = this.deps;
    const now = clock.now();
    const content = sampleOf(test.template, test.app, now);
    const isKept = fault === null && this.keepsContent(test.channel);
    em.persist(
      em.create(Message, {
        id,
        project: test.projectId,
        channel: test.channel,
        template: test.template,
        recipient: test.to,
        sealedContent: isKept ? vault.seal('message', id, JSON.stringify({ content, context: {} })) : null,
        locale: test.locale,
        state: fault === null ? 'sent' : 'failed',
        attempts: 1,
        note: fault,
        createdAt: now,
        nextAttemptAt: null,
        sentAt: fault === null ? now : null,
        expiresAt: now,
      }),
    );
    await em.flush();
  }

  /** Ends expired messages, clears the contents of settled ones, and deletes old rows. */
  async sweep(): Promise<void> {
    const { clock, db, onExpired } = this.deps;
    const now = clock.now();
    const expired = await db.transaction(async (em) => {
      const ended = await query(
        em,
        sql<{ channel: Channel; count: number }>`
          with ended as (
            update messages set state = 'failed', expired = true, sealed_content = null, next_attempt_at = null,
              note = coalesce(note, 'expired before it could be sent')
            where state = 'pending' and expires_at <= ${now} and (next_attempt_at is null or next_attempt_at <= ${now})
            returning channel)
          select channel, count(*)::int as count from ended group by channel`,
      );
      await execute(
        em,
        sql`update messages set sealed_content = null
          where sealed_content is not null and state <> 'pending'
            and created_at <= ${secondsLater(now, -mailboxSeconds)}`,
      );
      return ended;
    });
    await deleteInBatches(db.alone, 'messages', sql`created_at <= ${secondsLater(now, -rememberSeconds)}`);
    for (const { channel, count } of expired) onExpired?.(channel, count);
  }

  private async readable(message: Message): Promise<MailboxMessage> {
    const { content } = this.open(message);
    const locale = message.locale as Locale;
    const { subject, text } =
      message.channel === 'mail'
        ? renderMail(content, locale, await this.deps.lookOf(message.project.id, locale))
        : { subject: '', text: renderSms(content, locale) };
    return {
      id: message.id,
      projectId: message.project.id,
      at: message.sentAt ?? message.createdAt,
      channel: message.channel,
      to: message.recipient,
      subject,
      text,
    };
  }

  private open(message: Message): { content: MessageContent; context: MessageContext | PreviousContext } {
    return JSON.parse(this.deps.vault.open('message', message.id, message.sealedContent as Uint8Array).toString());
  }

  private keepsContent(channel: Channel): boolean {
    return this.deps.senders[channel]?.kind === 'mailbox';
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
        if (to !== null) await sms.send({ to, text });
      }
      return null;
    } catch (error) {
      if (error instanceof SendError) return error;
      throw error;
    }
  }
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
