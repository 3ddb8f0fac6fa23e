import type { EntityManager } from '@mikro-orm/postgresql';
import { retainedFrom } from '../audit/retention-time.ts';
import { secondsLater } from '../kernel/clock.ts';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { deleteInBatches, execute, query, sql } from '../kernel/sql.ts';
import { Relay } from '../relay/relay.ts';
import { laneOf } from './lanes.ts';
import type { Locale } from './locale.ts';
import { Message, type MessageOutcome } from './message.entity.ts';
import { type DeliveryDeps, MessageChannel, openMessage } from './message-channel.ts';
import type { MessageContext } from './recipient.ts';
import { sampleOf, type TemplateName } from './samples.ts';
import { renderMail, renderSms } from './templates.ts';
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
  readonly relay: Relay;

  constructor(private readonly deps: DeliveryDeps) {
    this.relay = new Relay({ ...deps, channel: new MessageChannel(deps) });
  }

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
    this.write(em, message);
    await em.flush();
  }

  /** Like {@link enqueue}, many notices at the cost of few statements. */
  async enqueueNotices(em: EntityManager, notices: readonly NewMessage[]): Promise<void> {
    for (const notice of notices) this.write(em, notice);
    await em.flush();
  }

  /** Stores the message with the caller's flush. */
  private write(em: EntityManager, message: NewMessage): void {
    this.deps.db.afterCommit(em, this.relay.wake);
    const { random, clock, vault } = this.deps;
    const id = random.id();
    const now = clock.now();
    const { content, context } = message;
    const sealed = JSON.stringify({ content, context });
    em.persist(
      em.create(Message, {
        id,
        project: message.projectId,
        channel: message.channel,
        template: content.template,
        lane: laneOf({ channel: message.channel, template: content.template }),
        recipient: message.to,
        userId: context.account,
        sealedContent: vault.seal('message', id, sealed),
        locale: message.locale,
        createdAt: now,
        nextAttemptAt: now,
        expiresAt: message.expiresAt ?? secondsLater(now, noticeTtlSeconds),
      }),
    );
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
    await deleteInBatches(db.alone, 'messages', sql`created_at <= ${await retainedFrom(db, clock, rememberSeconds)}`);
    for (const { channel, count } of expired) onExpired?.(channel, count);
  }

  private async readable(message: Message): Promise<MailboxMessage> {
    const { content } = openMessage(this.deps, message);
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

  private keepsContent(channel: Channel): boolean {
    return this.deps.senders[channel]?.kind === 'mailbox';
  }
}
