import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { User } from '../../domain/users/user.entity.ts';
import { ProvenanceEnum } from '../api/enums.ts';

@InputType('UserFilter', { description: 'Absent fields do not filter.' })
export class UserFilterInput {
  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Field(() => ProvenanceEnum, { nullable: true })
  provenance?: User['provenance'] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user has a second factor.' })
  hasFactor?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user has ever signed in.' })
  hasSignedIn?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user was invited and has not signed in.' })
  isInvited?: boolean | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Last signed in at or after this time.' })
  signedInSince?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Has signed in, but not since this time.' })
  notSignedInSince?: Date | null;

  @Field(() => ID, { nullable: true, description: 'Members of this group.' })
  groupId?: string | null;
}
