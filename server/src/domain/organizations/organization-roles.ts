import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, flushUnlessTaken } from '../kernel/database.ts';
import { cleanName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, locked, type TenantKey } from '../projects/tenant.ts';
import { checkRoleKey } from '../roles/roles.ts';
import { OrganizationMembershipRole, OrganizationRole } from './organization-role.entity.ts';

const maxRoles = 200;

/** Roles of organizations: the same for all of a project. Each method is one transaction. */
export class OrganizationRoles {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** Refuses `not-found`, `invalid`, and `taken` if the project has a role with this key. */
  create(projectId: string, values: { key: string; name: string }, actor: Actor): Promise<OrganizationRole> {
    checkRoleKey(values.key);
    const name = cleanName(values.name);
    return this.deps.db.transaction(async (em) => {
      // Serialized, so that the limit holds.
      const project = await existing(em, Project, projectId, 'project', locked);
      if ((await em.count(OrganizationRole, { project })) >= maxRoles) {
        refuse({ code: 'invalid', field: 'projectId', reason: `already has ${maxRoles} roles of organizations` });
      }
      const id = this.deps.random.id();
      const of = { project: project.id, id, createdAt: this.deps.clock.now() };
      const role = em.create(OrganizationRole, { ...of, key: values.key, name });
      em.persist(role);
      this.record(em, 'organization-role.created', role, actor, { key: role.key });
      await flushUnlessTaken(em, 'organization-role', 'key');
      return role;
    });
  }

  /** Changes the name; the key stays, since applications rely on it. Refuses `not-found`, `invalid`. */
  rename(key: TenantKey, name: string, actor: Actor): Promise<OrganizationRole> {
    const wanted = cleanName(name);
    return this.deps.db.transaction(async (em) => {
      const role = (await existing(em, OrganizationRole, key, 'organization-role', locked)) as OrganizationRole;
      const changed = change<OrganizationRole>(role, { name: wanted });
      if (changed) this.record(em, 'organization-role.updated', role, actor, { ...changed });
      return role;
    });
  }

  /** Deletes a role; members, default roles and open invitations lose it. Refuses `not-found`. */
  delete(key: TenantKey, actor: Actor): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const role = (await existing(em, OrganizationRole, key, 'organization-role', locked)) as OrganizationRole;
      const members = await em.count(OrganizationMembershipRole, { role });
      this.record(em, 'organization-role.deleted', role, actor, { key: role.key, members });
      em.remove(role);
    });
  }

  private record(
    em: EntityManager,
    type: EventType,
    { project, id, name }: OrganizationRole,
    actor: Actor,
    detail: Record<string, unknown>,
  ): void {
    const subject = { kind: 'organization-role', id, name };
    this.deps.audit.record(em, { type, actor, projectId: project.id, subject, detail });
  }
}

/** The roles of a project, by name; at most 200. */
export function organizationRolesOf(em: EntityManager, projectId: string): Promise<OrganizationRole[]> {
  return em.find(OrganizationRole, { project: projectId }, { orderBy: { name: 'asc', id: 'asc' } });
}

/** The roles with these keys. Refuses `not-found` for any other key. */
export async function rolesWithKeys(
  em: EntityManager,
  projectId: string,
  keys: readonly string[],
): Promise<OrganizationRole[]> {
  const wanted = [...new Set(keys)];
  if (wanted.length === 0) return [];
  const roles = await em.find(OrganizationRole, { project: projectId, key: { $in: wanted } });
  if (roles.length < wanted.length) refuse({ code: 'not-found', what: 'organization-role' });
  return roles;
}

/** Joins: replaces the roles that new members get. @returns whether they changed */
export async function setDefaultRoles(
  em: EntityManager,
  { project, id }: TenantKey,
  roles: readonly OrganizationRole[],
): Promise<boolean> {
  const ids = roles.map((role) => role.id);
  const of = sql`project_id = ${project.id}::uuid and organization_id = ${id}::uuid`;
  const removed = await execute(
    em,
    sql`delete from organization_default_roles where ${of} and role_id <> all(${ids}::uuid[])`,
  );
  const added = await execute(
    em,
    sql`insert into organization_default_roles (project_id, organization_id, role_id)
      select ${project.id}::uuid, ${id}::uuid, r.id from unnest(${ids}::uuid[]) r(id) on conflict do nothing`,
  );
  return removed + added > 0;
}

/** The roles that new members of an organization get, by name. */
export async function defaultRolesOf(em: EntityManager, { project, id }: TenantKey): Promise<OrganizationRole[]> {
  const rows = await query(
    em,
    sql<{ id: string }>`select role_id as id from organization_default_roles
      where project_id = ${project.id}::uuid and organization_id = ${id}::uuid`,
  );
  const of = { project: project.id, id: { $in: rows.map((row) => row.id) } };
  return em.find(OrganizationRole, of, { orderBy: { name: 'asc', id: 'asc' } });
}
