import type { Role } from './membership.entity.ts';

/** The rights of an admin. */
export interface Grants {
  /** Owner of the instance: all rights everywhere. */
  owner: boolean;
  /** Role by project id. */
  projects: ReadonlyMap<string, ProjectRole>;
}
type ProjectRole = Exclude<Role, 'owner'>;

export const nothing: Grants = { owner: false, projects: new Map() };
export const everything: Grants = { owner: true, projects: new Map() };

const rank: Record<Role, number> = { project_viewer: 1, project_admin: 2, owner: 3 };

/** The role in a project, or in the instance (`null`: only `owner`). */
export function roleIn(grants: Grants, projectId: string | null): Role | null {
  if (grants.owner) return 'owner';
  return projectId === null ? null : (grants.projects.get(projectId) ?? null);
}

/** True if the admin has at least the role `need` in the project (`null`: in the instance). */
export function allows(grants: Grants, need: Role, projectId: string | null): boolean {
  const role = roleIn(grants, projectId);
  return role !== null && rank[role] >= rank[need];
}

/** Whether the caller may grant or revoke a role: only within their own rights, viewers none. */
export function mayGrant(grants: Grants, role: Role, projectId: string | null): boolean {
  if (role === 'owner' || projectId === null) return grants.owner;
  return allows(grants, 'project_admin', projectId);
}

/** The rights in both: a token never has more than its creator's current rights. */
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

/** Grants from rows of role and project. */
export function grantsOf(rows: Iterable<{ role: Role; projectId: string | null }>): Grants {
  let owner = false;
  const projects = new Map<string, ProjectRole>();
  for (const { role, projectId } of rows) {
    if (role === 'owner') owner = true;
    else if (projectId !== null) projects.set(projectId, role);
  }
  return { owner, projects };
}

/** The role behind a client's scopes, which limit it further. */
export function grantsOfClient(projectId: string, scopes: readonly string[]): Grants {
  const role = scopes.some((scope) => scope.endsWith(':write')) ? 'project_admin' : 'project_viewer';
  return { owner: false, projects: new Map([[projectId, role]]) };
}
