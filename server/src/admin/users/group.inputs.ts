import { InputType } from 'type-graphql';
import { id, inputFields, list, text } from '../api/fields.ts';

@InputType()
export class CreateGroupInput extends inputFields({
  projectId: id(),
  displayName: text(),
}) {}

@InputType()
export class UpdateGroupInput extends inputFields({
  id: id(),
  displayName: text(),
}) {}

@InputType()
class GroupMembersInput extends inputFields({
  groupId: id(),
  userIds: list(id()),
}) {}

@InputType({ description: '`userIds`: 1 to 500 users of the project of the group.' })
export class AddGroupMembersInput extends GroupMembersInput {}

@InputType({ description: '`userIds`: 1 to 500 users of the project of the group.' })
export class RemoveGroupMembersInput extends GroupMembersInput {}
