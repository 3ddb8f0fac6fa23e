import { isUuid } from '../kernel/secret.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import type { ShownUser, UserRecord } from './user-record.ts';

/** The columns of `users r` that {@link userOfRow} reads. */
export const userColumns = `r.id, r.user_name, r.external_id, r.display_name, r.given_name, r.family_name, r.email, r.phone,
  r.active, r.provenance, r.attributes, r.version, r.created_at, r.updated_at, r.last_sign_in_at`;

/** The same, and the groups by their ids: what a directory is shown of a user, in one read. */
export const shownColumns = `${userColumns}, (select json_agg(json_build_object('id', g.id, 'displayName', g.display_name) order by g.id)
  from group_members m join groups g on g.id = m.group_id where m.user_id = r.id) as groups`;

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

export interface ShownRow extends UserRow {
  groups: ShownUser['groups'] | null;
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

export function shownOfRow(row: ShownRow): ShownUser {
  return { ...userOfRow(row), groups: row.groups ?? [] };
}

/** Null if the project has no such user. */
export async function findShown(em: Executing, projectId: string, userId: string): Promise<ShownUser | null> {
  if (!isUuid(userId)) return null;
  const statement = sql<ShownRow>`select ${sql.raw(shownColumns)} from users r
    where r.id = ${userId}::uuid and r.project_id = ${projectId}::uuid`;
  const [row] = await query(em, statement, { prepare: 'users.shown' });
  return row ? shownOfRow(row) : null;
}
