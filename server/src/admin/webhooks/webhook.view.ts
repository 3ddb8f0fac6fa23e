import { ObjectType } from 'type-graphql';
import { webhookFields } from '../../domain/webhooks/webhook.resource.ts';
import { Access, ofProject } from '../api/access.ts';
import { WebhookDisabledReasonEnum } from '../api/enums.ts';
import { fields, id, int, nullable, object, oneOf, text, time } from '../api/fields.ts';
import { viewOf } from '../api/resource-types.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('Webhook', { description: 'An address that receives events of a project by POST (Standard Webhooks).' })
export class WebhookView extends fields({
  id: id(),
  ...viewOf(webhookFields),
  disabledReason: nullable(oneOf(WebhookDisabledReasonEnum, 'Absent if enabled.')),
  failures: int('Attempts that failed since the last success.'),
  failingSince: nullable(time()),
  lastDeliveredAt: nullable(time()),
  secretCreatedAt: time(),
  createdAt: time(),
}) {}

@Access('inherited')
@ObjectType({ description: 'A webhook and its new signing secret.' })
export class IssuedWebhookView extends fields({
  webhook: object(WebhookView),
  secret: text('`whsec_…`, shown once.'),
}) {}
