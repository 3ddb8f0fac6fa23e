import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { factorUsage, pagesWithoutPasskeys, passkeyModelUsage } from '../../domain/accounts/factor-usage.ts';
import { projectYaml } from '../../domain/configuration/project-yaml.ts';
import { exactTotal } from '../../domain/kernel/page.ts';
import { found } from '../../domain/kernel/problem.ts';
import { checkedAaguids, checkedRoots } from '../../domain/projects/passkey-models.ts';
import { type Project, passkeyPolicyOf } from '../../domain/projects/project.entity.ts';
import { projectFields } from '../../domain/projects/project.resource.ts';
import { type Inputs, Requires } from '../api/access.ts';
import { connection, exactOption, pageRequest } from '../api/connection.ts';
import { type AdminContext, withoutNulls } from '../api/context.ts';
import { changesSensitive, enumOf, settingsIn } from '../api/resource-types.ts';
import {
  CreateProjectInput,
  DeleteProjectInput,
  UpdateProjectInput,
  UpdateSessionPolicyInput,
} from './project.inputs.ts';
import {
  FactorStandingView,
  PasskeyModelStandingView,
  ProjectConnection,
  ProjectContentsView,
  ProjectUsageView,
  ProjectView,
  SessionPolicyView,
} from './project.view.ts';

@Resolver(() => ProjectView)
export class ProjectResolver {
  @Requires('project_viewer', { about: { project: 'id' }, scope: 'projects:read' })
  @Query(() => ProjectView, { nullable: true })
  async project(@Arg('id', () => ID) id: string, @Ctx() { domain, em }: AdminContext) {
    return found(await domain.projects.find(em, id), 'project');
  }

  @Requires('admin', {
    allProjects: { always: 'it lists several projects with their contents' },
    scope: 'projects:read',
  })
  @Query(() => ProjectConnection, { description: 'The projects in which the caller has a role, newest first.' })
  async projects(
    @Ctx() { domain, em, caller }: AdminContext,
    @Arg('search', () => String, { nullable: true, description: 'Part of the name, ignoring case and accents.' })
    search?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const among = caller.grants.owner ? null : [...caller.grants.projects.keys()];
    const filter = { among, search: search ?? undefined };
    const request = pageRequest('projects', { first, after });
    const page = await domain.projects.list(em, filter, request);
    return connection('projects', page, request, async () => exactTotal(await domain.projects.count(em, filter)));
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => FactorStandingView, { description: 'The users that a change of second factors or passkeys affects.' })
  async factorStanding(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em, now }: AdminContext) {
    const usage = await factorUsage(em, projectId, now);
    const canSendSms = domain.delivery.isAvailable('sms');
    return { ...usage, pagesWithoutPasskeys: await pagesWithoutPasskeys(em, projectId), canSendSms };
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => PasskeyModelStandingView, { description: 'The users that a list of passkey models would affect.' })
  passkeyModelStanding(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('aaguids', () => [String]) aaguids: string[],
    @Arg('roots', () => [String]) roots: string[],
    @Ctx() { em, now }: AdminContext,
  ) {
    return passkeyModelUsage(em, projectId, { aaguids: checkedAaguids(aaguids), roots: checkedRoots(roots, now) });
  }

  /**
   * Like `webhookUrl`, not for viewers: it has the addresses of receivers. Not for applications: they have no scope for
   * all of it.
   */
  @Requires('project_admin', { about: { project: 'projectId' } })
  @Query(() => String, { description: 'The settings as YAML, for `plan` and `apply`. It contains no secrets.' })
  async projectConfiguration(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    const project = found(await domain.projects.find(em, projectId), 'project');
    return projectYaml(await domain.configurations.document(project));
  }

  @Requires('owner', { allProjects: { always: 'it creates a project' } })
  @Mutation(() => ProjectView)
  createProject(@Arg('input', () => CreateProjectInput) input: CreateProjectInput, @Ctx() ctx: AdminContext) {
    return ctx.domain.projects.create({ ...withoutNulls(input), name: input.name }, ctx.actor);
  }

  @Requires('project_admin', {
    ...{ about: { project: 'id' }, fresh: weakensSignIn, scope: 'projects:write', overUsers: givesPowerOverUsers },
  })
  @Mutation(() => ProjectView)
  updateProject(@Arg('input', () => UpdateProjectInput) input: UpdateProjectInput, @Ctx() ctx: AdminContext) {
    const { id, expectedVersion } = input;
    const version = expectedVersion == null ? {} : { expectedVersion };
    return ctx.domain.projects.update(id, { ...settingsIn(projectFields, input), ...version }, ctx.actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, scope: 'projects:write' })
  @Mutation(() => ProjectView)
  updateSessionPolicy(
    @Arg('input', () => UpdateSessionPolicyInput) input: UpdateSessionPolicyInput,
    @Ctx() ctx: AdminContext,
  ) {
    return ctx.domain.projects.updateSessionPolicy(input.projectId, withoutNulls(input), ctx.actor);
  }

  @Requires('owner', { about: { project: 'id' }, fresh: true })
  @Mutation(() => ProjectContentsView, {
    description: 'Deletes the project with all its contents. Returns the counts.',
  })
  deleteProject(@Arg('input', () => DeleteProjectInput) input: DeleteProjectInput, @Ctx() ctx: AdminContext) {
    return ctx.domain.projects.delete(input.id, input.confirmName, ctx.actor);
  }

  @FieldResolver(() => String, { description: "The address of the project's issuer: `{base_url}/p/{slug}`." })
  issuer(@Root() project: Project, @Ctx() { domain }: AdminContext) {
    return domain.projects.issuerOf(project);
  }

  @FieldResolver(() => Boolean, { description: 'Whether sign-in responses include one-time codes.' })
  async testMode(@Root() project: Project, @Ctx() { loaders }: AdminContext) {
    return (await loaders.testModeOf(project)) ?? false;
  }

  @FieldResolver(() => enumOf(projectFields.passkeyPolicy.enum), {
    description: 'Use of passkeys at sign-in; a client can require one (`Client.passkeyRequired`).',
  })
  passkeyPolicy(@Root() project: Project) {
    return passkeyPolicyOf(project);
  }

  @FieldResolver(() => SessionPolicyView)
  sessionPolicy(@Root() project: Project) {
    return project;
  }

  @FieldResolver(() => ProjectContentsView)
  async contents(
    @Root() { id }: Project,
    @Ctx() { loaders }: AdminContext,
    @Arg('exact', () => Boolean, exactOption) exact?: boolean | null,
  ) {
    return found(await (exact ? loaders.allContentsOf(id) : loaders.contentsOf(id)), 'project');
  }

  @FieldResolver(() => ProjectUsageView)
  async usage(@Root() project: Project, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.usageOf(project.id), 'project');
  }
}

/** In test mode, anyone can sign in as any user; a directory that may sync again changes their login addresses. */
function givesPowerOverUsers(inputs: Inputs): boolean {
  return inputs['testMode'] === true || inputs['scimEnabled'] === true;
}

function weakensSignIn(inputs: Inputs): boolean {
  return changesSensitive(projectFields, inputs);
}
