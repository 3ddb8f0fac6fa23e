import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Group } from '../../domain/users/group.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ProvenanceEnum } from '../api/enums.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('Group', { description: 'A group of users, from a directory or of admins. `users` lists its members.' })
export class GroupView {
  @Field(() => ID, { description: '`id` in SCIM.' })
  id!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true, description: "The directory's id." })
  externalId!: string | null;

  @Field(() => ProvenanceEnum, { description: 'Only groups that are LOCAL can be changed here.' })
  provenance!: Group['provenance'];

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const GroupConnection = connectionType(GroupView, 'Group');
