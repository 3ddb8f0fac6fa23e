import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { DeliveryAttempt, LogoutDeliveryState } from '../../domain/logout/logout-delivery.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { LogoutDeliveryStateEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType({ description: 'An attempt to deliver a logout token.' })
class LogoutAttempt {
  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => Int, { nullable: true, description: 'HTTP status; 200 and 204 are success, 400 is final.' })
  status!: number | null;

  @Field(() => String, { nullable: true, description: 'Reason if there was no response.' })
  error!: string | null;

  @Field(() => Int)
  durationMs!: number;
}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('LogoutDelivery', {
  description: 'The delivery of a logout token to an application (OpenID Connect Back-Channel Logout 1.0).',
})
export class LogoutDeliveryView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => LogoutDeliveryStateEnum)
  state!: LogoutDeliveryState;

  @Field(() => ID, { nullable: true, description: 'The session that ended; absent for a global logout.' })
  sid!: string | null;

  @Field(() => String, { description: 'The same in every attempt, so that receivers detect repeats.' })
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

@Access('inherited')
@ObjectType({ description: 'An application with a back-channel logout URI, and its deliveries of seven days.' })
export class LogoutReceiver {
  @Field(() => Int)
  delivered!: number;

  @Field(() => Int)
  pending!: number;

  @Field(() => Int, { description: 'Not delivered after all attempts.' })
  failed!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastDeliveredAt!: string | null;
}

export const LogoutDeliveryConnection = connectionType(LogoutDeliveryView, 'LogoutDelivery', false);
