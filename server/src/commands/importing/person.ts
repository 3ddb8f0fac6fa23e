import type { FormerPasskey } from '../../domain/credentials/former-passkeys.ts';
import { isE164 } from '../../domain/users/login.ts';

/** A person of the former system, in the terms of this one. */
export interface Person {
  /** Names the record in the report. */
  id: string;
  /** `sub` of the former system. */
  subject: string;
  userName?: string | undefined;
  email?: string | undefined;
  /** Whether the former system verified the address. */
  isVerified: boolean;
  /** E.164, verified by the former system. */
  phone?: string | undefined;
  displayName?: string | undefined;
  givenName?: string | undefined;
  familyName?: string | undefined;
  locale?: string | undefined;
  zoneinfo?: string | undefined;
  birthdate?: string | undefined;
  /** Whether the former system lets the person sign in. */
  isActive: boolean;
  groups: string[];
  /** Roles of applications, by the client id of the former system. */
  roles: { client: string; key: string }[];
  /** TOTP secret in base32. */
  totp?: string | undefined;
  passkeys: FormerPasskey[];
  /** Parts of the record that are not taken, each with its reason. */
  left: string[];
}

/** An application of the former system. */
export interface Application {
  /** Its client id there. */
  id: string;
  name: string;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  /** Whether it has a secret. */
  isConfidential: boolean;
  /** It obtains tokens for itself (RFC 6749 section 4.4). */
  isMachine: boolean;
  hasRefreshTokens: boolean;
  /** Keys of its roles. */
  roles: string[];
}

/** One record of a file: a person or an application, or the reason why it is neither. */
export type FormerRecord = { line: number; file: string } & (
  | { person: Person }
  | { application: Application }
  | { id: string; skipped: string }
);

export type Data = Record<string, unknown>;

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
export const listOf = (value: unknown): Data[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
export const dataOf = (value: unknown): Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {};

/** A person with an id and nothing else. */
export function newPerson(id: string): Person {
  return { id, subject: id, isVerified: false, isActive: true, groups: [], roles: [], passkeys: [], left: [] };
}

/** Notes a phone that was not verified, or is not E.164. */
export function withPhone(person: Person, phone: unknown, isVerified: boolean): void {
  const number = textOf(phone)?.replace(/[\s().-]/g, '');
  if (number === undefined) return;
  if (!isVerified) person.left.push('phone: not verified');
  else if (isE164(number)) person.phone = number;
  else person.left.push('phone: not an E.164 number');
}

/** Notes a TOTP secret that is not one of SHA-1, six digits and 30 seconds in base32, or a second one. */
export function withTotp(person: Person, secret: string | undefined): void {
  const base32 = secret?.replaceAll(/[\s=]/g, '').toUpperCase();
  if (base32 === undefined || !/^[A-Z2-7]{16,128}$/.test(base32))
    person.left.push('TOTP: not a secret in base32 of 80 bits or more');
  else if (person.totp !== undefined) person.left.push('TOTP: another factor of this person is taken');
  else person.totp = base32;
}
