import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ProvenanceEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('Group', { description: 'A group of users, from a directory or of admins. `users` lists its members.' })
export class GroupView extends fields({
  id: id('`id` in SCIM.'),
  displayName: text(),
  externalId: nullable(text("The directory's id.")),
  provenance: oneOf(ProvenanceEnum, 'Only groups that are LOCAL can be changed here.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

export const GroupConnection = connectionType(GroupView, 'Group');
