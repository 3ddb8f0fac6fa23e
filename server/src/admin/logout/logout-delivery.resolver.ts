import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { listDeliveries, type Receiver, receiversOf } from '../../domain/logout/deliveries.ts';
import type { LogoutDelivery } from '../../domain/logout/logout-delivery.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { ClientView } from '../clients/client.view.ts';
import { UserView } from '../users/user.view.ts';
import { LogoutDeliveryFilter } from './logout-delivery.inputs.ts';
import { LogoutDeliveryConnection, LogoutDeliveryView, LogoutReceiver } from './logout-delivery.view.ts';

@Resolver(() => LogoutDeliveryView)
export class LogoutDeliveryResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => LogoutDeliveryConnection, { description: 'Newest first; finished ones are kept for 30 days.' })
  async logoutDeliveries(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('filter', () => LogoutDeliveryFilter, { nullable: true }) filter?: LogoutDeliveryFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const wanted = withoutNulls(filter ?? {});
    for (const name of ['clientId', 'userId'] as const) {
      const value = wanted[name];
      if (value !== undefined && !isUuid(value)) {
        refuse({ code: 'invalid', field: `filter.${name}`, reason: 'must be a UUID' });
      }
    }
    const request = pageRequest('logoutDeliveries', { first, after });
    return connection('logoutDeliveries', await listDeliveries(em, projectId, wanted, request), request);
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => [LogoutReceiver], {
    description: 'Applications that receive logout tokens, failing ones first, at most 100.',
  })
  logoutReceivers(@Arg('projectId', () => ID) projectId: string, @Ctx() { em, now }: AdminContext) {
    return receiversOf(em, projectId, now);
  }

  @Requires('project_admin', { about: { 'logout-delivery': 'id' }, scope: 'clients:write' })
  @Mutation(() => LogoutDeliveryView, {
    description: 'Retries now, at the current URI of the application. Refused if already delivered.',
  })
  retryLogoutDelivery(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.logout.retry(keyIn(projectId, id), actor);
  }

  @FieldResolver(() => ClientView)
  async client(@Root() delivery: LogoutDelivery, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(delivery.project.id, delivery.client.id)), 'client');
  }

  @FieldResolver(() => ID, { description: 'The user, also after an erasure.' })
  userId(@Root() delivery: LogoutDelivery) {
    return delivery.subject;
  }

  @FieldResolver(() => UserView, { nullable: true, description: 'Absent if the user was erased.' })
  async user(@Root() delivery: LogoutDelivery, @Ctx() { loaders }: AdminContext) {
    return (await loaders.user(keyIn(delivery.project.id, delivery.subject))) ?? null;
  }
}

@Resolver(() => LogoutReceiver)
export class LogoutReceiverResolver {
  @FieldResolver(() => ClientView)
  async client(@Root() receiver: Receiver, @Ctx() { loaders }: AdminContext) {
    return found(await loaders.client(keyIn(receiver.projectId, receiver.clientId)), 'client');
  }
}
