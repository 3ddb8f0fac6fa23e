import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { Client } from '../../domain/clients/client.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ClientSecretView, ClientView, IssuedClientSecret } from './client.view.ts';

@Resolver(() => ClientView)
export class ClientSecretResolver {
  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => IssuedClientSecret, {
    description: 'Creates a client secret. At most two are live, so that one can replace the other.',
  })
  issueClientSecret(@Arg('clientId', () => ID) clientId: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.clientSecrets.issue(keyIn(ctx.projectId, clientId), ctx.actor);
  }

  @Requires('project_admin', { about: { 'client-secret': 'id' }, scope: 'clients:write' })
  @Mutation(() => ClientSecretView)
  revokeClientSecret(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.clientSecrets.revoke(keyIn(ctx.projectId, id), ctx.actor);
  }

  @FieldResolver(() => [ClientSecretView], { description: 'Newest first, revoked ones included.' })
  async clientSecrets(@Root() client: Client, @Ctx() { loaders }: AdminContext) {
    return (await loaders.clientSecretsOf(client)) ?? [];
  }
}
