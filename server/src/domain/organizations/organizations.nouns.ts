import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { OrganizationInvitation } from './invitations/organization-invitation.entity.ts';
import { Organization } from './organization.entity.ts';
import { OrganizationDomain } from './organization-domain.entity.ts';
import { OrganizationMembership } from './organization-membership.entity.ts';
import { OrganizationDefaultRole, OrganizationMembershipRole, OrganizationRole } from './organization-role.entity.ts';
import { organizationTables } from './user-tables.ts';

const nouns = {
  organization: { table: 'organizations' },
  'organization-role': { table: 'organization_roles' },
  'organization-membership': { table: 'organization_memberships' },
  'organization-invitation': { table: 'organization_invitations' },
  'organization-domain': { table: 'organization_domains' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    organizations: typeof nouns;
  }
}

export const organizationsNouns = {
  nouns,
  entities: [
    ...[Organization, OrganizationRole, OrganizationDefaultRole, OrganizationMembership, OrganizationMembershipRole],
    ...[OrganizationInvitation, OrganizationDomain],
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
  ],
  userTables: [organizationTables],
} satisfies Declaration<UserTables>;
