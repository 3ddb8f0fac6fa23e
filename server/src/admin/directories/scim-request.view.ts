import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('inherited')
@ObjectType('ScimRequest', { description: 'A request of a directory and its answer, without secrets.' })
export class ScimRequestView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: 'Of the token, at the time.' })
  tokenName!: string;

  @Field(() => String)
  method!: string;

  @Field(() => String, { description: "Below the project's base address, query included." })
  path!: string;

  @Field(() => Int)
  status!: number;

  @Field(() => String, { nullable: true, description: 'RFC 7644 §3.12.' })
  scimType!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it was refused.' })
  detail!: string | null;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => String, { nullable: true, description: 'Cut off where it is long.' })
  requestBody!: string | null;

  @Field(() => String, { nullable: true, description: 'Cut off where it is long; of lists only the totals.' })
  responseBody!: string | null;
}

export const ScimRequestConnection = connectionType(ScimRequestView, 'ScimRequest', false);
