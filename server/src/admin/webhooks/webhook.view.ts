import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { DisabledReason, Webhook } from '../../domain/webhooks/webhook.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { WebhookDisabledReasonEnum } from '../api/enums.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('Webhook', { description: 'An address that receives events of a project by POST (Standard Webhooks).' })
export class WebhookView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  description!: string;

  @Field(() => [String], { description: 'Event types or `noun.*`; none: all.' })
  types!: string[];

  @Field(() => WebhookDisabledReasonEnum, { nullable: true, description: 'Absent if enabled.' })
  disabledReason!: DisabledReason | null;

  @Field(() => Int, { description: 'Attempts that failed since the last success.' })
  failures!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  failingSince!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastDeliveredAt!: Date | null;

  @Field(() => GraphQLDateTime)
  secretCreatedAt!: Date;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}

@Access('inherited')
@ObjectType({ description: 'A webhook and its new signing secret.' })
export class IssuedWebhookView {
  @Field(() => WebhookView)
  webhook!: Webhook;

  @Field(() => String, { description: '`whsec_…`, shown once.' })
  secret!: string;
}
