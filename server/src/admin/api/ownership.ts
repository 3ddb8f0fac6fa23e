import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import type { OwnedNoun } from '../../domain/kernel/nouns/names.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { inAllProjects } from '../../domain/kernel/scope.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { type Executing, query, sql } from '../../domain/kernel/sql.ts';
import { ownedNouns } from '../../domain/nouns.ts';

/** The node of an operation; the role is required in its project. */
export interface About {
  noun: OwnedNoun;
  id: string;
}

/** Where a node belongs. */
export interface Owner {
  /** Null: the instance. */
  projectId: string | null;
  /** Null: no organization. */
  organizationId: string | null;
}

/**
 * The project and organization of a node. Refuses `not-found`. The only lookup of the admin API by an id alone: later statements of
 * the operation name the project, and see no other.
 */
export async function ownerOf(on: Executing, { noun, id }: About): Promise<Owner> {
  const { table, project = 'project_id', organization } = ownedNouns[noun];
  const owner = sql<Owner>`
    select ${sql.ref(project)} as "projectId", ${organization ? sql.ref(organization) : sql`null`} as "organizationId"
    from ${sql.table(table)} where id = ${id}`;
  const [row] = isUuid(id) ? await inAllProjects(() => query(on, owner)) : [];
  if (!row) refuse({ code: 'not-found', what: noun });
  return row;
}

/** The scopes at the admin API of the client that a node is, or belongs to; none for other nodes. */
export async function adminScopesOf(on: Executing, about: About | null): Promise<AdminScope[]> {
  if (!about) return [];
  const { table, client } = ownedNouns[about.noun];
  if (!client) return [];
  const held = sql<{ adminScopes: AdminScope[] }>`
    select k.admin_scopes as "adminScopes" from ${sql.table(table)} t
      join clients k on k.project_id = t.project_id and k.id = ${sql.ref(`t.${client}`)}
    where t.id = ${about.id}`;
  const [row] = await inAllProjects(() => query(on, held));
  return row?.adminScopes ?? [];
}
