import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { ScimToken } from '../../domain/directories/scim-token.entity.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ProjectView } from '../projects/project.view.ts';
import { IssueScimTokenInput } from './scim-token.inputs.ts';
import { DirectoryTestStep, IssuedScimToken, ScimTokenView } from './scim-token.view.ts';

@Resolver(() => ScimTokenView)
export class DirectoryResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => [ScimTokenView], { description: 'The SCIM tokens of a project, newest first, at most 100.' })
  scimTokens(@Arg('projectId', () => ID) projectId: string, @Ctx() { em }: AdminContext) {
    return em.find(ScimToken, { project: projectId }, { orderBy: { id: 'desc' }, limit: 100 });
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true })
  @Mutation(() => IssuedScimToken)
  issueScimToken(@Arg('input', () => IssueScimTokenInput) input: IssueScimTokenInput, @Ctx() ctx: AdminContext) {
    const { projectId, name, expiresAt, networks } = input;
    const wanted = { projectId, name, expiresAt, networks: networks ?? undefined };
    return ctx.domain.directories.issueScimToken(wanted, ctx.actor);
  }

  @Requires('project_admin', { about: { 'scim-token': 'id' }, scope: 'projects:write' })
  @Mutation(() => ScimTokenView)
  revokeScimToken(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.directories.revokeScimToken(keyIn(ctx.projectId, id), ctx.actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' } })
  @Mutation(() => [DirectoryTestStep], {
    description: 'Runs SCIM requests against this server as a directory would; removes the resources it created.',
  })
  testDirectory(@Arg('projectId', () => ID) projectId: string, @Ctx() ctx: AdminContext) {
    return ctx.domain.directoryTest.run(projectId, ctx.actor);
  }

  @FieldResolver(() => ProjectView)
  async project(@Root() token: ScimToken, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.project(token.project.id), 'project');
  }
}
