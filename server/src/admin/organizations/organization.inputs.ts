import { InputType } from 'type-graphql';
import { organizationFields } from '../../domain/organizations/organization.resource.ts';
import { id, inputFields, jsonObject, list, nullable, oneOf, text } from '../api/fields.ts';
import { changeOf, creationOf, enumOf } from '../api/resource-types.ts';
import { MembershipStateEnum } from './membership.view.ts';

const OrganizationPeopleEnum = enumOf({
  name: 'OrganizationPeople',
  says: 'Effect of a deletion on users at home in the organization.',
  values: ['erase', 'move'] as const,
});

const metadata = nullable(jsonObject("At most 4 KB, for the project's own back end. Replaces the former one."));
const defaultRoleKeys = nullable(list(text('Keys of the roles that new members get if none is named.')));

@InputType()
export class CreateOrganizationInput extends inputFields({
  projectId: id(),
  ...creationOf(organizationFields),
  metadata,
  defaultRoleKeys,
}) {}

@InputType({
  description: 'Absent fields are unchanged; null clears `mfaPolicy`, `idleTimeoutSeconds` and `maxSessionSeconds`.',
})
export class UpdateOrganizationInput extends inputFields({
  id: id(),
  ...changeOf(organizationFields),
  metadata,
  defaultRoleKeys,
}) {}

@InputType()
export class DeleteOrganizationInput extends inputFields({
  id: id(),
  people: nullable(
    oneOf(
      OrganizationPeopleEnum,
      'Users at home in the organization: erased, or moved to the project. Required if there are any.',
    ),
  ),
}) {}

@InputType()
export class CreateOrganizationRoleInput extends inputFields({
  projectId: id(),
  key: text('The value in `org_roles`; letters, digits and _ . : / @ -. It cannot be changed.'),
  name: text(),
}) {}

@InputType()
export class UpdateOrganizationRoleInput extends inputFields({ id: id(), name: text() }) {}

@InputType()
export class AddOrganizationMemberInput extends inputFields({
  organizationId: id(),
  userId: id(),
  roleKeys: nullable(list(text('Default: the default roles of the organization.'))),
}) {}

@InputType()
export class UpdateOrganizationMemberInput extends inputFields({
  id: id('Of the membership.'),
  state: oneOf(
    MembershipStateEnum,
    'SUSPENDED: the member cannot sign in to the organization, and their tokens in it end.',
  ),
}) {}

@InputType()
export class InviteOrganizationMemberInput extends inputFields({
  organizationId: id(),
  email: text(),
  roleKeys: nullable(list(text('Default: the default roles of the organization.'))),
  locale: nullable(text('Language of the mail (BCP 47), if the address has no user. Default: en.')),
}) {}

const roleHolder = {
  membershipId: nullable(id()),
  groupId: nullable(id("A group of the organization's directory, instead of `membershipId`.")),
  roleKey: text(),
};

@InputType()
export class AssignOrganizationRoleInput extends inputFields(roleHolder) {}

@InputType()
export class UnassignOrganizationRoleInput extends inputFields(roleHolder) {}

@InputType()
export class AddOrganizationDomainInput extends inputFields({
  organizationId: id(),
  domain: text('The part of mail addresses after the @, such as example.com. Not of a public mail provider.'),
}) {}

@InputType()
export class VerifyOrganizationDomainInput extends inputFields({
  id: id(),
  reason: text('Why it is proved without its record; one line, at most 500 characters.'),
}) {}
