import { invalid } from '../../kernel/problem.ts';
import type { CustomEdit } from '../custom/own-values.ts';
import { editedCustom } from '../custom/own-values.ts';
import type { CustomSchema } from '../custom/values.ts';
import { editedProfile, nameLine } from '../edits/profile-edit.ts';
import { isSubject } from '../identity/sub.ts';
import { isAddress, isE164 } from '../login.ts';
import type { UserValues } from '../user-record.ts';

/** A user that an admin adds; null means absent. */
export interface NewUser {
  /** Login address. Absent: the userName, if that is an address. */
  email?: string | null | undefined;
  /** Absent: the email address. */
  userName?: string | null | undefined;
  displayName?: string | null | undefined;
  givenName?: string | null | undefined;
  familyName?: string | null | undefined;
  /** E.164. */
  phone?: string | null | undefined;
  /** BCP 47 language tag. */
  locale?: string | null | undefined;
  /** IANA time zone. */
  zoneinfo?: string | null | undefined;
  /** ISO 8601 date. */
  birthdate?: string | null | undefined;
  /** Whether the user may sign in. Default: true. */
  active?: boolean | undefined;
  /** `sub` of the former system. Absent: the id is `sub`. */
  subject?: string | null | undefined;
  /** Custom attributes by name. */
  custom?: CustomEdit | undefined;
}

/** `subject` of a new user. Refuses `invalid`. */
export function subjectOf({ subject }: NewUser): string | null {
  if (subject == null || subject === '') return null;
  if (!isSubject(subject))
    invalid('subject', 'must be 1 to 255 printable ASCII characters, without a space at either end');
  return subject;
}

/** The values of a new user. Refuses `invalid`, naming the field. */
export function newUserValues(
  { custom, email: givenEmail, phone: givenPhone, userName: givenName, subject: _, active = true, ...profile }: NewUser,
  { schema, now }: { schema: CustomSchema; now: Date },
): UserValues {
  const email = nameLine('email', givenEmail ?? null);
  const userName = nameLine('userName', givenName ?? null) ?? email;
  const phone = nameLine('phone', givenPhone ?? null);
  if (email !== null && !isAddress(email)) invalid('email', 'must be an email address');
  if (userName === null) invalid('email', 'or userName is required');
  if (phone !== null && !isE164(phone)) invalid('phone', 'must be an E.164 number such as +41791234567');
  const provenance = 'local' as const;
  const login: UserValues = {
    userName,
    externalId: null,
    displayName: null,
    givenName: null,
    familyName: null,
    active,
    attributes: {
      ...(email !== null && { emails: [{ value: email, type: 'work', primary: true }] }),
      ...(phone !== null && { phoneNumbers: [{ value: phone, type: 'mobile', primary: true }] }),
    },
  };
  const values = editedProfile(login, profile, now);
  return custom ? editedCustom({ ...values, provenance }, custom, { schema, isLocked: false }) : values;
}
