import type { EntityManager } from '@mikro-orm/postgresql';
import { rows } from '../domain/kernel/database.ts';
import { found, refuse } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';

/** What belongs to a project, or to the instance. */
export type OwnedNoun =
  | 'project'
  | 'client'
  | 'api-key'
  | 'delegation-key'
  | 'user'
  | 'group'
  | 'session'
  | 'device'
  | 'scim-token'
  | 'admin-token'
  | 'membership'
  | 'logout-delivery';

/** What a call is about; its project is where the role must be had. */
export interface About {
  noun: OwnedNoun;
  id: string;
}

const owners: Record<OwnedNoun, string> = {
  project: 'select id as project from projects where id = ?',
  client: 'select project_id as project from clients where id = ?',
  'api-key': 'select c.project_id as project from api_keys k join clients c on c.id = k.client_id where k.id = ?',
  'delegation-key':
    'select c.project_id as project from delegation_keys k join clients c on c.id = k.client_id where k.id = ?',
  user: 'select project_id as project from users where id = ?',
  group: 'select project_id as project from groups where id = ?',
  session: 'select project_id as project from sessions where id = ?',
  device: 'select project_id as project from devices where id = ?',
  'scim-token': 'select project_id as project from scim_tokens where id = ?',
  'admin-token': 'select project_id as project from admin_tokens where id = ?',
  membership: 'select project_id as project from memberships where id = ?',
  'logout-delivery': 'select project_id as project from logout_deliveries where id = ?',
};

/** The project of a noun by its id, `null` for one of the instance; refuses `not-found`. */
export async function projectOf(
  em: EntityManager,
  { noun, id }: { noun: OwnedNoun; id: string },
): Promise<string | null> {
  const [row] = isUuid(id) ? await rows<{ project: string | null }>(em, owners[noun], [id]) : [];
  if (!row) refuse({ code: 'not-found', what: noun });
  return row.project;
}

/** Whose session or device it is; refuses `not-found`. */
export async function ownerOf(
  em: EntityManager,
  { noun, id }: { noun: 'session' | 'device'; id: string },
): Promise<{ projectId: string; userId: string }> {
  const sql = `select project_id as "projectId", user_id as "userId" from ${noun}s where id = ?`;
  const [row] = isUuid(id) ? await rows<{ projectId: string; userId: string }>(em, sql, [id]) : [];
  return found(row, noun);
}
