import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('inherited')
@ObjectType('ScimRequest', { description: 'A SCIM request and its response, without secrets.' })
export class ScimRequestView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: 'Name of the token at that time.' })
  tokenName!: string;

  @Field(() => String)
  method!: string;

  @Field(() => String, { description: "Below the project's base URL, with the query." })
  path!: string;

  @Field(() => Int)
  status!: number;

  @Field(() => String, { nullable: true, description: 'RFC 7644 §3.12.' })
  scimType!: string | null;

  @Field(() => String, { nullable: true, description: 'Reason of a refusal.' })
  detail!: string | null;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => String, { nullable: true, description: 'Truncated if long.' })
  requestBody!: string | null;

  @Field(() => String, { nullable: true, description: 'Truncated if long; only totals of lists.' })
  responseBody!: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Attributes of an accepted change that no schema has; their values were dropped. At most 100.',
  })
  ignored!: string[] | null;
}

export const ScimRequestConnection = connectionType(ScimRequestView, 'ScimRequest', false);
