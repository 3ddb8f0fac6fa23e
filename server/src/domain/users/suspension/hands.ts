/** Whether an account passes to another person (decisions/0300). Pure. */
import { isPast, secondsLater } from '../../kernel/clock.ts';
import { addressKey, isAddress, userNameKey } from '../login.ts';
import type { UserRecord } from '../user-record.ts';

/** The identifiers by which a directory, an admin or a sign-in names a person. */
export interface Identity {
  userNameKey: string;
  emailKey: string | null;
  phone: string | null;
  externalId: string | null;
}

/** Login identifiers that a user gets. */
export type NewLogin = Partial<Pick<Identity, 'userNameKey' | 'emailKey' | 'phone'>>;

/** The identity of a user at the deactivation. */
export interface HeldIdentity extends Identity {
  suspendedAt: Date;
}

/** For this long after the deactivation, a user may return as the same person under the held identity. */
export const heldSeconds = 30 * 24 * 3600;

/** One change of a user. */
export interface IdentityChange {
  before: UserRecord;
  after: UserRecord;
  /** Null: none is known, as for a user who was never active. */
  held: HeldIdentity | null;
  now: Date;
}

export function identityOf({
  userName,
  email,
  phone,
  externalId,
}: Pick<UserRecord, 'userName' | 'email' | 'phone' | 'externalId'>): Identity {
  return {
    userNameKey: userNameKey(userName),
    emailKey: email == null ? null : addressKey(email),
    phone: phone ?? null,
    externalId: externalId ?? null,
  };
}

/** The login identifiers that a change gives a user; null: it removes one. */
export function newLogin(before: UserRecord, after: UserRecord): NewLogin {
  const [was, is] = [identityOf(before), identityOf(after)];
  const names = ['userNameKey', 'emailKey', 'phone'] as const;
  return Object.fromEntries(names.flatMap((name) => (was[name] === is[name] ? [] : [[name, is[name]]])));
}

/**
 * Whether the change gives an inactive account to another person. Within {@link heldSeconds} of the deactivation only the
 * activation decides, against the held identity: a rename away and back is none. Afterwards, and without a held identity,
 * each change decides. A change of an active user is never one.
 */
export function changesHands({ before, after, held, now }: IdentityChange): boolean {
  if (before.active) return false;
  const [was, is] = [identityOf(before), identityOf(after)];
  if (held && !isPast(secondsLater(held.suspendedAt, heldSeconds), now)) return after.active && isOther(held, is);
  // The held identity is compared with both: a phone or `externalId` may have been removed in between.
  return isOther(was, is) || (held !== null && (isOther(held, was) || isOther(held, is)));
}

/**
 * Another login address, also none, another login phone or another `externalId`. A phone or `externalId` that is added
 * or removed is not another one. A userName that is no address signs in no one; it counts for a user without any login address,
 * whom nothing else names: passkeys work without one.
 */
export function isOther(was: Identity, is: Identity): boolean {
  const changes = (name: 'phone' | 'externalId') => was[name] !== null && is[name] !== null && was[name] !== is[name];
  const isRenamed = was.emailKey === null && is.emailKey === null && was.userNameKey !== is.userNameKey;
  const isMoved = was.emailKey !== is.emailKey || nameOf(was) !== nameOf(is);
  return isMoved || isRenamed || changes('phone') || changes('externalId');
}

/** The userName, if it is a login address. */
function nameOf({ userNameKey }: Identity): string | null {
  return isAddress(userNameKey) ? addressKey(userNameKey) : null;
}
