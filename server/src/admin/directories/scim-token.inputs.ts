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

  @Field(() => [String], {
    nullable: true,
    description:
      'Networks that may use it: addresses, or ranges such as `192.0.2.0/24`; at most 20. Absent or empty: all.',
  })
  networks?: string[] | null;
}
