import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('RefreshGrant', { description: 'The access of an application to a user by refresh tokens.' })
export class RefreshGrantView {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'Separated by spaces.' })
  scope!: string;

  @Field(() => Boolean, { description: 'With `offline_access`: it outlives the session.' })
  offline!: boolean;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastUsedAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'If unused.' })
  expiresAt!: Date;
}

export const RefreshGrantConnection = connectionType(RefreshGrantView, 'RefreshGrant');
