import type { Role } from './membership.entity.ts';

/** The rights of an admin. */
export interface Grants {
  /** Owner of the instance: all rights everywhere. */
  owner: boolean;
  /** Role by project id. */
  projects: ReadonlyMap<string, ProjectRole>;
  /** Project id by the id of each organization that the admin manages, without a role in the project. */
  organizations: ReadonlyMap<string, string>;
}
type ProjectRole = 'project_admin' | 'project_viewer';
/** Roles in whole projects, and in the instance. */
export type WideRole = ProjectRole | 'owner';

export const nothing: Grants = { owner: false, projects: new Map(), organizations: new Map() };
export const everything: Grants = { owner: true, projects: new Map(), organizations: new Map() };

const rank: Record<WideRole, number> = { project_viewer: 1, project_admin: 2, owner: 3 };

/** The role in a project, or in the instance (`null`: only `owner`). */
export function roleIn(grants: Grants, projectId: string | null): WideRole | null {
  if (grants.owner) return 'owner';
  return projectId === null ? null : (grants.projects.get(projectId) ?? null);
}

/** True if the admin has at least the role `need` in the project (`null`: in the instance). */
export function allows(grants: Grants, need: WideRole, projectId: string | null): boolean {
  const role = roleIn(grants, projectId);
  return role !== null && rank[role] >= rank[need];
}

/** Whether the caller may grant or revoke a role: only within their own rights; viewers and admins of organizations none. */
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
  const organizations = new Map(
    [...a.organizations, ...b.organizations].filter(([id, projectId]) =>
      [a, b].every((one) => one.organizations.has(id) || allows(one, 'project_admin', projectId)),
    ),
  );
  return { owner: false, projects, organizations };
}

export function hasAny(grants: Grants): boolean {
  return isWide(grants) || grants.organizations.size > 0;
}

/** Whether an admin is more than an admin of organizations. */
export function isWide(grants: Grants): boolean {
  return grants.owner || grants.projects.size > 0;
}

/** Grants from rows of roles. */
export function grantsOf(
  rows: Iterable<{ role: Role; projectId: string | null; organizationIds: readonly string[] | null }>,
): Grants {
  let owner = false;
  const projects = new Map<string, ProjectRole>();
  const organizations = new Map<string, string>();
  for (const { role, projectId, organizationIds } of rows) {
    if (role === 'owner') owner = true;
    else if (projectId === null) continue;
    else if (role !== 'organization_admin') projects.set(projectId, role);
    else for (const id of organizationIds ?? []) organizations.set(id, projectId);
  }
  return { owner, projects, organizations };
}

/** The role behind a client's scopes, which limit it further. */
export function grantsOfClient(projectId: string, scopes: readonly string[]): Grants {
  const role = scopes.some((scope) => scope.endsWith(':write')) ? 'project_admin' : 'project_viewer';
  return { owner: false, projects: new Map([[projectId, role]]), organizations: new Map() };
}
