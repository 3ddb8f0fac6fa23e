import { isLine } from '../kernel/name.ts';
import { isAddress, trimmed } from '../users/login.ts';
import type { ProfileMappings } from './connection.entity.ts';
import type { UpstreamPerson } from './upstream-request.entity.ts';

/** Values of RFC 8176 section 2. `mfa` and `mca` are left out: our policies count only factors that are proved here. */
const passedMethods: readonly string[] = [
  ...['face', 'fpt', 'geo', 'hwk', 'iris', 'kba', 'otp', 'pin', 'pop', 'pwd', 'rba', 'retina', 'sc', 'sms', 'swk'],
  ...['tel', 'user', 'vbm', 'wia'],
];

const maxText = 255;
export const maxGroupLength = 255;
const maxGroups = 1000;

/** Maps verified claims to attributes that users can have. Pure. */
export function personOf(
  claims: Readonly<Record<string, unknown>>,
  { issuer, subject, mappings }: { issuer: string; subject: string; mappings: ProfileMappings },
): UpstreamPerson {
  const { email, email_verified: verified, amr, acr, auth_time: authTime } = claims;
  const address = typeof email === 'string' ? trimmed(email) : '';
  return {
    issuer,
    subject,
    email: isAddress(address) ? address : null,
    // Not the string "true": it may come from a field that users can edit.
    emailVerified: verified === true,
    ...(verified !== undefined && verified !== true && { emailDenied: true as const }),
    profile: profileOf(claims, mappings),
    amr: Array.isArray(amr) ? passedMethods.filter((method) => amr.includes(method)) : [],
    acr: typeof acr === 'string' && acr.length <= maxText && isLine(acr) ? acr : null,
    authTime: isTime(authTime) ? authTime : null,
  };
}

function profileOf(claims: Readonly<Record<string, unknown>>, mappings: ProfileMappings): UpstreamPerson['profile'] {
  const values = Object.entries(mappings).flatMap(([attribute, claim]) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    const text = typeof value === 'string' ? value.normalize('NFC').trim() : '';
    const isUsable = text !== '' && text.length <= maxText && isLine(text);
    return isUsable && (attribute !== 'locale' || isLocale(text)) ? [[attribute, text] as const] : [];
  });
  return Object.fromEntries(values);
}

/** Unix seconds from 1970 to 9999: others are no dates, or none that PostgreSQL stores. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 253_402_300_799;
}

/** A language tag (BCP 47), as far as profiles store it. */
function isLocale(text: string): boolean {
  return /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/.test(text);
}

/** The groups of a claim: one text or a list of them; undefined: there is none. */
export function groupsIn(value: unknown): { groups?: string[] } {
  const values = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(values)) return {};
  const texts = values.filter(
    (one): one is string => typeof one === 'string' && one !== '' && one.length <= maxGroupLength,
  );
  return { groups: [...new Set(texts)].slice(0, maxGroups) };
}
