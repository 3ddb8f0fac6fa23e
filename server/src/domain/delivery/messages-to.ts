import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';

/** Selects the messages to any of these addresses and numbers, for the person export. */
export function messagesTo(projectId: string, recipients: readonly string[]): Fragment {
  return sql`
    select m.id, m.channel, m.template, m.recipient, m.locale, m.state, m.note, m.created_at as "createdAt",
      m.sent_at as "sentAt"
    from messages m
    where m.project_id = ${projectId} and m.recipient = any(${recipients}::text[])`;
}

export function deleteMessagesTo(em: EntityManager, projectId: string, recipients: readonly string[]): Promise<number> {
  return execute(
    em,
    sql`delete from messages where project_id = ${projectId} and recipient = any(${recipients}::text[])`,
  );
}
