import type { User } from './user.entity.ts';

/** The address claim (OpenID Connect Core §5.1.1). */
interface AddressClaim {
  formatted?: string;
  street_address?: string;
  locality?: string;
  region?: string;
  postal_code?: string;
  country?: string;
}

/** A user's standard claims (OpenID Connect Core §5.1); missing values are absent. */
export interface Profile {
  name?: string;
  given_name?: string;
  family_name?: string;
  email?: string;
  email_verified?: true;
  phone_number?: string;
  /** ISO 8601 date. */
  birthdate?: string;
  address?: AddressClaim;
  /** BCP 47 language tag. */
  locale?: string;
  /** IANA time zone. */
  zoneinfo?: string;
  /** Seconds since the Unix epoch. */
  updated_at: number;
}

/** The properties of a user that a profile needs. */
export const profileProperties = [
  'displayName',
  'givenName',
  'familyName',
  'email',
  'phone',
  'attributes',
  'updatedAt',
] as const satisfies readonly (keyof User)[];

export type ProfileSource = Pick<User, (typeof profileProperties)[number]>;

/** All claims of a user, before scopes limit them. */
export function profileOf(user: ProfileSource): Profile {
  const { attributes } = user;
  const email = text(user.email);
  return withoutAbsent({
    name: nameOf(user),
    given_name: text(user.givenName),
    family_name: text(user.familyName),
    email,
    email_verified: email === undefined ? undefined : true,
    phone_number: text(user.phone),
    birthdate: text(attributes['birthdate']),
    address: addressOf(attributes['addresses']),
    locale: text(attributes['locale'])?.replaceAll('_', '-') ?? languageTagOf(attributes),
    zoneinfo: text(attributes['timezone']),
    updated_at: Math.floor(user.updatedAt.getTime() / 1000),
  });
}

/** The language that a user prefers, as a BCP 47 tag. Of several with weights (RFC 7643 §4.1.1), the first. */
export function languageTagOf(attributes: Record<string, unknown>): string | undefined {
  const preferred = text(attributes['preferredLanguage']) ?? text(attributes['locale']);
  return text(preferred?.trim().split(/[\s,;]/, 1)[0])?.replaceAll('_', '-');
}

function nameOf({ displayName, givenName, familyName, attributes }: ProfileSource): string | undefined {
  const formatted = text(record(attributes['name'])['formatted']);
  const parts = [text(givenName), text(familyName)].filter((part) => part !== undefined);
  return text(displayName) ?? formatted ?? text(parts.join(' '));
}

function addressOf(addresses: unknown): AddressClaim | undefined {
  if (!Array.isArray(addresses)) return undefined;
  const address = record(addresses.find((each) => record(each)['primary'] === true) ?? addresses[0]);
  const claim = withoutAbsent<AddressClaim>({
    formatted: text(address['formatted']),
    street_address: text(address['streetAddress']),
    locality: text(address['locality']),
    region: text(address['region']),
    postal_code: text(address['postalCode']),
    country: text(address['country']),
  });
  return Object.keys(claim).length > 0 ? claim : undefined;
}

type OrUndefined<T> = { [K in keyof T]: T[K] | undefined };

function withoutAbsent<T extends object>(values: OrUndefined<T>): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Blank text counts as absent. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
