import type { EntityManager } from '@mikro-orm/postgresql';
import { maskAddress } from '../delivery/mask.ts';
import { query, sql } from '../kernel/sql.ts';
import { addressKeys } from '../users/login.ts';

/** The account of a sign-in code, and the only mailbox that may receive it. */
export interface Decided {
  /** The user's id; null: no account has the address. */
  account: string | null;
  /** The login email on record; without an account, the address itself. */
  mailbox: string;
}

/**
 * The account of an address: the user with this login email, else the user with this userName. Known and unknown
 * addresses cost the same two lookups.
 *
 * @param address normalized by `addressKey`
 */
export async function decidedFor(em: EntityManager, projectId: string, address: string): Promise<Decided> {
  if (address.includes('\0') || !address.isWellFormed()) return { account: null, mailbox: address };
  const keys = addressKeys(address);
  const [user] = await query(
    em,
    // Two index lookups: the plan of an `or` depends on the number of users.
    sql<{ id: string; email: string | null }>`
      select id, email from (
        select id, email, 1 as choice, email_key as key from users
          where project_id = ${projectId} and email_key = any(${keys}::text[])
        union all select id, email, 2, user_name_key from users
          where project_id = ${projectId} and user_name_key = any(${keys}::text[])
      ) as found order by choice, key <> ${address}::text limit 1`,
    { prepare: 'account.decided-for' },
  );
  return { account: user?.id ?? null, mailbox: user?.email ?? address };
}

/** The subject of an audit event: a user by id, so that erasure finds it; an unknown address masked. */
export function subjectOf(userId: string | null, address: string): { kind: string; id: string; name: string } {
  const hint = maskAddress(address);
  return userId ? { kind: 'user', id: userId, name: address } : { kind: 'address', id: hint, name: hint };
}
