import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { boolean, fields, id, list, nullable, object, text, time } from '../api/fields.ts';
import { GroupView } from '../users/group.view.ts';

@Access('project_viewer', ofProject, 'clients:read', 'users:read')
@ObjectType('ClientRole', { description: 'A role of one application.' })
export class RoleView extends fields({
  id: id(),
  key: text('The value that the application receives.'),
  name: text(),
  description: nullable(text()),
  createdAt: time(),
  updatedAt: time(),
}) {}

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('RoleAssignment', { description: 'A role of one user, or of the members of one group.' })
export class RoleAssignmentView extends fields({
  id: id(),
  createdAt: time(),
}) {}

export const RoleAssignmentConnection = connectionType(RoleAssignmentView, 'RoleAssignment', false);

@Access('inherited')
@ObjectType('UserRole', { description: 'A role that a user holds, and why.' })
export class UserRoleView extends fields({
  role: object(RoleView),
  direct: boolean('Whether the role is assigned to the user.'),
  directory: boolean('Whether the directory gives the role, in `roles` or `entitlements`.'),
  groups: list(object(GroupView, 'Groups of the user with this role, at most 50.')),
}) {}
