import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';

@InputType()
export class IssueScimTokenInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Absent: never.' })
  expiresAt?: Date | null;
}
