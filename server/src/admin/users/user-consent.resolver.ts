import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { GivenConsent } from '../../domain/consents/consents.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { UserConsentView } from './user-access.view.ts';

@Resolver(() => UserConsentView)
export class UserConsentResolver {
  @Requires('project_admin', { about: { consent: 'id' }, scope: 'users:write' })
  @Mutation(() => ID, {
    description: 'Also ends the tokens and refresh grants that the application has of the user. Returns its id.',
  })
  async revokeConsent(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.access.revokeConsent(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => ClientView)
  client(@Root() { clientId, project }: GivenConsent, @Ctx() { loaders }: AdminContext) {
    return loaders.client(keyIn(project.id, clientId));
  }
}
