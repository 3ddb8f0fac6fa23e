import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../../kernel/actor.ts';
import { type Fragment, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';

/** Where a user or a group is at home (decisions/0400): the project (`organizationId` null), or one of its organizations. */
export interface Home {
  projectId: string;
  organizationId: string | null;
}

/** How a new user became a member of the organization that is their home. */
export type HomeSource = 'admin' | 'connection' | 'directory';

/** An organization as the home of new users: makes one a member. Joins. */
export type JoinHome = (userId: string, source: HomeSource, actor: Actor) => Promise<void>;

/** Joins: locks the organization against its deletion. Refuses `not-found`. */
export type OpenHome = (em: EntityManager, organization: TenantKey) => Promise<JoinHome>;

export type ProjectHome = Home & { organizationId: null };

/** The project as a home. */
export const atProject = (projectId: string): ProjectHome => ({ projectId, organizationId: null });

/** SQL condition: the row `r`, or the one of another name, is at this home. Of constant text for each kind of home. */
export function isAt({ projectId, organizationId }: Home, row = 'r'): Fragment {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const ofProject = sql`${column('project_id')} = ${projectId}::uuid`;
  return organizationId === null
    ? sql`${ofProject} and ${column('organization_id')} is null`
    : sql`${ofProject} and ${column('organization_id')} = ${organizationId}::uuid`;
}

/** SQL: the project becomes the home of users of an organization. No directory manages them then. */
export function movedToProject(home: Home, ids: readonly string[], now: Date): Fragment {
  return sql`update users r set organization_id = null, provenance = 'local', version = r.version + 1, updated_at = ${now}::timestamptz
    where ${isAt(home)} and r.id = any(${ids}::uuid[])`;
}
