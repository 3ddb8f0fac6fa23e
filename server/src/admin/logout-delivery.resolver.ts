import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { found, refuse } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { listDeliveries, type Receiver, receiversOf } from '../domain/logout/deliveries.ts';
import type { DeliveryAttempt, LogoutDelivery, LogoutDeliveryState } from '../domain/logout/logout-delivery.entity.ts';
import { ClientView } from './client.view.ts';
import { connection, connectionType, pageRequest } from './connection.ts';
import { type AdminContext, given } from './context.ts';
import { LogoutDeliveryStateEnum } from './enums.ts';
import { projectOf } from './ownership.ts';
import { UserView } from './user.resolver.ts';

@ObjectType({ description: 'One POST of a logout token and what came of it.' })
class LogoutAttempt {
  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => Int, { nullable: true, description: 'HTTP status; 200 and 204 are success, 400 is final.' })
  status!: number | null;

  @Field(() => String, { nullable: true, description: 'Why there was no answer.' })
  error!: string | null;

  @Field(() => Int)
  durationMs!: number;
}

@ObjectType('LogoutDelivery', {
  description: 'A logout token on its way to one application (OpenID Connect Back-Channel Logout 1.0).',
})
class LogoutDeliveryView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => LogoutDeliveryStateEnum)
  state!: LogoutDeliveryState;

  @Field(() => ID, { nullable: true, description: 'The session that ended; absent for a global logout.' })
  sid!: string | null;

  @Field(() => String, { description: 'The same in every attempt: receivers tell repeats by it.' })
  jti!: string;

  @Field(() => String)
  uri!: string;

  @Field(() => [LogoutAttempt], { description: 'Oldest first.' })
  attempts!: DeliveryAttempt[];

  @Field(() => GraphQLDateTime, { nullable: true })
  nextAttemptAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  deliveredAt!: Date | null;
}

@ObjectType({ description: 'An application that wants to hear of logouts, and how it has answered in seven days.' })
class LogoutReceiver {
  @Field(() => Int)
  delivered!: number;

  @Field(() => Int)
  pending!: number;

  @Field(() => Int, { description: 'Given up.' })
  failed!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastDeliveredAt!: string | null;
}

const LogoutDeliveryConnection = connectionType(LogoutDeliveryView, 'LogoutDelivery', false);

@InputType({ description: 'What is absent is not asked.' })
export class LogoutDeliveryFilter {
  @Field(() => ID, { nullable: true })
  clientId?: string | null;

  @Field(() => LogoutDeliveryStateEnum, { nullable: true })
  state?: LogoutDeliveryState | null;

  @Field(() => ID, { nullable: true, description: 'Whose sessions ended.' })
  userId?: string | null;
}

@Resolver(() => LogoutDeliveryView)
export class LogoutDeliveryResolver {
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

  @Query(() => [LogoutReceiver], {
    description: 'The applications that are told of logouts, those in trouble first, a hundred at most.',
  })
  logoutReceivers(@Arg('projectId', () => ID) projectId: string, @Ctx() { em, now }: AdminContext) {
    return receiversOf(em, projectId, now);
  }

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
