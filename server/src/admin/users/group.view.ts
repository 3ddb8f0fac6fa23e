import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('project_viewer', ofProject)
@ObjectType('Group', { description: 'Users under one name, as a directory pushed them. `users` lists its members.' })
export class GroupView {
  @Field(() => ID, { description: 'The same in SCIM.' })
  id!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true, description: "The directory's own id." })
  externalId!: string | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const GroupConnection = connectionType(GroupView, 'Group');
