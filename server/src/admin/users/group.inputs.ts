import { Field, ID, InputType } from 'type-graphql';

@InputType()
export class CreateGroupInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  displayName!: string;
}

@InputType()
export class UpdateGroupInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  displayName!: string;
}

@InputType()
class GroupMembersInput {
  @Field(() => ID)
  groupId!: string;

  @Field(() => [ID])
  userIds!: string[];
}

@InputType({ description: '`userIds`: 1 to 500 users of the project of the group.' })
export class AddGroupMembersInput extends GroupMembersInput {}

@InputType({ description: '`userIds`: 1 to 500 users of the project of the group.' })
export class RemoveGroupMembersInput extends GroupMembersInput {}
