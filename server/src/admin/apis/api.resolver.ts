import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Api } from '../../domain/apis/api.entity.ts';
import type { ApiGrant } from '../../domain/apis/api-grant.entity.ts';
import { protectedResource } from '../../domain/apis/protected-resource.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { type Inputs, Requires } from '../api/access.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { CreateApiInput, SetApiGrantInput, UpdateApiInput } from './api.inputs.ts';
import { ApiGrantView, ApiView, ProtectedResourceView } from './api.view.ts';

@Resolver(() => ApiView)
export class ApiResolver {
  @Requires('project_viewer', { about: { api: 'id' }, scope: 'clients:read' })
  @Query(() => ApiView, { nullable: true })
  async api(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return found(await domain.apis.find(em, keyIn(projectId, id)), 'api');
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => [ApiView], { description: 'The APIs of a project, by name; at most 100.' })
  apis(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.apis.list(em, projectId);
  }

  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'clients:read' })
  @Query(() => [ApiGrantView], { description: 'The rights of an application at APIs.' })
  async apiGrants(@Arg('clientId', () => ID) clientId: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    found(await domain.clients.find(em, keyIn(projectId, clientId)), 'client');
    return domain.apis.grantsOfClient(em, keyIn(projectId, clientId));
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: opensApi, scope: 'clients:write' })
  @Mutation(() => ApiView)
  createApi(@Arg('input', () => CreateApiInput) input: CreateApiInput, @Ctx() ctx: AdminContext) {
    const { projectId, identifier, name, scopes, accessTokenTtlSeconds, ...flags } = input;
    const { thirdPartyAccess, tokenExchange, userKeys } = flags;
    const further = withoutNulls({ accessTokenTtlSeconds, thirdPartyAccess, tokenExchange, userKeys });
    const values = { projectId, identifier, name, scopes, ...further };
    return ctx.domain.apis.create(values, ctx.actor);
  }

  @Requires('project_admin', { about: { api: 'id' }, fresh: opensApi, scope: 'clients:write' })
  @Mutation(() => ApiView)
  updateApi(@Arg('input', () => UpdateApiInput) { id, ...values }: UpdateApiInput, @Ctx() ctx: ProjectContext) {
    return ctx.domain.apis.update(keyIn(ctx.projectId, id), withoutNulls(values), ctx.actor);
  }

  @Requires('project_admin', { about: { api: 'id' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => ID, { description: 'Its tokens end. Returns its id.' })
  async deleteApi(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    await ctx.domain.apis.delete(keyIn(ctx.projectId, id), ctx.actor);
    return id;
  }

  @Requires('project_admin', { about: { client: 'clientId' }, fresh: givesRights, scope: 'clients:write' })
  @Mutation(() => ApiGrantView, {
    nullable: true,
    description: 'Applies to all tokens immediately. Null: the application has no rights at the API any more.',
  })
  setApiGrant(@Arg('input', () => SetApiGrantInput) input: SetApiGrantInput, @Ctx() ctx: ProjectContext) {
    const { clientId, apiId, scopes, introspects } = input;
    const granted = { scopes, introspects: introspects ?? false };
    return ctx.domain.apis.grant(keyIn(ctx.projectId, clientId), apiId, granted, ctx.actor);
  }

  @FieldResolver(() => ProtectedResourceView, {
    nullable: true,
    description: 'Null: the identifier is not the address of a service.',
  })
  async protectedResource(@Root() api: Api, @Ctx() { domain, loaders }: AdminContext) {
    const project = found(await loaders.project(api.project.id), 'project');
    return protectedResource(api, domain.projects.issuerOf(project));
  }
}

@Resolver(() => ApiGrantView)
export class ApiGrantResolver {
  @FieldResolver(() => ApiView)
  api(@Root() { api }: ApiGrant) {
    return api.getEntity();
  }
}

function opensApi({ thirdPartyAccess, tokenExchange, userKeys }: Inputs): boolean {
  return [thirdPartyAccess, tokenExchange, userKeys].includes(true);
}

function givesRights({ scopes, introspects }: Inputs): boolean {
  return introspects === true || (Array.isArray(scopes) && scopes.length > 0);
}
