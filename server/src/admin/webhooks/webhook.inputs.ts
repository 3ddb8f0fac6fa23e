import { Field, ID, InputType } from 'type-graphql';
import type { EventType } from '../../domain/audit/event-types.ts';
import type { WebhookDeliveryState } from '../../domain/webhooks/webhook-delivery.entity.ts';
import { WebhookDeliveryStateEnum } from '../api/enums.ts';

const types = 'Event types, e.g. `user.created`, or all of a noun, e.g. `user.*`; none: all.';

@InputType()
export class CreateWebhookInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String, { description: 'https. Its host must have a public address.' })
  url!: string;

  @Field(() => [String], { nullable: true, description: types })
  types?: string[] | null;

  @Field(() => String, { nullable: true, description: 'One line of at most 100 characters.' })
  description?: string | null;
}

@InputType({ description: 'Absent fields do not change.' })
export class UpdateWebhookInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  url?: string | null;

  @Field(() => [String], { nullable: true, description: types })
  types?: string[] | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'False: events are not queued, and waiting ones are held back.',
  })
  enabled?: boolean | null;
}

@InputType({ description: 'Absent fields do not filter.' })
export class WebhookDeliveryFilter {
  @Field(() => WebhookDeliveryStateEnum, { nullable: true })
  state?: WebhookDeliveryState | null;

  @Field(() => String, { nullable: true, description: 'Event type.' })
  type?: EventType | null;
}
