import type { EntityManager } from '@mikro-orm/postgresql';
import { maskAddress } from '../delivery/mask.ts';
import { userNamed } from '../users/identity/named.ts';
import type { CheckedPage } from './callers.ts';

/** The account of a sign-in code, and the only mailbox that may receive it. */
export interface Decided {
  /** The user's id; null: no account has the address. */
  account: string | null;
  /** The login email on record; without an account, the address itself. */
  mailbox: string;
}

/**
 * The account of an address: the user with this login email, else the user with this userName (`users/identity/named.ts`). Known and unknown
 * addresses cost the same two lookups.
 *
 * @param address normalized by `addressKey`
 * @param organizationId of the sign-in; null: none
 */
export async function decidedFor(
  em: EntityManager,
  projectId: string,
  address: string,
  organizationId: string | null,
): Promise<Decided> {
  if (address.includes('\0') || !address.isWellFormed()) return { account: null, mailbox: address };
  const user = await userNamed(em, projectId, address, organizationId);
  return { account: user?.id ?? null, mailbox: user?.email ?? address };
}

/** Like {@link decidedFor}, in a sign-in of this page. */
export function decidedOn(em: EntityManager, { project, request }: CheckedPage, address: string): Promise<Decided> {
  return decidedFor(em, project.id, address, request?.organizationId ?? null);
}

/** The subject of an audit event: a user by id, so that erasure finds it; an unknown address masked. */
export function subjectOf(userId: string | null, address: string): { kind: string; id: string; name: string } {
  const hint = maskAddress(address);
  return userId ? { kind: 'user', id: userId, name: address } : { kind: 'address', id: hint, name: hint };
}
