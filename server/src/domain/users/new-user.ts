import { refuse } from '../kernel/problem.ts';
import { isAddress, isE164 } from './login.ts';
import { nameLine } from './profile-edit.ts';
import type { UserValues } from './user-record.ts';

/** A user that an admin adds; null means absent. */
export interface NewUser {
  /** Login address. Absent: the userName, if that is an address. */
  email?: string | null | undefined;
  /** Absent: the e-mail address. */
  userName?: string | null | undefined;
  givenName?: string | null | undefined;
  familyName?: string | null | undefined;
  /** E.164. */
  phone?: string | null | undefined;
}

/** The values of a new user. Refuses `invalid`, naming the field. */
export function newUserValues(wanted: NewUser): UserValues {
  const email = nameLine('email', wanted.email ?? null);
  const userName = nameLine('userName', wanted.userName ?? null) ?? email;
  const phone = nameLine('phone', wanted.phone ?? null);
  if (email !== null && !isAddress(email)) invalid('email', 'must be an e-mail address');
  if (userName === null) invalid('email', 'or userName is required');
  if (phone !== null && !isE164(phone)) invalid('phone', 'must be an E.164 number such as +41791234567');
  return {
    userName,
    externalId: null,
    displayName: null,
    givenName: nameLine('givenName', wanted.givenName ?? null),
    familyName: nameLine('familyName', wanted.familyName ?? null),
    active: true,
    attributes: {
      ...(email !== null && { emails: [{ value: email, type: 'work', primary: true }] }),
      ...(phone !== null && { phoneNumbers: [{ value: phone, type: 'mobile', primary: true }] }),
    },
  };
}

function invalid(field: string, reason: string): never {
  refuse({ code: 'invalid', field, reason });
}
