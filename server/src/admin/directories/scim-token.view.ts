import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ScimToken } from '../../domain/directories/scim-token.entity.ts';
import { Access, ofProject } from '../api/access.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('ScimToken', {
  description: "A directory's bearer token. The token is shown only once, when it is created.",
})
export class ScimTokenView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'The last four characters.' })
  hint!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  expiresAt!: Date | null;

  @Field(() => [String], { description: 'Networks that may use it; empty: all.' })
  networks!: string[];

  @Field(() => GraphQLDateTime, { nullable: true, description: 'With a resolution of one minute.' })
  lastUsedAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'The address of the last request.' })
  lastUsedAddress!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@Access('inherited')
@ObjectType({ description: 'One SCIM request of the self-test.' })
export class DirectoryTestStep {
  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'The behavior that it proves if it passes.' })
  proves!: string;

  @Field(() => Boolean)
  passed!: boolean;

  @Field(() => String)
  request!: string;

  @Field(() => String, { nullable: true, description: 'Expected and actual result.' })
  fault!: string | null;

  @Field(() => Int)
  durationMs!: number;
}

@Access('inherited')
@ObjectType({ description: 'A new SCIM token, shown only once.' })
export class IssuedScimToken {
  @Field(() => String, { description: '`lk_scim_…`' })
  token!: string;

  @Field(() => ScimTokenView)
  scimToken!: ScimToken;
}
