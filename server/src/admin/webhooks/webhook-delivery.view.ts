import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { WebhookAttempt, WebhookDeliveryState } from '../../domain/webhooks/webhook-delivery.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { WebhookDeliveryStateEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType({ description: 'An attempt to deliver an event.' })
class WebhookAttemptView {
  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => Int, { nullable: true, description: 'HTTP status; 200 to 299 are success.' })
  status!: number | null;

  @Field(() => String, { nullable: true, description: 'Reason if there was no response.' })
  error!: string | null;

  @Field(() => Int)
  durationMs!: number;
}

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('WebhookDelivery', { description: 'The delivery of an event to a webhook.' })
export class WebhookDeliveryView {
  @Field(() => ID)
  id!: string;

  @Field(() => ID, { description: 'Header `webhook-id`, the same in all attempts.' })
  eventId!: string;

  @Field(() => String)
  type!: string;

  @Field(() => WebhookDeliveryStateEnum)
  state!: WebhookDeliveryState;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  nextAttemptAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'When it was delivered, or failed for good.' })
  settledAt!: Date | null;

  @Field(() => [WebhookAttemptView], { description: 'Oldest first; the last 60.' })
  attempts!: WebhookAttempt[];
}

export const WebhookDeliveryConnection = connectionType(WebhookDeliveryView, 'WebhookDelivery', false);
