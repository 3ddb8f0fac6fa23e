import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { OrganizationInvitation } from './invitations/organization-invitation.entity.ts';
import { Organization } from './organization.entity.ts';
import { organizationFields } from './organization.resource.ts';
import { OrganizationDomain } from './organization-domain.entity.ts';
import { OrganizationMembership } from './organization-membership.entity.ts';
import {
  OrganizationDefaultRole,
  OrganizationGroupRole,
  OrganizationMembershipRole,
  OrganizationRole,
} from './organization-role.entity.ts';
import { organizationTables } from './user-tables.ts';

const nouns = {
  organization: { table: 'organizations', organization: 'id' },
  'organization-role': { table: 'organization_roles' },
  'organization-membership': { table: 'organization_memberships', organization: 'organization_id' },
  'organization-invitation': { table: 'organization_invitations', organization: 'organization_id' },
  'organization-domain': { table: 'organization_domains', organization: 'organization_id' },
} as const;

const events = {
  'organization.created': ['people', '{actor} created the organization {subject}'],
  'organization.deleted': ['people', '{actor} deleted the organization {subject}'],
  'organization.updated': ['people', '{actor} changed the organization {subject}'],
  'organization-domain.added': ['people', '{actor} added the domain {subject} to {organization}'],
  'organization-domain.lost': ['people', 'The domain {subject} of {organization} was lost after failed DNS checks'],
  'organization-domain.missing': ['people', 'The domain {subject} of {organization} failed its DNS check'],
  'organization-domain.removed': ['people', '{actor} removed the domain {subject} from {organization}'],
  'organization-domain.verified': ['people', 'The domain {subject} of {organization} was verified'],
  'organization-invitation.accepted': ['people', '{actor} accepted the invitation to {organization}'],
  'organization-invitation.revoked': ['people', '{actor} revoked the invitation of {subject} to {organization}'],
  'organization-invitation.sent': ['people', '{actor} invited {subject} to {organization}'],
  'organization-membership.created': ['people', '{subject} became a member of {organization}'],
  'organization-membership.ended': ['people', '{actor} removed {subject} from {organization}'],
  'organization-membership.requested': ['people', '{subject} asked to join {organization}'],
  'organization-membership.updated': ['people', '{actor} changed the membership of {subject} in {organization}'],
  'organization-role.assigned': ['people', '{actor} assigned the role {role} of {organization} to {subject}'],
  'organization-role.created': ['people', '{actor} created the organization role {subject}'],
  'organization-role.deleted': ['people', '{actor} deleted the organization role {subject}'],
  'organization-role.unassigned': ['people', '{actor} removed the role {role} of {organization} from {subject}'],
  'organization-role.updated': ['people', '{actor} changed the organization role {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    organizations: typeof nouns;
  }
  interface Events {
    organizations: typeof events;
  }
}

export const organizationsNouns = {
  nouns,
  events,
  resources: { Organization: organizationFields },
  entities: [
    ...[Organization, OrganizationRole, OrganizationDefaultRole, OrganizationMembership, OrganizationMembershipRole],
    ...[OrganizationInvitation, OrganizationDomain, OrganizationGroupRole],
  ],
  transfer: [
    { type: 'organization', table: 'organizations', parent: childOf('project'), key: ['id'] },
    { type: 'organization-role', table: 'organization_roles', parent: childOf('project'), key: ['id'] },
    {
      type: 'organization-default-role',
      table: 'organization_default_roles',
      parent: childOf('organization'),
      key: ['organization_id', 'role_id'],
    },
    {
      type: 'organization-domain',
      table: 'organization_domains',
      parent: childOf('organization'),
      key: ['id'],
      // Each instance verifies domains itself.
      omit: ['state', 'proved_by', 'reason', 'fault', 'checked_at', 'verified_at', 'failing_since'],
    },
  ],
} satisfies Declaration<UserTables>;

/** Organizations precede users, whose home they can be; these rows follow users. */
export const organizationMembersNouns = {
  transfer: [
    {
      type: 'organization-membership',
      table: 'organization_memberships',
      parent: childOf('organization'),
      key: ['id'],
    },
    {
      type: 'organization-membership-role',
      table: 'organization_membership_roles',
      parent: { column: 'membership_id', type: 'organization-membership' },
      key: ['membership_id', 'role_id'],
    },
    {
      type: 'organization-group-role',
      table: 'organization_group_roles',
      parent: childOf('group'),
      key: ['group_id', 'role_id'],
    },
  ],
  userTables: [organizationTables],
} satisfies Declaration<UserTables>;
