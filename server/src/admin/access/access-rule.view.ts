import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { boolean, fields, id, int, list, object, time } from '../api/fields.ts';
import { ClientView } from '../clients/client.view.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('AccessRule', {
  description:
    'Gives access to an application to a user, to the members of a group or an organization, or to the holders of a role.',
})
export class AccessRuleView extends fields({
  id: id(),
  createdAt: time(),
}) {}

export const AccessRuleConnection = connectionType(AccessRuleView, 'AccessRule');

@Access('inherited')
@ObjectType({ description: 'A number of users.' })
export class UserTotal extends fields({
  count: int('At most 10,000.'),
  isLimited: boolean('Whether there are more.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'An application that a user may use, and why.' })
class UserApplication extends fields({
  client: object(ClientView),
  through: list(object(AccessRuleView, 'The rules that give access, at most 20; none if every user has access.')),
}) {}

export const UserApplicationConnection = connectionType(UserApplication, 'UserApplication');
