import type { User } from './user.entity.ts';

/** What is written of a user; the rest (login e-mail and phone, keys, version) follows from it. */
export interface UserValues {
  userName: string;
  externalId: string | null;
  displayName: string | null;
  givenName: string | null;
  familyName: string | null;
  active: boolean;
  /** Every other attribute, canonical and valid. */
  attributes: Record<string, unknown>;
}

/** A user as it is read. */
export type UserRecord = Pick<
  User,
  | 'id'
  | 'userName'
  | 'externalId'
  | 'displayName'
  | 'givenName'
  | 'familyName'
  | 'email'
  | 'phone'
  | 'active'
  | 'provenance'
  | 'attributes'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
  | 'lastSignInAt'
>;

/** A user with the groups that are shown with them, by their ids. */
export interface ShownUser extends UserRecord {
  groups: readonly { id: string; displayName: string }[];
}

/** The written part of a user. */
export function valuesOf(user: UserRecord): UserValues {
  return {
    userName: user.userName,
    externalId: user.externalId ?? null,
    displayName: user.displayName ?? null,
    givenName: user.givenName ?? null,
    familyName: user.familyName ?? null,
    active: user.active,
    attributes: user.attributes,
  };
}

/** A copy of a row as it is now. */
export function recordOf(user: User): UserRecord {
  const { id, email, phone, provenance, version, createdAt, updatedAt, lastSignInAt } = user;
  return { id, ...valuesOf(user), email, phone, provenance, version, createdAt, updatedAt, lastSignInAt };
}
