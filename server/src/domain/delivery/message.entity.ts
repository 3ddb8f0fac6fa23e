import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const messageStates = ['pending', 'sent', 'suppressed', 'failed'] as const;
/** States as the log shows them: a message that expired unsent is stored as failed, with `expired`. */
export const messageOutcomes = [...messageStates, 'expired'] as const;
export type MessageOutcome = (typeof messageOutcomes)[number];

const schema = defineEntity({
  name: 'Message',
  tableName: 'messages',
  properties: {
    project: tenant,
    id: key(),
    channel: p.text().$type<'mail' | 'sms'>(),
    /** The template, e.g. `sign-in-code`. */
    template: p.text(),
    /** Index in `messageLanes`. */
    lane: p.smallint().default(1),
    recipient: p.text(),
    /** The user it was created for; null if no account had the address. */
    userId: p.uuid().nullable(),
    /** The template's values as JSON, sealed for this row. Deleted when sent, except in the dev mailbox. */
    sealedContent: p.blob().nullable(),
    locale: p.text(),
    state: p.enum(messageStates).default('pending'),
    /** Failed because it expired before a server accepted it. */
    expired: p.boolean().default(false),
    attempts: p.integer().default(0),
    /** The reason why the last attempt failed or the message was suppressed; never its content. */
    note: p.text().nullable(),
    createdAt: instant(),
    /** While pending: when it may be attempted, or until when a process sends it. */
    nextAttemptAt: instant().nullable(),
    sentAt: instant().nullable(),
    /** Not sent after this; its code has expired. */
    expiresAt: instant(),
  },
  indexes: [
    { name: 'messages_project_id_state_id_index', properties: ['project', 'state', 'id'] },
    { name: 'messages_project_id_recipient_index', properties: ['project', 'recipient'] },
    { name: 'messages_project_id_user_id_index', properties: ['project', 'userId'] },
    {
      name: 'messages_turns_index',
      expression: `create index "messages_turns_index" on "messages" ("lane", "project_id", "next_attempt_at") where ("state" = 'pending')`,
    },
    {
      name: 'messages_pending_index',
      expression: `create index "messages_pending_index" on "messages" ("next_attempt_at") where ("state" = 'pending')`,
    },
  ],
});

/** A mail or SMS in the outbox. */
export class Message extends schema.class {}
schema.setClass(Message);

export function outcomeOf({ state, expired }: Pick<Message, 'state' | 'expired'>): MessageOutcome {
  return expired ? 'expired' : state;
}
