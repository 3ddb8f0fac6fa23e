import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { GivenConsent } from '../../domain/consents/consents.ts';
import { found } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { connection, optionalId, pageRequest } from '../api/connection.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { UserConsentConnection, UserConsentView } from './user-access.view.ts';

@Resolver(() => UserConsentView)
export class UserConsentResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: ['users:read', 'consent:read'] })
  @Query(() => UserConsentConnection, {
    description:
      'Consents of users of a project to third-party applications, newest first; of one user, one client, or both.',
  })
  async consents(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain, em }: AdminContext,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
    @Arg('clientId', () => ID, { nullable: true }) clientId?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const of = { projectId, userId: optionalId('userId', userId), clientId: optionalId('clientId', clientId) };
    const request = pageRequest('consents', { first, after });
    const page = await domain.consents.page(em, of, request);
    return connection('consents', page, request, () => domain.consents.count(em, of));
  }

  @Requires('project_admin', { about: { consent: 'id' }, scope: ['users:write', 'consent:write'] })
  @Mutation(() => ID, {
    description: 'Also ends the tokens and refresh grants that the application has of the user. Returns its id.',
  })
  async revokeConsent(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.accountAccess.revokeConsent(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => ClientView)
  async client(@Root() { clientId, project }: GivenConsent, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(project.id, clientId)), 'client');
  }
}
