import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { directoryHealth } from '../../domain/directories/directory-health.ts';
import type { ScimToken } from '../../domain/directories/scim-token.entity.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { OrganizationView } from '../organizations/organization.view.ts';
import { ProjectView } from '../projects/project.view.ts';
import { IssueScimTokenInput } from './scim-token.inputs.ts';
import { DirectoryHealthView, DirectoryTestStep, IssuedScimToken, ScimTokenView } from './scim-token.view.ts';
import { directoryIn, eitherId } from './whose.ts';

@Resolver(() => ScimTokenView)
export class DirectoryResolver {
  @Requires('project_viewer', { about: eitherId, scope: 'projects:read' })
  @Query(() => [ScimTokenView], {
    description: 'The SCIM tokens of the directory of a project, or of an organization, newest first, at most 100.',
  })
  scimTokens(
    @Ctx() ctx: ProjectContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('organizationId', () => ID, { nullable: true }) organizationId?: string | null,
  ) {
    return ctx.domain.directories.scimTokens(directoryIn(ctx, { projectId, organizationId }));
  }

  @Requires('project_viewer', { about: eitherId, scope: 'projects:read' })
  @Query(() => DirectoryHealthView, { description: 'How the directory of a project, or of an organization, does.' })
  async directoryHealth(
    @Ctx() ctx: ProjectContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('organizationId', () => ID, { nullable: true }) organizationId?: string | null,
  ): Promise<DirectoryHealthView> {
    const directory = directoryIn(ctx, { projectId, organizationId });
    await ctx.domain.requestRecords.settled();
    return directoryHealth(ctx.em, directory, ctx.now);
  }

  @Requires('project_admin', { about: eitherId, fresh: true })
  @Mutation(() => IssuedScimToken)
  issueScimToken(@Arg('input', () => IssueScimTokenInput) input: IssueScimTokenInput, @Ctx() ctx: ProjectContext) {
    const { name, expiresAt, networks } = input;
    const wanted = { ...directoryIn(ctx, input), name, expiresAt, networks: networks ?? undefined };
    return ctx.domain.directories.issueScimToken(wanted, ctx.actor);
  }

  @Requires('project_admin', { about: { 'scim-token': 'id' }, scope: 'projects:write' })
  @Mutation(() => ScimTokenView)
  revokeScimToken(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.directories.revokeScimToken(keyIn(ctx.projectId, id), ctx.actor);
  }

  @Requires('project_admin', { about: eitherId })
  @Mutation(() => [DirectoryTestStep], {
    description: 'Runs SCIM requests against this server as a directory would; removes the resources it created.',
  })
  testDirectory(
    @Ctx() ctx: ProjectContext,
    @Arg('projectId', () => ID, { nullable: true }) projectId?: string | null,
    @Arg('organizationId', () => ID, { nullable: true }) organizationId?: string | null,
  ) {
    return ctx.domain.directoryTest.run(directoryIn(ctx, { projectId, organizationId }), ctx.actor);
  }

  @FieldResolver(() => OrganizationView, {
    nullable: true,
    description: "The organization whose directory it is for. Absent: the project's own directory.",
  })
  async organization(@Root() { organization, project }: ScimToken, @Ctx() { loaders }: AdminContext) {
    return organization ? loaders.organization(keyIn(project.id, organization.id)) : null;
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() token: ScimToken, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(token.project.id), 'project');
  }
}
