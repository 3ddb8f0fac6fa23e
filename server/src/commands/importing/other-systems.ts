import { type Data, dataOf, listOf, newPerson, type Person, textOf, textsOf, withPhone, withTotp } from './person.ts';

const full = (...parts: unknown[]) => parts.map(textOf).filter(Boolean).join(' ') || undefined;

/** Clerk: a row of the dashboard's CSV, or a user of the Backend API. */
export function clerkPerson(user: Data): Person {
  const addresses = listOf(user['email_addresses']);
  const primary = addresses.find(({ id }) => id === user['primary_email_address_id']) ?? addresses[0];
  const email = textOf(user['primary_email_address']) ?? textOf(primary?.['email_address']);
  const verified = textOf(user['verified_email_addresses']);
  const isInList =
    verified === undefined ? textOf(user['unverified_email_addresses']) === undefined : isOneOf(email, verified);
  const person: Person = {
    // `external_id` is `sub` of a system before Clerk, which the session tokens of Clerk do not have.
    ...newPerson(textOf(user['id']) ?? ''),
    userName: textOf(user['username']),
    email,
    isVerified: primary ? dataOf(primary['verification'])['status'] === 'verified' : isInList,
    givenName: textOf(user['first_name']),
    familyName: textOf(user['last_name']),
    displayName: full(user['first_name'], user['last_name']),
    isActive: user['banned'] !== true && user['locked'] !== true,
  };
  const phone = listOf(user['phone_numbers'])[0];
  const phones = textOf(user['verified_phone_numbers']);
  const number = textOf(user['primary_phone_number']) ?? textOf(phone?.['phone_number']);
  withPhone(
    person,
    number,
    phone ? dataOf(phone['verification'])['status'] === 'verified' : isOneOf(number, phones ?? ''),
  );
  if (textOf(user['totp_secret']) !== undefined) withTotp(person, textOf(user['totp_secret']));
  else if (user['totp_enabled'] === true) person.left.push('TOTP: the file does not have the secret');
  if (user['password_digest'] || user['password_enabled'] === true) person.left.push('password: not taken');
  return person;
}

/** Whether a list, separated by commas, semicolons, bars or spaces, has this value. */
function isOneOf(value: string | undefined, list: string): boolean {
  return value !== undefined && list.split(/[\s,;|]+/).includes(value);
}

/** Logto: a user of the Management API, whose addresses are verified. */
export function logtoPerson(user: Data): Person {
  const profile = dataOf(user['profile']);
  const person: Person = {
    ...newPerson(textOf(user['id']) ?? ''),
    userName: textOf(user['username']),
    email: textOf(user['primaryEmail']),
    isVerified: true,
    displayName: textOf(user['name']),
    givenName: textOf(profile['givenName']),
    familyName: textOf(profile['familyName']),
    locale: textOf(profile['locale']),
    zoneinfo: textOf(profile['zoneinfo']),
    birthdate: textOf(profile['birthdate']),
    isActive: user['isSuspended'] !== true,
  };
  const phone = textOf(user['primaryPhone']);
  withPhone(person, phone === undefined || phone.startsWith('+') ? phone : `+${phone}`, true);
  if (user['hasPassword'] === true) person.left.push('password: not taken');
  for (const factor of textsOf(user['mfaVerificationFactors']))
    person.left.push(`${factor}: the file does not have the secret`);
  return person;
}

/** Cognito: a user of `ListUsers` or of `admin-get-user`, or a row of a CSV file of the user import. */
export function cognitoPerson(user: Data): Person {
  const attributes = listOf(user['Attributes'] ?? user['UserAttributes']);
  const pairs = attributes.map((one) => [String(one['Name']), one['Value']] as const);
  const of: Data = attributes.length > 0 ? Object.fromEntries(pairs) : user;
  const userName = textOf(user['Username']) ?? textOf(user['cognito:username']);
  const subject = textOf(of['sub']) ?? '';
  const person: Person = {
    ...newPerson(subject),
    id: subject || (userName ?? ''),
    userName: userName === subject ? undefined : userName,
    email: textOf(of['email']),
    isVerified: String(of['email_verified']).toLowerCase() === 'true',
    displayName: textOf(of['name']),
    givenName: textOf(of['given_name']),
    familyName: textOf(of['family_name']),
    locale: textOf(of['locale'])?.replace('_', '-'),
    zoneinfo: textOf(of['zoneinfo']),
    birthdate: textOf(of['birthdate']),
    isActive: user['Enabled'] !== false,
  };
  withPhone(person, of['phone_number'], String(of['phone_number_verified']).toLowerCase() === 'true');
  if (listOf(user['MFAOptions']).length > 0 || textsOf(user['UserMFASettingList']).includes('SOFTWARE_TOKEN_MFA')) {
    person.left.push('TOTP: the file does not have the secret');
  }
  return person;
}

/** Okta: a user of the Users API, whose organization vouches for the address. Its org server's `sub` is the id. */
export function oktaPerson(user: Data): Person {
  const profile = dataOf(user['profile']);
  const person: Person = {
    ...newPerson(textOf(user['id']) ?? ''),
    userName: textOf(profile['login']),
    email: textOf(profile['email']),
    isVerified: true,
    displayName: textOf(profile['displayName']) ?? full(profile['firstName'], profile['lastName']),
    givenName: textOf(profile['firstName']),
    familyName: textOf(profile['lastName']),
    locale: textOf(profile['locale'])?.replace('_', '-'),
    zoneinfo: textOf(profile['timezone']),
    isActive: !['DEPROVISIONED', 'SUSPENDED'].includes(String(user['status'])),
  };
  if (dataOf(user['credentials'])['password'] !== undefined) person.left.push('password: not taken');
  return person;
}

/** Columns of a CSV file, for `--columns`. */
export const csvColumns = [
  ...['subject', 'email', 'email_verified', 'user_name', 'phone', 'display_name', 'given_name', 'family_name'],
  ...['locale', 'zoneinfo', 'birthdate', 'active', 'groups', 'totp_secret'],
] as const;

/** Any system: a row whose columns have the names of {@link csvColumns}. An absent `email_verified` or `active` is true. */
export function csvPerson(row: Data): Person {
  const flag = (name: string) => !['false', 'no', '0'].includes(String(row[name] ?? '').toLowerCase());
  const subject = textOf(row['subject']) ?? '';
  const person: Person = {
    ...newPerson(subject),
    id: subject || (textOf(row['email']) ?? textOf(row['user_name']) ?? ''),
    userName: textOf(row['user_name']),
    email: textOf(row['email']),
    isVerified: flag('email_verified'),
    displayName: textOf(row['display_name']),
    givenName: textOf(row['given_name']),
    familyName: textOf(row['family_name']),
    locale: textOf(row['locale']),
    zoneinfo: textOf(row['zoneinfo']),
    birthdate: textOf(row['birthdate']),
    isActive: flag('active'),
    groups: (textOf(row['groups']) ?? '')
      .split(';')
      .map((name) => name.trim())
      .filter(Boolean),
  };
  withPhone(person, row['phone'], true);
  if (textOf(row['totp_secret']) !== undefined) withTotp(person, textOf(row['totp_secret']));
  return person;
}
