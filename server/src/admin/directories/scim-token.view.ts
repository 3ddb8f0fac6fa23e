import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ScimToken } from '../../domain/directories/scim-token.entity.ts';
import { Access, ofProject } from '../api/access.ts';

@Access('project_viewer', ofProject)
@ObjectType('ScimToken', {
  description: "A directory's bearer token. The token itself is shown only when it is issued.",
})
export class ScimTokenView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Its last four characters.' })
  hint!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  expiresAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'To the minute.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@Access('inherited')
@ObjectType({ description: 'One SCIM request of the self-test.' })
export class DirectoryTestStep {
  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'What it shows, where it went well.' })
  proves!: string;

  @Field(() => Boolean)
  passed!: boolean;

  @Field(() => String)
  request!: string;

  @Field(() => String, { nullable: true, description: 'What was expected and what came.' })
  fault!: string | null;

  @Field(() => Int)
  durationMs!: number;
}

@Access('inherited')
@ObjectType({ description: 'A new SCIM token, which is shown this once.' })
export class IssuedScimToken {
  @Field(() => String, { description: '`lk_scim_…`' })
  token!: string;

  @Field(() => ScimTokenView)
  scimToken!: ScimToken;
}
