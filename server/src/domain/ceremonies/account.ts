import type { EntityManager } from '@mikro-orm/postgresql';
import { rows } from '../kernel/database.ts';
import { maskAddress } from './mask.ts';

/**
 * The id of the user whose login address this is, by e-mail before userName; null where there is none. As little as
 * that, so that it takes as long for an address that nobody has.
 *
 * @param address as addresses are compared (`addressKey`)
 */
export async function accountOf(em: EntityManager, projectId: string, address: string): Promise<string | null> {
  return (await decidedFor(em, projectId, address)).account;
}

/**
 * Whom a code for this address is for: the account and its login e-mail; without an account, the address itself.
 *
 * @param address as addresses are compared (`addressKey`)
 */
export async function decidedFor(
  em: EntityManager,
  projectId: string,
  address: string,
): Promise<{ account: string | null; mailbox: string }> {
  if (address.includes('\0') || !address.isWellFormed()) return { account: null, mailbox: address };
  const [user] = await rows<{ id: string; email: string | null }>(
    em,
    // Two look-ups by a key of their own, both made for whoever asks; an "or" is planned by how many users there are.
    `select id, email from (
       select id, email, 1 as choice from users where project_id = ? and email_key = ?
       union all select id, email, 2 from users where project_id = ? and user_name_key = ?
     ) as found order by choice limit 1`,
    [projectId, address, projectId, address],
  );
  return { account: user?.id ?? null, mailbox: user?.email ?? address };
}

/** Whom an audit event is about: a user by id, whose traces can be erased; a stranger by no more than a hint. */
export function subjectOf(userId: string | null, address: string): { kind: string; id: string; name: string } {
  const hint = maskAddress(address);
  return userId ? { kind: 'user', id: userId, name: address } : { kind: 'address', id: hint, name: hint };
}
