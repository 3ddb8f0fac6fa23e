import { type Fragment, sql } from '../kernel/sql.ts';

/** Selects the messages to any of these addresses and numbers, for the person export. */
export function messagesTo(projectId: string, recipients: readonly string[]): Fragment {
  return sql`
    select m.id, m.channel, m.template, m.recipient, m.locale,
      case when m.expired then 'expired' else m.state end as state, m.note, m.created_at as "createdAt",
      m.sent_at as "sentAt"
    from messages m
    where m.project_id = ${projectId} and m.recipient = any(${recipients}::text[])`;
}

/** SQL: deletes the messages to any of these addresses and numbers. */
export function deletedMessagesTo(projectId: string, recipients: readonly string[]): Fragment {
  return sql`delete from messages where project_id = ${projectId} and recipient = any(${recipients}::text[])`;
}
