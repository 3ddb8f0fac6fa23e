import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { connection, pageRequest } from './connection.ts';
import { type AdminContext, given } from './context.ts';
import {
  CreateProjectInput,
  DeleteProjectInput,
  FactorStandingView,
  ProjectConnection,
  ProjectContentsView,
  ProjectView,
  SessionPolicyView,
  UpdateProjectInput,
  UpdateSessionPolicyInput,
} from './project.view.ts';

@Resolver(() => ProjectView)
export class ProjectResolver {
  @Query(() => ProjectView, { nullable: true })
  async project(@Arg('id', () => ID) id: string, @Ctx() { domain, em }: AdminContext) {
    return found(await domain.projects.find(em, id), 'project');
  }

  @Query(() => ProjectConnection, { description: 'The projects that the caller has a role in, newest first.' })
  async projects(
    @Ctx() { domain, em, caller }: AdminContext,
    @Arg('search', () => String, { nullable: true, description: 'Part of the name.' }) search?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const among = caller.grants.owner ? null : [...caller.grants.projects.keys()];
    const filter = { among, search: search ?? undefined };
    const request = pageRequest('projects', { first, after });
    const page = await domain.projects.list(em, filter, request);
    return connection('projects', page, request, () => domain.projects.count(em, filter));
  }

  @Query(() => FactorStandingView, { description: 'Whom a change of the second factor would concern.' })
  async factorStanding(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    const { byMethod, ...counts } = await domain.mfa.standing(em, projectId);
    return { ...counts, ...byMethod, canSendSms: domain.delivery.isAvailable('sms') };
  }

  @Mutation(() => ProjectView)
  createProject(@Arg('input', () => CreateProjectInput) input: CreateProjectInput, @Ctx() ctx: AdminContext) {
    return ctx.domain.projects.create({ ...given(input), name: input.name }, ctx.actor);
  }

  @Mutation(() => ProjectView)
  updateProject(@Arg('input', () => UpdateProjectInput) input: UpdateProjectInput, @Ctx() ctx: AdminContext) {
    return ctx.domain.projects.update(input.id, given(input), ctx.actor);
  }

  @Mutation(() => ProjectView)
  updateSessionPolicy(
    @Arg('input', () => UpdateSessionPolicyInput) input: UpdateSessionPolicyInput,
    @Ctx() ctx: AdminContext,
  ) {
    return ctx.domain.projects.updateSessionPolicy(input.projectId, given(input), ctx.actor);
  }

  @Mutation(() => ProjectContentsView, { description: 'Deletes all that belongs to it. Returns what was lost.' })
  deleteProject(@Arg('input', () => DeleteProjectInput) input: DeleteProjectInput, @Ctx() ctx: AdminContext) {
    return ctx.domain.projects.delete(input.id, input.confirmName, ctx.actor);
  }

  @FieldResolver(() => Boolean, { description: 'Whether one-time codes are also in the answers of sign-in.' })
  testMode(@Root() project: Project, @Ctx() { domain, em }: AdminContext) {
    return domain.projects.testMode.holds(em, project);
  }

  @FieldResolver(() => SessionPolicyView)
  sessionPolicy(@Root() project: Project) {
    return project;
  }

  @FieldResolver(() => ProjectContentsView)
  contents(@Root() project: Project, @Ctx() { domain, em }: AdminContext) {
    return domain.projects.contents(em, project.id);
  }
}
