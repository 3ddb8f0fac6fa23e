import type { EntityManager } from '@mikro-orm/postgresql';
import type { CredentialKind } from '../../domain/credentials/credential.entity.ts';
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
  | 'passkey'
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
  device: ownedCredential('device-key'),
  passkey: ownedCredential('passkey'),
  'scim-token': ownedDirectly('scim_tokens'),
  'admin-token': ownedDirectly('admin_tokens'),
  membership: ownedDirectly('memberships'),
  'logout-delivery': ownedDirectly('logout_deliveries'),
};

function ownedDirectly(table: string) {
  return (id: string) =>
    sql<{ project: string | null }>`select project_id as project from ${sql.table(table)} where id = ${id}`;
}

function ownedCredential(kind: CredentialKind) {
  return (id: string) =>
    sql<{ project: string | null }>`select project_id as project from credentials where id = ${id} and kind = ${kind}`;
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

const userTables = { session: 'sessions', device: 'credentials', passkey: 'credentials' };

/** The project and user of a session, device or passkey; refuses `not-found`. The operation's rule checks the noun. */
export async function ownerOf(
  em: EntityManager,
  { noun, id }: { noun: keyof typeof userTables; id: string },
): Promise<{ projectId: string; userId: string }> {
  const owner = sql<{ projectId: string; userId: string }>`
    select project_id as "projectId", user_id as "userId" from ${sql.table(userTables[noun])} where id = ${id}`;
  const [row] = isUuid(id) ? await query(em, owner) : [];
  return found(row, noun);
}
