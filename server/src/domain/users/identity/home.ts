import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../../kernel/actor.ts';
import { type Fragment, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import { countedMoves } from '../user-counts.ts';

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

/**
 * Users and groups of one home, as its directory sees them, or those of all homes of a project, by its id. Records of guests are in the former
 * only.
 */
export type Place = Home | string;

export const projectOf = (place: Place): string => (typeof place === 'string' ? place : place.projectId);

/** The home of what is created in a place: of a project, the project. */
export const homeAt = (place: Place): Home => (typeof place === 'string' ? atProject(place) : place);

/** The filter of the ORM for rows of a place. */
export function inPlace(place: Place): { project: string; organizationId?: string | null } {
  return typeof place === 'string'
    ? { project: place }
    : { project: place.projectId, organizationId: place.organizationId };
}

/** SQL condition: the row `r`, or the one of another name, is in this place. Of constant text for each kind of place. */
export function isIn(place: Place, row = 'r'): Fragment {
  return typeof place === 'string' ? sql`${sql.ref(`${row}.project_id`)} = ${place}::uuid` : isAt(place, row);
}

/** SQL condition: the user `r`, or the one of another name, is in this place. Of constant text for each kind of place. */
export function isUserIn(place: Place, row = 'r'): Fragment {
  return typeof place === 'string'
    ? sql`${isIn(place, row)} and ${sql.ref(`${row}.account_id`)} is null`
    : isAt(place, row);
}

/** SQL condition: the row `r`, or the one of another name, is at this home. Of constant text for each kind of home. */
export function isAt({ projectId, organizationId }: Home, row = 'r'): Fragment {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const ofProject = sql`${column('project_id')} = ${projectId}::uuid`;
  return organizationId === null
    ? sql`${ofProject} and ${column('organization_id')} is null`
    : sql`${ofProject} and ${column('organization_id')} = ${organizationId}::uuid`;
}

/**
 * SQL: the project becomes the home of users of an organization. No directory manages them then. Roles of applications that the directory of
 * the organization named gave nothing so far, and must not do so now.
 */
export function movedToProject(home: Home, ids: readonly string[], now: Date): Fragment {
  return sql`with moved as (
      update users r set organization_id = null, provenance = 'local',
        attributes = r.attributes - 'roles' - 'entitlements', version = r.version + 1, updated_at = ${now}::timestamptz
      where ${isAt(home)} and r.id = any(${ids}::uuid[]) returning r.project_id, r.id
    ), counted as (${countedMoves(sql`moved`, -1)})
    update custom_values v set organization_id = null from moved m where v.project_id = m.project_id and v.user_id = m.id`;
}
