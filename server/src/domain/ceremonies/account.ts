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
  if (address.includes('\0') || !address.isWellFormed()) return null;
  const [user] = await rows<{ id: string }>(
    em,
    // Two look-ups by a key of their own, both made for whoever asks; an "or" is planned by how many users there are.
    `select id from (
       select id, 1 as choice from users where project_id = ? and email_key = ?
       union all select id, 2 from users where project_id = ? and user_name_key = ?
     ) as found order by choice limit 1`,
    [projectId, address, projectId, address],
  );
  return user?.id ?? null;
}

/** Whom an audit event is about: a user by id, whose traces can be erased; a stranger by no more than a hint. */
export function subjectOf(userId: string | null, address: string): { kind: string; id: string; name: string } {
  const hint = maskAddress(address);
  return userId ? { kind: 'user', id: userId, name: address } : { kind: 'address', id: hint, name: hint };
}
