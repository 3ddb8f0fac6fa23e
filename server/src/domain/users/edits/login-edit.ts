import { invalid } from '../../kernel/problem.ts';
import { addressKey, contactsOf, isAddress, isE164 } from '../login.ts';
import { type UserRecord, type UserValues, valuesOf } from '../user-record.ts';
import { loginOf } from '../user-writing.ts';
import { type EditedUser, nameLine } from './profile-edit.ts';

/** An admin's change of a user's login: absent fields stay, null or blank ones are removed. */
export interface LoginChange {
  /** Login address. */
  email?: string | null | undefined;
  /** Absent: follows the login address if it is the same. */
  userName?: string | null | undefined;
  /** Login phone, E.164. */
  phone?: string | null | undefined;
}

/** Multi-valued attributes with a login value: which values can be one, and the type of a new one. */
const contacts = {
  emails: { isUsable: isAddress, type: 'work' },
  phoneNumbers: { isUsable: isE164, type: 'mobile' },
} as const;

/**
 * The values of a user after a change of their login. Refuses `invalid`, naming the field: also for the phone of a user for
 * whom the directory is authoritative (service.md 3.1).
 *
 * @param isLocked whether the directory of the project is authoritative
 */
export function editedLogin(
  user: EditedUser & Pick<UserRecord, 'email' | 'phone' | 'withheldEmailKey'>,
  change: LoginChange,
  { isLocked }: { isLocked: boolean },
): UserValues {
  const before = { email: user.email ?? null, userName: user.userName, phone: user.phone ?? null };
  // A value that stays is not edited: directories may send names that an admin could not.
  const given = (name: keyof LoginChange) =>
    change[name] === undefined || change[name] === before[name] ? before[name] : nameLine(name, change[name] ?? null);
  const [email, phone] = [given('email'), given('phone')];
  const isSame = addressKey(before.userName) === addressKey(before.email ?? '');
  const follows = change.userName === undefined && email !== before.email && isSame;
  const userName = follows ? email : given('userName');
  if (email !== before.email && email !== null && !isAddress(email)) invalid('email', 'must be an email address');
  if (email !== before.email && email !== null && addressKey(email) === user.withheldEmailKey) {
    invalid('email', 'is withheld: another user has it, or the organization has not verified its domain');
  }
  if (phone !== before.phone && phone !== null && !isE164(phone)) {
    invalid('phone', 'must be an E.164 number such as +41791234567');
  }
  if (userName === null) invalid(follows ? 'email' : 'userName', follows ? 'is the userName, too' : 'is required');
  if (isLocked && user.provenance === 'scim' && phone !== before.phone) {
    invalid('phone', 'is managed by the directory: change it there');
  }
  let values: UserValues = { ...valuesOf(user), userName };
  // Also if the address came only from the userName.
  // It stays a plain value: a user at another home has it, or the organization has not verified its domain.
  const isWithheld = email === null && user.withheldEmailKey != null;
  if (loginOf(values).email !== email && !isWithheld) values = withContact(values, 'emails', before.email, email);
  if (phone !== before.phone) values = withContact(values, 'phoneNumbers', before.phone, phone);
  if (loginOf(values).email !== email && !isWithheld)
    invalid('userName', 'is an address, which would receive the codes');
  return values;
}

/** Replaces the login value of an attribute; null removes every value that could become it. */
export function withContact(
  user: UserValues,
  name: keyof typeof contacts,
  before: string | null,
  after: string | null,
): UserValues {
  const { [name]: _, ...attributes } = user.attributes;
  const { isUsable, type } = contacts[name];
  const replaced = [before, after].flatMap((value) => (value === null ? [] : addressKey(value)));
  const others = contactsOf(user.attributes, name).filter(({ value }) => !replaced.includes(addressKey(value ?? '')));
  const left =
    after === null
      ? others.filter(({ value }) => value === undefined || !isUsable(value))
      : [...others.map((other) => ({ ...other, primary: false })), { value: after, type, primary: true }];
  return { ...user, attributes: left.length === 0 ? attributes : { ...attributes, [name]: left } };
}
