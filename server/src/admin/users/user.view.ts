import { Field, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ProvenanceEnum } from '../api/enums.ts';
import { boolean, fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('User', { description: 'An end user of one project.' })
export class UserView extends fields({
  id: id('`id` in SCIM. Without a `subject` also `sub` in tokens.'),
  subject: nullable(text('`sub` in tokens, of a user who came from another system with it.')),
  userName: text(),
  externalId: nullable(text()),
  displayName: nullable(text()),
  givenName: nullable(text()),
  familyName: nullable(text()),
  email: nullable(text('The address that receives codes.')),
  phone: nullable(text('E.164.')),
  active: boolean(),
  provenance: oneOf(ProvenanceEnum),
  createdAt: time(),
  updatedAt: time(),
  lastSignInAt: nullable(time()),
  invitedAt: nullable(
    time('Time of the last invitation. Absent: not invited, or revoked. It is open until the user signs in.'),
  ),
}) {}

export const UserConnection = connectionType(UserView, 'User');
Field(() => Boolean, { description: 'Whether more users match the search than are listed.' })(
  UserConnection.prototype,
  'isLimited',
);
