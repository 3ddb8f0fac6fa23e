import { ObjectType } from 'type-graphql';
import { Access, ofProjectOrInstance } from '../api/access.ts';
import { CallerKindEnum, RoleEnum } from '../api/enums.ts';
import { boolean, fields, id, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'A role and its project, or its organizations; an owner has no project.' })
class Grant extends fields({
  role: oneOf(RoleEnum),
  projectId: nullable(id()),
  organizationIds: nullable(list(id('Of ORGANIZATION_ADMIN.'))),
}) {}

@Access('inherited')
@ObjectType({ description: 'The caller.' })
export class Me extends fields({
  kind: oneOf(CallerKindEnum),
  id: nullable(id()),
  name: text(),
  grants: list(object(Grant)),
  scopes: nullable(list(text('Of an application: the rights of its token, within its role.'))),
  freshUntil: nullable(
    time('Time at which the last mail code or factor becomes too old for sensitive changes; absent for tokens.'),
  ),
}) {}

@Access('inherited')
@ObjectType({ description: 'A user of the console.' })
export class Admin extends fields({
  id: id(),
  name: nullable(text('For owners only.')),
  email: text('The address used to sign in.'),
  active: nullable(boolean('For owners only.')),
  lastSignInAt: nullable(time('For owners only.')),
}) {}

@Access('project_viewer', ofProjectOrInstance)
@ObjectType('Membership', { description: 'A role of an admin.' })
export class MembershipView extends fields({
  id: id(),
  role: oneOf(RoleEnum),
  impersonates: boolean('Whether the admin may use applications as users, where the project allows it.'),
  createdAt: time(),
}) {}

@Access('project_admin', ofProjectOrInstance)
@ObjectType('AdminToken', {
  description: 'A bearer token for this API. The token is shown only once, when it is created.',
})
export class AdminTokenView extends fields({
  id: id(),
  name: text(),
  hint: text('The last four characters.'),
  role: oneOf(RoleEnum),
  createdAt: time(),
  expiresAt: nullable(time()),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  revokedAt: nullable(time()),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new admin API token, shown only once.' })
export class IssuedAdminToken extends fields({
  token: text('`lk_admin_…`'),
  adminToken: object(AdminTokenView),
}) {}
