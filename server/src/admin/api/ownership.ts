import type { EntityManager } from '@mikro-orm/postgresql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { query, type Statement, sql } from '../../domain/kernel/sql.ts';

/** Nouns that belong to a project or to the instance. */
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

/** The node of an operation; the role is required in its project. */
export interface About {
  noun: OwnedNoun;
  id: string;
}

const owners: Record<OwnedNoun, (id: string) => Statement<{ project: string | null }>> = {
  project: (id) => sql`select id as project from projects where id = ${id}`,
  client: ownedDirectly('clients'),
  'api-key': ownedByClient('api_keys'),
  'delegation-key': ownedByClient('delegation_keys'),
  user: ownedDirectly('users'),
  group: ownedDirectly('groups'),
  session: ownedDirectly('sessions'),
  device: ownedDirectly('credentials'),
  'scim-token': ownedDirectly('scim_tokens'),
  'admin-token': ownedDirectly('admin_tokens'),
  membership: ownedDirectly('memberships'),
  'logout-delivery': ownedDirectly('logout_deliveries'),
};

function ownedDirectly(table: string) {
  return (id: string) =>
    sql<{ project: string | null }>`select project_id as project from ${sql.table(table)} where id = ${id}`;
}

function ownedByClient(table: string) {
  return (id: string) => sql<{ project: string | null }>`
    select c.project_id as project from ${sql.table(table)} k join clients c on c.id = k.client_id where k.id = ${id}`;
}

/** The project of a node; null: the instance. Refuses `not-found`. */
export async function projectOf(
  em: EntityManager,
  { noun, id }: { noun: OwnedNoun; id: string },
): Promise<string | null> {
  const [row] = isUuid(id) ? await query(em, owners[noun](id)) : [];
  if (!row) refuse({ code: 'not-found', what: noun });
  return row.project;
}

/** The project and user of a session or device; refuses `not-found`. */
export async function ownerOf(
  em: EntityManager,
  { noun, id }: { noun: 'session' | 'device'; id: string },
): Promise<{ projectId: string; userId: string }> {
  const owner = sql<{ projectId: string; userId: string }>`
    select project_id as "projectId", user_id as "userId" from ${sql.table(`${noun}s`)} where id = ${id}`;
  const [row] = isUuid(id) ? await query(em, owner) : [];
  return found(row, noun);
}
