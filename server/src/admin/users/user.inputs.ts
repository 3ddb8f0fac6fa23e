import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { User } from '../../domain/users/user.entity.ts';
import { ProvenanceEnum } from '../api/enums.ts';

@InputType('UserFilter', { description: 'What is absent is not asked.' })
export class UserFilterInput {
  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Field(() => ProvenanceEnum, { nullable: true })
  provenance?: User['provenance'] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether they have set up a second factor.' })
  hasFactor?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether they have signed in at all.' })
  hasSignedIn?: boolean | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Last signed in at this moment or later.' })
  signedInSince?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Have signed in, but not since this moment.' })
  notSignedInSince?: Date | null;

  @Field(() => ID, { nullable: true, description: 'Members of this group.' })
  groupId?: string | null;
}
