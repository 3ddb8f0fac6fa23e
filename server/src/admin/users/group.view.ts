import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('Group', { description: 'A group from a directory. `users` lists its members.' })
export class GroupView {
  @Field(() => ID, { description: '`id` in SCIM.' })
  id!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true, description: "The directory's id." })
  externalId!: string | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const GroupConnection = connectionType(GroupView, 'Group');
