import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject, tenant } from '../projects/tenant.ts';
import { Group } from '../users/group.entity.ts';
import { Organization } from './organization.entity.ts';
import { OrganizationMembership } from './organization-membership.entity.ts';

const role = defineEntity({
  name: 'OrganizationRole',
  tableName: 'organization_roles',
  properties: {
    project: tenant,
    id: key(),
    /** The value in `org_roles`. */
    key: p.text(),
    name: p.text(),
    createdAt: instant(),
  },
  uniques: [{ name: 'organization_roles_project_id_key_unique', properties: ['project', 'key'] }],
});

/** A role that members can have in an organization; the same roles for all organizations of a project. */
export class OrganizationRole extends role.class {}
role.setClass(OrganizationRole);

const preset = defineEntity({
  name: 'OrganizationDefaultRole',
  tableName: 'organization_default_roles',
  properties: {
    project: impliedTenant,
    organization: () => sameProject(Organization, 'organization_id').primary(),
    role: () => sameProject(OrganizationRole, 'role_id').primary(),
  },
  indexes: [{ name: 'organization_default_roles_project_id_role_id_index', properties: ['role'] }],
});

/** A role that new members of an organization get if none is named. */
export class OrganizationDefaultRole extends preset.class {}
preset.setClass(OrganizationDefaultRole);

const held = defineEntity({
  name: 'OrganizationMembershipRole',
  tableName: 'organization_membership_roles',
  properties: {
    project: impliedTenant,
    membership: () => sameProject(OrganizationMembership, 'membership_id').primary(),
    role: () => sameProject(OrganizationRole, 'role_id').primary(),
  },
  indexes: [{ name: 'organization_membership_roles_project_id_role_id_index', properties: ['role'] }],
});

/** A role that a member has. */
export class OrganizationMembershipRole extends held.class {}
held.setClass(OrganizationMembershipRole);

const ofGroup = defineEntity({
  name: 'OrganizationGroupRole',
  tableName: 'organization_group_roles',
  properties: {
    project: impliedTenant,
    group: () => sameProject(Group, 'group_id').primary(),
    role: () => sameProject(OrganizationRole, 'role_id').primary(),
  },
  indexes: [{ name: 'organization_group_roles_project_id_role_id_index', properties: ['role'] }],
});

/** A role that a group of an organization's directory gives its members there. */
export class OrganizationGroupRole extends ofGroup.class {}
ofGroup.setClass(OrganizationGroupRole);
