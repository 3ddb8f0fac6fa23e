import { InputType } from 'type-graphql';
import type { EventType } from '../../domain/audit/event-types.ts';
import { webhookFields } from '../../domain/webhooks/webhook.resource.ts';
import { WebhookDeliveryStateEnum } from '../api/enums.ts';
import { id, inputFields, nullable, oneOf, text } from '../api/fields.ts';
import { changeOf, creationOf } from '../api/resource-types.ts';

@InputType()
export class CreateWebhookInput extends inputFields({
  ...creationOf(webhookFields),
  projectId: id(),
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateWebhookInput extends inputFields({
  ...changeOf(webhookFields),
  id: id(),
}) {}

@InputType({ description: 'Absent fields do not filter.' })
export class WebhookDeliveryFilter extends inputFields({
  state: nullable(oneOf(WebhookDeliveryStateEnum)),
  type: nullable(text<EventType>('Event type.')),
}) {}
