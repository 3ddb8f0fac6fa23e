import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { User } from '../../domain/users/user.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ProvenanceEnum } from '../api/enums.ts';

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('User', { description: 'An end user of one project.' })
export class UserView {
  @Field(() => ID, { description: '`sub` in tokens, `id` in SCIM.' })
  id!: string;

  @Field(() => String)
  userName!: string;

  @Field(() => String, { nullable: true })
  externalId!: string | null;

  @Field(() => String, { nullable: true })
  displayName!: string | null;

  @Field(() => String, { nullable: true })
  givenName!: string | null;

  @Field(() => String, { nullable: true })
  familyName!: string | null;

  @Field(() => String, { nullable: true, description: 'The address that receives codes.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'E.164.' })
  phone!: string | null;

  @Field(() => Boolean)
  active!: boolean;

  @Field(() => ProvenanceEnum)
  provenance!: User['provenance'];

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastSignInAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Time of the last invitation. Absent: not invited, or revoked. It is open until the user signs in.',
  })
  invitedAt!: Date | null;
}

export const UserConnection = connectionType(UserView, 'User');
Field(() => Boolean, { description: 'Whether more users match the search than are listed.' })(
  UserConnection.prototype,
  'isLimited',
);
