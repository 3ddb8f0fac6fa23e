import { invalid } from '../../kernel/problem.ts';
import { isStorableText } from '../../kernel/secret.ts';
import { isCountry } from '../../projects/countries.ts';
import { trimmed } from '../login.ts';
import type { UserRecord, UserValues } from '../user-record.ts';

const addressParts = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'] as const;

/** A postal address (RFC 7643 §4.1.2); `country` is ISO 3166-1 alpha-2. */
export type PostalAddress = { [Part in (typeof addressParts)[number]]?: string | null | undefined };

/** Attributes of a user to change: absent ones stay, null or blank ones are removed. */
export interface ProfileChange {
  displayName?: string | null | undefined;
  givenName?: string | null | undefined;
  familyName?: string | null | undefined;
  /** BCP 47 language tag. */
  locale?: string | null | undefined;
  /** IANA time zone. */
  zoneinfo?: string | null | undefined;
  /** ISO 8601 date. */
  birthdate?: string | null | undefined;
  address?: PostalAddress | null | undefined;
}

/** The parts of a user that an edit reads. */
export type EditedUser = Pick<UserRecord, keyof UserValues | 'provenance'>;

/** Attributes of this service, which directories neither read nor write. */
export const ownAttributes = ['birthdate'] as const;

const maxName = 256;
const maxLine = 256;
const maxLines = 1024;

/** The values of a user after a change of their profile. Refuses `invalid`, naming the field. */
export function editedProfile(user: UserValues, change: ProfileChange, now: Date): UserValues {
  const { displayName, givenName, familyName, locale, zoneinfo, birthdate, address } = change;
  const after: UserValues = { ...user, attributes: { ...user.attributes } };
  const names = { displayName, givenName, familyName };
  for (const [field, value] of Object.entries(names) as [keyof typeof names, string | null | undefined][]) {
    if (value !== undefined) after[field] = line(field, value, maxName);
  }
  const set = (name: string, value: unknown) => {
    if (value === null) delete after.attributes[name];
    else after.attributes[name] = value;
  };
  if (locale !== undefined) {
    const tag = languageTag(line('locale', locale, maxLine));
    set('locale', tag);
    // A directory's value must not outrank the new one in mails.
    if (user.attributes['preferredLanguage'] !== undefined) set('preferredLanguage', tag);
  }
  if (zoneinfo !== undefined) set('timezone', timeZone(line('zoneinfo', zoneinfo, maxLine)));
  if (birthdate !== undefined) set('birthdate', date(line('birthdate', birthdate, maxLine), now));
  if (address !== undefined) set('addresses', withAddress(user.attributes['addresses'], address));
  return after;
}

/** The address in claims: the primary one, else the first. Null if the user has none. */
export function addressOf(attributes: Record<string, unknown>): PostalAddress | null {
  const addresses = recordsOf(attributes['addresses']);
  const shown = addresses.find(({ primary }) => primary === true) ?? addresses[0];
  if (!shown) return null;
  return Object.fromEntries(addressParts.map((part) => [part, typeof shown[part] === 'string' ? shown[part] : null]));
}

/** The addresses after the shown one is replaced, or removed; null if none is left. */
function withAddress(addresses: unknown, address: PostalAddress | null): object[] | null {
  const all = recordsOf(addresses);
  const at = Math.max(
    0,
    all.findIndex(({ primary }) => primary === true),
  );
  const parts = address === null ? {} : addressValues(address);
  const others = all.filter((_, index) => index !== at);
  if (Object.keys(parts).length === 0) return others.length > 0 ? others : null;
  const kept = Object.fromEntries(Object.entries(all[at] ?? {}).filter(([name]) => !isPart(name)));
  const replaced = { ...kept, ...parts };
  return all.length === 0 ? [replaced] : all.with(at, replaced);
}

function addressValues(address: PostalAddress): Record<string, string> {
  const values = addressParts.map((part) => {
    const field = `address.${part}`;
    const value = address[part] ?? null;
    const isLong = part === 'formatted' || part === 'streetAddress';
    const cleaned = isLong ? lines(field, value, maxLines) : line(field, value, maxLine);
    if (part === 'country' && cleaned !== null && !isCountry(cleaned)) {
      invalid(field, 'must be a country code of two capital letters (ISO 3166-1)');
    }
    return [part, cleaned] as const;
  });
  return Object.fromEntries(values.filter((entry): entry is [(typeof entry)[0], string] => entry[1] !== null));
}

function isPart(name: string): boolean {
  return (addressParts as readonly string[]).includes(name);
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : [];
}

/** A name or address on one line; null if it is blank. Refuses `invalid`. */
export function nameLine(field: string, value: string | null): string | null {
  return line(field, value, maxName);
}

function line(field: string, value: string | null, max: number): string | null {
  const text = lines(field, value, max);
  if (text !== null && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) invalid(field, 'must be one line');
  return text;
}

function lines(field: string, value: string | null, max: number): string | null {
  if (value === null) return null;
  if (typeof value !== 'string' || !isStorableText(value)) invalid(field, 'must be text');
  const text = trimmed(value.normalize('NFC'));
  if (/\p{Bidi_Control}/u.test(text)) invalid(field, 'must not contain bidirectional formatting characters');
  if ([...text].length > max) invalid(field, `must have at most ${max} characters`);
  return text === '' ? null : text;
}

function languageTag(value: string | null): string | null {
  if (value === null) return null;
  try {
    return Intl.getCanonicalLocales(value)[0] ?? null;
  } catch {
    return invalid('locale', 'must be a language tag such as en-US (BCP 47)');
  }
}

function timeZone(value: string | null): string | null {
  if (value === null) return null;
  // Offsets such as +01:00 are not names.
  const known = /^[A-Za-z]/.test(value) ? canonicalZone(value) : undefined;
  return known ?? invalid('zoneinfo', 'must be a time zone such as Europe/Zurich (IANA)');
}

/** In the spelling of the database; an alias stays unchanged. */
function canonicalZone(value: string): string | undefined {
  try {
    const { timeZone: zone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    return zone.toLowerCase() === value.toLowerCase() ? zone : value;
  } catch {
    return undefined;
  }
}

function date(value: string | null, now: Date): string | null {
  if (value === null) return null;
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value) {
    invalid('birthdate', 'must be a date such as 1990-12-31 (ISO 8601)');
  }
  // It may already be tomorrow in another time zone.
  if (time > now.getTime() + 24 * 3600 * 1000) invalid('birthdate', 'must not be in the future');
  return value;
}
