import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { boolean, fields, id, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('RefreshGrant', { description: 'The access of an application to a user by refresh tokens.' })
export class RefreshGrantView extends fields({
  id: id(),
  scope: text('Separated by spaces.'),
  offline: boolean('With `offline_access`: it outlives the session.'),
  createdAt: time(),
  lastUsedAt: time(),
  expiresAt: time('If unused.'),
}) {}

export const RefreshGrantConnection = connectionType(RefreshGrantView, 'RefreshGrant');
