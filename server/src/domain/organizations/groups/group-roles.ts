import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import type { EventType } from '../../audit/event-types.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Database } from '../../kernel/database.ts';
import { invalid } from '../../kernel/problem.ts';
import { execute, type Fragment, sql } from '../../kernel/sql.ts';
import { existing, keyIn, type TenantKey } from '../../projects/tenant.ts';
import { Group } from '../../users/group.entity.ts';
import { groupsOf } from '../../users/memberships.ts';
import { Organization } from '../organization.entity.ts';
import { inside } from '../organization-events.ts';
import { OrganizationGroupRole, type OrganizationRole } from '../organization-role.entity.ts';
import { rolesWithKeys } from '../organization-roles.ts';

/** SQL: the member `m` in groups of the organization's directory: the user, or the record of a guest. */
const inDirectory = sql`coalesce((select r.id from users r where r.project_id = m.project_id and r.account_id = m.user_id
  and r.organization_id = m.organization_id), m.user_id)`;

/** SQL: `role_id` of the roles of the membership `m`: its own, and those of groups of the organization's directory. */
export const rolesHeldAs: Fragment = sql`select o.role_id from organization_membership_roles o
    where o.project_id = m.project_id and o.membership_id = m.id
  union select a.role_id from organization_group_roles a
    join groups g on g.project_id = a.project_id and g.id = a.group_id and g.organization_id = m.organization_id
    where a.project_id = m.project_id and a.group_id in (${groupsOf(sql`m.project_id`, inDirectory)})`;

/** The organization roles of a group, by name. */
export async function organizationRolesOfGroup(
  em: EntityManager,
  { project, id }: TenantKey,
): Promise<OrganizationRole[]> {
  const where = { group: [project.id, id] as [string, string] };
  const held = await em.find(OrganizationGroupRole, where, { populate: ['role'] });
  return held
    .map(({ role }) => role.getEntity() as OrganizationRole)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Roles in an organization that groups of its directory give (decisions/0403). Each method is one transaction. */
export class GroupRoles {
  constructor(private readonly deps: { db: Database; audit: Audit }) {}

  /** Idempotent. Refuses `not-found` for the group or the role, and `invalid` for a group of no organization. */
  assign(key: TenantKey, roleKey: string, actor: Actor): Promise<void> {
    return this.change(key, roleKey, 'organization-role.assigned', actor, (projectId, groupId, roleId) => {
      return sql`insert into organization_group_roles (project_id, group_id, role_id)
        values (${projectId}::uuid, ${groupId}::uuid, ${roleId}::uuid) on conflict do nothing`;
    });
  }

  /** Like {@link assign}. */
  unassign(key: TenantKey, roleKey: string, actor: Actor): Promise<void> {
    return this.change(key, roleKey, 'organization-role.unassigned', actor, (projectId, groupId, roleId) => {
      return sql`delete from organization_group_roles
        where project_id = ${projectId}::uuid and group_id = ${groupId}::uuid and role_id = ${roleId}::uuid`;
    });
  }

  private change(
    key: TenantKey,
    roleKey: string,
    type: EventType,
    actor: Actor,
    statement: (projectId: string, groupId: string, roleId: string) => Fragment,
  ): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const group = await existing(em, Group, key, 'group');
      const { displayName, id, organizationId } = group;
      if (organizationId == null) invalid('groupId', 'must be a group of the directory of an organization');
      const projectId = key.project.id;
      const [role] = await rolesWithKeys(em, projectId, [roleKey]);
      if (!role || (await execute(em, statement(projectId, id, role.id))) === 0) return;
      const organization = (await existing(
        em,
        Organization,
        keyIn(projectId, organizationId),
        'organization',
      )) as Organization;
      const subject = { kind: 'group', id, name: displayName };
      const detail = { role: role.name, key: role.key };
      this.deps.audit.record(em, inside(type, organization, { subject, actor, detail }));
    });
  }
}
