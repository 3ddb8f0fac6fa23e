import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { listDeliveries, type Receiver, receiversOf } from '../../domain/logout/deliveries.ts';
import type { LogoutDelivery } from '../../domain/logout/logout-delivery.entity.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, given } from '../api/context.ts';
import { projectOf } from '../api/ownership.ts';
import { ClientView } from '../clients/client.view.ts';
import { UserView } from '../users/user.view.ts';
import { LogoutDeliveryFilter } from './logout-delivery.inputs.ts';
import { LogoutDeliveryConnection, LogoutDeliveryView, LogoutReceiver } from './logout-delivery.view.ts';

@Resolver(() => LogoutDeliveryView)
export class LogoutDeliveryResolver {
  @Requires('project_viewer', { about: { project: 'projectId' } })
  @Query(() => LogoutDeliveryConnection, { description: 'Newest first; those that came to an end are kept 30 days.' })
  async logoutDeliveries(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { em }: AdminContext,
    @Arg('filter', () => LogoutDeliveryFilter, { nullable: true }) filter?: LogoutDeliveryFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const wanted = given(filter ?? {});
    for (const name of ['clientId', 'userId'] as const) {
      const value = wanted[name];
      if (value !== undefined && !isUuid(value)) {
        refuse({ code: 'invalid', field: `filter.${name}`, reason: 'must be a UUID' });
      }
    }
    const request = pageRequest('logoutDeliveries', { first, after });
    return connection('logoutDeliveries', await listDeliveries(em, projectId, wanted, request), request);
  }

  @Requires('project_viewer', { about: { project: 'projectId' } })
  @Query(() => [LogoutReceiver], {
    description: 'The applications that are told of logouts, those in trouble first, a hundred at most.',
  })
  logoutReceivers(@Arg('projectId', () => ID) projectId: string, @Ctx() { em, now }: AdminContext) {
    return receiversOf(em, projectId, now);
  }

  @Requires('project_admin', { about: { 'logout-delivery': 'id' } })
  @Mutation(() => LogoutDeliveryView, {
    description: 'Another attempt, now, at the address that the application has today. Not for what was delivered.',
  })
  async retryLogoutDelivery(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, em }: AdminContext) {
    const projectId = found(await projectOf(em, { noun: 'logout-delivery', id }), 'logout-delivery');
    return domain.logout.retry(id, projectId, actor);
  }

  @FieldResolver(() => ClientView)
  client(@Root() delivery: LogoutDelivery, @Ctx() { loaders }: AdminContext) {
    return loaders.client(delivery.client.id);
  }

  @FieldResolver(() => ID, { description: '`sub` of the token.' })
  userId(@Root() delivery: LogoutDelivery) {
    return delivery.subject;
  }

  @FieldResolver(() => UserView, { nullable: true, description: 'Absent where they were erased since.' })
  async user(@Root() delivery: LogoutDelivery, @Ctx() { loaders }: AdminContext) {
    const user = await loaders.user(delivery.subject);
    return user?.project.id === delivery.project.id ? user : null;
  }
}

@Resolver(() => LogoutReceiver)
export class LogoutReceiverResolver {
  @FieldResolver(() => ClientView)
  client(@Root() receiver: Receiver, @Ctx() { loaders }: AdminContext) {
    return loaders.client(receiver.clientId);
  }
}
