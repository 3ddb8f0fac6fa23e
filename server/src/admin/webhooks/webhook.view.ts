import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { WebhookDisabledReasonEnum } from '../api/enums.ts';
import { fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('Webhook', { description: 'An address that receives events of a project by POST (Standard Webhooks).' })
export class WebhookView extends fields({
  id: id(),
  description: text(),
  types: list(text('Event types or `noun.*`; none: all.')),
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
