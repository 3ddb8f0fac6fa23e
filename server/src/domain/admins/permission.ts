import type { Role } from './membership.entity.ts';

/** What an admin may do, and where. */
export interface Grants {
  /** Owns the instance: everything, everywhere. */
  owner: boolean;
  /** The role in each project that has one. */
  projects: ReadonlyMap<string, ProjectRole>;
}
type ProjectRole = Exclude<Role, 'owner'>;

export const nothing: Grants = { owner: false, projects: new Map() };
export const everything: Grants = { owner: true, projects: new Map() };

const rank: Record<Role, number> = { project_viewer: 1, project_admin: 2, owner: 3 };

/** The role in a project; for the instance itself (`null`) only `owner` is one. */
export function roleIn(grants: Grants, projectId: string | null): Role | null {
  if (grants.owner) return 'owner';
  return projectId === null ? null : (grants.projects.get(projectId) ?? null);
}

/** True where the admin has at least the role `need` in the project (`null`: in the instance). */
export function allows(grants: Grants, need: Role, projectId: string | null): boolean {
  const role = roleIn(grants, projectId);
  return role !== null && rank[role] >= rank[need];
}

/** A role can be granted or revoked only within the caller's own rights; viewers grant none. */
export function mayGrant(grants: Grants, role: Role, projectId: string | null): boolean {
  if (role === 'owner' || projectId === null) return grants.owner;
  return allows(grants, 'project_admin', projectId);
}

/** What both allow: a token never has more than its maker has today. */
export function intersection(a: Grants, b: Grants): Grants {
  if (a.owner) return b;
  if (b.owner) return a;
  const projects = new Map<string, ProjectRole>();
  for (const [projectId, role] of a.projects) {
    const other = b.projects.get(projectId);
    if (other) projects.set(projectId, rank[role] < rank[other] ? role : other);
  }
  return { owner: false, projects };
}

export function hasAny(grants: Grants): boolean {
  return grants.owner || grants.projects.size > 0;
}

/** The grants that rows of role and project make up. */
export function grantsOf(rows: Iterable<{ role: Role; projectId: string | null }>): Grants {
  let owner = false;
  const projects = new Map<string, ProjectRole>();
  for (const { role, projectId } of rows) {
    if (role === 'owner') owner = true;
    else if (projectId !== null) projects.set(projectId, role);
  }
  return { owner, projects };
}
