import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { ScimToken } from '../domain/directories/scim-token.entity.ts';
import type { AdminContext } from './context.ts';
import { ProjectView } from './project.view.ts';

@ObjectType('ScimToken', {
  description: "A directory's bearer token. The token itself is shown only when it is issued.",
})
class ScimTokenView {
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

@ObjectType({ description: 'One SCIM request of the self-test.' })
class DirectoryTestStep {
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

@ObjectType({ description: 'A new SCIM token, which is shown this once.' })
class IssuedScimToken {
  @Field(() => String, { description: '`lk_scim_…`' })
  token!: string;

  @Field(() => ScimTokenView)
  scimToken!: ScimToken;
}

@InputType()
export class IssueScimTokenInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Never where absent.' })
  expiresAt?: Date | null;
}

@Resolver(() => ScimTokenView)
export class DirectoryResolver {
  @Query(() => [ScimTokenView], { description: 'The SCIM tokens of a project, newest first, a hundred at most.' })
  scimTokens(@Arg('projectId', () => ID) projectId: string, @Ctx() { em }: AdminContext) {
    return em.find(ScimToken, { project: projectId }, { orderBy: { id: 'desc' }, limit: 100 });
  }

  @Mutation(() => IssuedScimToken)
  issueScimToken(@Arg('input', () => IssueScimTokenInput) input: IssueScimTokenInput, @Ctx() ctx: AdminContext) {
    const { projectId, name, expiresAt } = input;
    return ctx.domain.directories.issueScimToken({ projectId, name, expiresAt: expiresAt ?? undefined }, ctx.actor);
  }

  @Mutation(() => ScimTokenView)
  revokeScimToken(@Arg('id', () => ID) id: string, @Ctx() ctx: AdminContext) {
    return ctx.domain.directories.revokeScimToken(id, ctx.actor);
  }

  @Mutation(() => [DirectoryTestStep], {
    description: 'Plays a directory against this server with real SCIM requests; leaves nothing behind.',
  })
  testDirectory(@Arg('projectId', () => ID) projectId: string, @Ctx() ctx: AdminContext) {
    return ctx.domain.directoryTest.run(projectId, ctx.actor);
  }

  @FieldResolver(() => ProjectView)
  project(@Root() token: ScimToken, @Ctx() { loaders }: AdminContext) {
    return loaders.project(token.project.id);
  }
}
