import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { Client } from '../../domain/clients/client.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { ClientView } from './client.view.ts';
import { RegisterDelegationKeysInput, RotateDelegationKeysInput } from './delegation-key.inputs.ts';
import { DelegationKeyView } from './delegation-key.view.ts';

@Resolver(() => ClientView)
export class DelegationKeyResolver {
  // With these keys, the client reads and replaces second factors of users.
  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'clients:write', overUsers: true })
  @Mutation(() => DelegationKeyView, {
    description: "Registers a client's public keys. The first registration also creates the service's own keys.",
  })
  registerDelegationKeys(
    @Arg('input', () => RegisterDelegationKeysInput) input: RegisterDelegationKeysInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const pair = { signing: input.signingKey, encryption: input.encryptionKey };
    return domain.delegationKeys.register(
      keyIn(projectId, input.clientId),
      pair,
      actor,
      input.overlapSeconds ?? undefined,
    );
  }

  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => DelegationKeyView, { description: "Replaces the service's own keys for this client." })
  rotateDelegationKeys(
    @Arg('input', () => RotateDelegationKeysInput) input: RotateDelegationKeysInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    return domain.delegationKeys.rotate(keyIn(projectId, input.clientId), actor, input.overlapSeconds ?? undefined);
  }

  @Requires('project_admin', { about: { 'delegation-key': 'id' }, scope: 'clients:write' })
  @Mutation(() => DelegationKeyView, { description: 'Revokes the keys immediately, without an overlap.' })
  revokeDelegationKey(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.delegationKeys.revoke(keyIn(projectId, id), actor);
  }

  @FieldResolver(() => [DelegationKeyView], {
    description: 'Keys of both sides, newest first, including expired ones.',
  })
  async delegationKeys(@Root() client: Client, @Ctx() { loaders }: AdminContext) {
    return (await loaders.delegationKeysOf(client)) ?? [];
  }
}
