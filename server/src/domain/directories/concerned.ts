import { digest } from '../kernel/secret.ts';
import { contactsOf, foldCase, trimmed } from '../users/login.ts';
import type { UserRecord } from '../users/user-record.ts';

/** An id, address or number as a mark: in lower case, without surrounding spaces. */
export function markOf(value: string): string {
  return foldCase(trimmed(value));
}

/** An external id may be as short as one digit: it matches external ids only. */
export function externalIdMark(externalId: string): string {
  return `externalId:${externalId}`;
}

/** The marks by which requests name this user. Without the name, which several people may share. */
export function marksOf({ id, userName, email, phone, externalId, attributes }: UserRecord): string[] {
  const contacts = [...contactsOf(attributes, 'emails'), ...contactsOf(attributes, 'phoneNumbers')];
  const values = [id, userName, email, phone, ...contacts.map(({ value }) => value)];
  const marks = values.flatMap((value) => (value ? [markOf(value)] : []));
  return [...new Set([...marks, ...(externalId ? [externalIdMark(externalId)] : [])])];
}

/** SHA-256 of marks: kept for an hour after an erasure, when the marks must be gone. */
export function hashedMarks(projectId: string, marks: readonly string[]): string[] {
  return marks.map((mark) => digest(`${projectId} ${mark}`));
}
