import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { inAllProjects } from '../../domain/kernel/scope.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { type Executing, query, sql } from '../../domain/kernel/sql.ts';

/** Nouns that belong to a project or to the instance, by the table and column of their project. */
const owners = {
  project: ['projects', 'id'],
  client: ['clients', 'project_id'],
  'api-key': ['api_keys', 'project_id'],
  'client-secret': ['client_secrets', 'project_id'],
  'refresh-grant': ['refresh_grants', 'project_id'],
  consent: ['consents', 'project_id'],
  'delegation-key': ['delegation_keys', 'project_id'],
  api: ['apis', 'project_id'],
  domain: ['custom_domains', 'project_id'],
  user: ['users', 'project_id'],
  group: ['groups', 'project_id'],
  role: ['client_roles', 'project_id'],
  'access-rule': ['access_rules', 'project_id'],
  session: ['sessions', 'project_id'],
  device: ['credentials', 'project_id'],
  passkey: ['credentials', 'project_id'],
  'scim-token': ['scim_tokens', 'project_id'],
  'admin-token': ['admin_tokens', 'project_id'],
  membership: ['memberships', 'project_id'],
  'logout-delivery': ['logout_deliveries', 'project_id'],
  webhook: ['webhooks', 'project_id'],
  'webhook-delivery': ['webhook_deliveries', 'project_id'],
  'log-stream': ['log_streams', 'project_id'],
} as const;

export type OwnedNoun = keyof typeof owners;

/** The node of an operation; the role is required in its project. */
export interface About {
  noun: OwnedNoun;
  id: string;
}

/**
 * The project of a node; null: the instance. Refuses `not-found`. The only lookup of the admin API by an id alone: later
 * statements of the operation name the project, and see no other.
 */
export async function projectOf(on: Executing, { noun, id }: About): Promise<string | null> {
  const [table, column] = owners[noun];
  const owner = sql<{ project: string | null }>`
    select ${sql.ref(column)} as project from ${sql.table(table)} where id = ${id}`;
  const [row] = isUuid(id) ? await inAllProjects(() => query(on, owner)) : [];
  if (!row) refuse({ code: 'not-found', what: noun });
  return row.project;
}

/** Nouns that are a client or act for one, by the table and column of the client. */
const clientsOf: Partial<Record<OwnedNoun, readonly [string, string]>> = {
  client: ['clients', 'id'],
  'api-key': ['api_keys', 'client_id'],
  'client-secret': ['client_secrets', 'client_id'],
  'delegation-key': ['delegation_keys', 'client_id'],
};

/** The scopes at the admin API of the client that a node is, or belongs to; none for other nodes. */
export async function adminScopesOf(on: Executing, about: About | null): Promise<AdminScope[]> {
  const at = about && clientsOf[about.noun];
  if (!at) return [];
  const [table, column] = at;
  const held = sql<{ adminScopes: AdminScope[] }>`
    select k.admin_scopes as "adminScopes" from ${sql.table(table)} t
      join clients k on k.project_id = t.project_id and k.id = ${sql.ref(`t.${column}`)}
    where t.id = ${about.id}`;
  const [row] = await inAllProjects(() => query(on, held));
  return row?.adminScopes ?? [];
}
