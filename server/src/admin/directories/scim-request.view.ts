import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('ScimRequest', {
  description: 'A SCIM request and its response, without secrets. Fields that name users need `users:read`.',
})
export class ScimRequestView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => String, { description: 'Name of the token at that time.' })
  tokenName!: string;

  @Field(() => String)
  method!: string;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { description: "Below the project's base URL, with the query." })
  path!: string;

  @Field(() => Int)
  status!: number;

  @Field(() => String, { nullable: true, description: 'RFC 7644 §3.12.' })
  scimType!: string | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Reason of a refusal.' })
  detail!: string | null;

  @Field(() => Int)
  durationMs!: number;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Truncated if long.' })
  requestBody!: string | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Truncated if long; only totals of lists.' })
  responseBody!: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Attributes of an accepted change that no schema has; their values were dropped. At most 100.',
  })
  ignored!: string[] | null;
}

export const ScimRequestConnection = connectionType(ScimRequestView, 'ScimRequest', false);
