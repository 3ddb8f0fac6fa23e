import type { UserRecord } from './user-record.ts';

/** The columns of `users r` that {@link userOfRow} reads. */
export const userColumns = `r.id, r.user_name, r.external_id, r.display_name, r.given_name, r.family_name, r.email, r.phone,
  r.active, r.provenance, r.attributes, r.version, r.created_at, r.updated_at, r.last_sign_in_at`;

export interface UserRow {
  id: string;
  user_name: string;
  external_id: string | null;
  display_name: string | null;
  given_name: string | null;
  family_name: string | null;
  email: string | null;
  phone: string | null;
  active: boolean;
  provenance: UserRecord['provenance'];
  attributes: Record<string, unknown>;
  version: number;
  created_at: string;
  updated_at: string;
  last_sign_in_at: string | null;
}

export function userOfRow(row: UserRow): UserRecord {
  return {
    id: row.id,
    userName: row.user_name,
    externalId: row.external_id,
    displayName: row.display_name,
    givenName: row.given_name,
    familyName: row.family_name,
    email: row.email,
    phone: row.phone,
    active: row.active,
    provenance: row.provenance,
    attributes: row.attributes,
    version: row.version,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    lastSignInAt: row.last_sign_in_at === null ? null : new Date(row.last_sign_in_at),
  };
}
