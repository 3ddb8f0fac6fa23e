import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';
import { Organization } from './organization.entity.ts';

/** `requested`: the user waits for an admin; only `active` gives access. */
export const membershipStates = ['active', 'suspended', 'requested'] as const;

/** How the user became a member. */
export const membershipSources = ['admin', 'invitation', 'domain', 'connection', 'directory'] as const;

const schema = defineEntity({
  name: 'OrganizationMembership',
  tableName: 'organization_memberships',
  properties: {
    project: impliedTenant,
    id: key(),
    organization: () => sameProject(Organization, 'organization_id'),
    user: () => sameProject(User, 'user_id'),
    state: p.enum(membershipStates).default('active'),
    source: p.enum(membershipSources),
    /** The directory of the organization has suspended it, and may activate it again; otherwise an admin has. */
    suspendedByDirectory: p.boolean().default(false),
    createdAt: instant(),
    /** Time of the last sign-in in this organization; null: none yet. */
    lastUsedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'organization_memberships_member_unique',
      properties: ['organization', 'user'],
    },
  ],
  indexes: [
    { name: 'organization_memberships_project_id_user_id_index', properties: ['user'] },
    // Lists of members, newest first.
    { name: 'organization_memberships_project_id_organization_id_id_index', properties: ['organization', 'id'] },
  ],
});

/** A user in an organization. Not `Membership`, which is the role of an admin. */
export class OrganizationMembership extends schema.class {}
schema.setClass(OrganizationMembership);
