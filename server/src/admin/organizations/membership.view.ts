import { ObjectType } from 'type-graphql';
import { membershipSources, membershipStates } from '../../domain/organizations/organization-membership.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, nullable, oneOf, time } from '../api/fields.ts';
import { enumOf } from '../api/resource-types.ts';

export const MembershipStateEnum = enumOf({
  name: 'OrganizationMembershipState',
  says: 'Whether a member can use an organization.',
  values: membershipStates,
});

const MembershipSourceEnum = enumOf({
  name: 'OrganizationMembershipSource',
  says: 'How a user became a member of an organization.',
  values: membershipSources,
});

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('OrganizationMembership', { description: 'A user in an organization.' })
export class OrganizationMembershipView extends fields({
  id: id(),
  state: oneOf(MembershipStateEnum),
  source: oneOf(MembershipSourceEnum),
  createdAt: time(),
  lastUsedAt: nullable(time('Last sign-in in this organization.')),
}) {}

export const OrganizationMembershipConnection = connectionType(OrganizationMembershipView, 'OrganizationMembership');
