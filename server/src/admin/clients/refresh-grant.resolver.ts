import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { LiveGrant } from '../../domain/tokens/refresh-grants.ts';
import { Requires } from '../api/access.ts';
import { connection, optionalId, pageRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { UserView } from '../users/user.view.ts';
import { ClientView } from './client.view.ts';
import { RefreshGrantConnection, RefreshGrantView } from './refresh-grant.view.ts';

@Resolver(() => RefreshGrantView)
export class RefreshGrantResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'users:read' })
  @Query(() => RefreshGrantConnection, {
    description: 'The refresh grants of a project that can be used, newest first; of one user, one client, or both.',
  })
  async refreshGrants(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain, em }: AdminContext,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
    @Arg('clientId', () => ID, { nullable: true }) clientId?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const owner = { projectId, userId: optionalId('userId', userId), clientId: optionalId('clientId', clientId) };
    const request = pageRequest('refresh-grants', { first, after });
    const page = await domain.refreshGrants.list(em, owner, request);
    return connection('refresh-grants', page, request, () => domain.refreshGrants.count(em, owner));
  }

  @Requires('project_admin', { about: { 'refresh-grant': 'id' }, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Also ends its access tokens. Returns its id.' })
  async revokeRefreshGrant(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.refreshGrants.revoke(keyIn(projectId, id), actor);
    return id;
  }

  @Requires('project_admin', { about: { client: 'clientId' }, scope: 'clients:write' })
  @Mutation(() => ID, {
    description: 'Ends all refresh grants of a client, and their access tokens. Returns the id of the client.',
  })
  async revokeRefreshGrants(
    @Arg('clientId', () => ID) clientId: string,
    @Ctx() { actor, domain, em, projectId }: ProjectContext,
  ) {
    const client = found(await domain.clients.find(em, keyIn(projectId, clientId)), 'client');
    await domain.refreshGrants.revokeAllOf(client, actor);
    return clientId;
  }

  @FieldResolver(() => ClientView)
  async client(@Root() { clientId, project }: LiveGrant, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(project.id, clientId)), 'client');
  }

  @FieldResolver(() => UserView)
  async user(@Root() { project, userId }: LiveGrant, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.user(keyIn(project.id, userId)), 'user');
  }
}
