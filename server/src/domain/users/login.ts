/** The login addresses and phone of a user, from their attributes. Pure. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { mailDomain } from '../projects/mail-domains.ts';

/** An email address or phone number in a multi-valued attribute (RFC 7643 §2.4). */
export interface Contact {
  value?: string;
  type?: string;
  primary?: boolean;
}

/** Case-insensitive key of a value (RFC 7643 §2.2): NFC, lower case. */
export function foldCase(value: string): string {
  return value.normalize('NFC').toLowerCase();
}

/** Spaces, and characters that do not show, around a text: zero-width ones and direction marks. */
const around = /^[\s\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069]$/;
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * A name or address without what surrounds it: pasted ones have spaces of any kind. By characters: an expression for the end of the text
 * takes quadratic time for spaces inside it.
 */
export function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && around.test(value.charAt(start))) start += 1;
  while (start < end && around.test(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/**
 * A user name for comparisons with parts of others: case-insensitive, with one plain space for spaces of any kind and
 * number, without characters that do not show.
 */
export function foldName(value: string): string {
  return foldCase(value.replace(invisible, '')).replace(/\s+/g, ' ');
}

/** Key of a user name: no two users of a project differ only in case, spaces or characters that do not show. */
export function userNameKey(value: string): string {
  return foldName(value).trim();
}

/**
 * Case-insensitive key of an address, without surrounding spaces. An international domain is in Unicode, as most
 * directories write it: browsers convert a typed address to the other form of {@link isAddress}.
 */
export function addressKey(address: string): string {
  const key = foldCase(trimmed(address));
  const at = key.indexOf('@') + 1;
  const domain = at > 0 && key.includes('xn--', at) ? domainToUnicode(key.slice(at)) : '';
  return domain === '' ? key : `${key.slice(0, at)}${domain}`;
}

/** The keys that a user with this address can have: {@link addressKey}, and with an international domain in ASCII. */
export function addressKeys(address: string): string[] {
  const key = addressKey(address);
  const at = key.indexOf('@') + 1;
  const [domain, ascii] = [key.slice(at), domainToASCII(key.slice(at))];
  return ascii === domain || domainToUnicode(ascii) !== domain ? [key] : [key, `${key.slice(0, at)}${ascii}`];
}

/** The domain of a login address, in the form of `organization_domains`; null: not a domain name. */
export function domainOfAddress(address: string): string | null {
  const key = addressKey(address);
  const domain = mailDomain(key.slice(key.lastIndexOf('@') + 1));
  return domain === null ? null : domainToASCII(domain);
}

const address =
  /^[^\s@"(),:;<>[\]\\\p{Cc}\p{Cs}]{1,64}@[^\s@"(),:;<>[\]\\.\p{Cc}\p{Cs}]+(\.[^\s@"(),:;<>[\]\\.\p{Cc}\p{Cs}]+)*$/u;

/**
 * True for the unquoted form of RFC 5321 §4.1.2, at most 254 characters. An international domain must be in one of its
 * two forms (RFC 5890 §2.3.2.1): mail to any other spelling goes to the same A-label, so two users would share a
 * mailbox. The local part has no characters that do not show.
 */
export function isAddress(value: string): boolean {
  if (value.length > 254 || !address.test(value)) return false;
  const at = value.indexOf('@');
  if (value.slice(0, at).search(invisible) >= 0) return false;
  const domain = foldCase(value.slice(at + 1));
  const ascii = domainToASCII(domain);
  return ascii !== '' && (ascii === domain || domainToUnicode(ascii) === domain);
}

/** True for an international number: `+` and 7 to 15 digits (ITU-T E.164). */
export function isE164(value: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(value);
}

/**
 * The login email: the primary one, else one of type `work`, else the first. Without any, a `userName` that is an
 * address.
 */
export function loginEmail(userName: string, emails: readonly Contact[]): string | null {
  const usable = emails.filter(({ value }) => value !== undefined && isAddress(value));
  const chosen = usable.find(({ primary }) => primary) ?? usable.find((email) => isOfType(email, 'work')) ?? usable[0];
  return chosen?.value ?? (isAddress(userName) ? userName : null);
}

/**
 * The login phone: the primary E.164 number, else the first of type `mobile`, else the first (decisions section 11).
 * `isShared`: it is neither primary nor mobile, for example the number of an office. Several users may have it in their
 * data; it is the login phone of the first one.
 */
export function loginPhone(phoneNumbers: readonly Contact[]): { phone: string | null; isShared: boolean } {
  const usable = phoneNumbers.filter(({ value }) => value !== undefined && isE164(value));
  const own = usable.find(({ primary }) => primary) ?? usable.find((phone) => isOfType(phone, 'mobile'));
  return { phone: (own ?? usable[0])?.value ?? null, isShared: own === undefined };
}

function isOfType({ type }: Contact, wanted: string): boolean {
  return type !== undefined && foldCase(type) === wanted;
}

/** The elements of a stored multi-valued attribute; empty for any other value. */
export function contactsOf(attributes: Record<string, unknown>, name: 'emails' | 'phoneNumbers'): Contact[] {
  const value = attributes[name];
  return Array.isArray(value) ? (value as Contact[]) : [];
}
