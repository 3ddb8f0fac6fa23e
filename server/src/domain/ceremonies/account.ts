import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';
import { maskAddress } from './mask.ts';

/** Whose sign-in code this is, and where alone it may go. */
export interface Decided {
  /** The user's id; null: no account has the address. */
  account: string | null;
  /** The login e-mail on record; without an account, the address itself. */
  mailbox: string;
}

/**
 * Whom a code for this address is for: the user with this login e-mail, else the one with this userName. As little as that,
 * so that an unknown address takes as long.
 *
 * @param address as addresses are compared (`addressKey`)
 */
export async function decidedFor(em: EntityManager, projectId: string, address: string): Promise<Decided> {
  if (address.includes('\0') || !address.isWellFormed()) return { account: null, mailbox: address };
  const [user] = await query(
    em,
    // Two lookups by a key each; an `or` is planned by the number of users.
    sql<{ id: string; email: string | null }>`
      select id, email from (
        select id, email, 1 as choice from users where project_id = ${projectId} and email_key = ${address}
        union all select id, email, 2 from users where project_id = ${projectId} and user_name_key = ${address}
      ) as found order by choice limit 1`,
    { prepare: 'account.decided-for' },
  );
  return { account: user?.id ?? null, mailbox: user?.email ?? address };
}

/** The subject of an audit event: a user by id, whose traces can be erased; an unknown address by a hint. */
export function subjectOf(userId: string | null, address: string): { kind: string; id: string; name: string } {
  const hint = maskAddress(address);
  return userId ? { kind: 'user', id: userId, name: address } : { kind: 'address', id: hint, name: hint };
}
