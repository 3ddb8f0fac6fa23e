import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { codeTemplates } from './wording.ts';

/** Users, and all their current addresses and numbers. */
interface Recipients {
  projectId: string;
  ids: readonly string[];
  addresses: readonly string[];
}

/** Selects the messages that were created for these users or went to these addresses, for the person export. */
export function messagesTo(recipients: Recipients): Fragment {
  return sql`
    select m.id, m.user_id as "userId", m.channel, m.template, m.recipient, m.locale,
      case when m.expired then 'expired' else m.state end as state, m.note, m.created_at as "createdAt",
      m.sent_at as "sentAt"
    from messages m
    where ${areTo(recipients)}`;
}

/** SQL: deletes the messages that were created for these users or went to these addresses. */
export function deletedMessagesTo(recipients: Recipients): Fragment {
  return sql`delete from messages m where ${areTo(recipients)}`;
}

/** Suppresses messages of a user that wait with a code: the account has passed to another person. Joins. */
export async function endPendingCodes(em: EntityManager, user: TenantKey): Promise<void> {
  await execute(
    em,
    sql`update messages set state = 'suppressed', note = 'the account passed to another person', sealed_content = null,
        next_attempt_at = null
      where project_id = ${user.project.id} and user_id = ${user.id} and state = 'pending'
        and template = any(${codeTemplates}::text[])`,
  );
}

/** Messages to an earlier address are found by the user's id, messages from before the account existed by the address. */
function areTo({ projectId, ids, addresses }: Recipients): Fragment {
  return sql`m.project_id = ${projectId}
    and (m.user_id = any(${ids}::uuid[]) or m.recipient = any(${addresses}::text[]))`;
}
