import { InputType } from 'type-graphql';
import { RoleEnum } from '../api/enums.ts';
import { boolean, id, inputFields, list, nullable, oneOf, text, time } from '../api/fields.ts';

const organizationIds = list(
  id('Of the project; required for ORGANIZATION_ADMIN, absent for other roles; at most 50.'),
);

@InputType()
export class GrantRoleInput extends inputFields({
  email: text('The address used to sign in to the console.'),
  role: oneOf(RoleEnum),
  projectId: nullable(id('Required for every role except OWNER.')),
  organizationIds: nullable(organizationIds),
  impersonates: nullable(
    boolean('Whether the admin may use applications as users, where the project allows it. Default: false.'),
  ),
  invite: nullable(boolean('Sends a mail with the role and the address of the console. Default: false.')),
}) {}

@InputType()
export class IssueAdminTokenInput extends inputFields({
  name: text(),
  role: oneOf(RoleEnum),
  projectId: nullable(id('Required for every role except OWNER.')),
  organizationIds: nullable(organizationIds),
  expiresAt: nullable(
    time('Absent: never. If the caller is a token that expires: not after its expiry, which is also the default.'),
  ),
}) {}
