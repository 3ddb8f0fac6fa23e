import { InputType } from 'type-graphql';
import type { EventType } from '../../domain/audit/event-types.ts';
import { WebhookDeliveryStateEnum } from '../api/enums.ts';
import { boolean, id, inputFields, list, nullable, oneOf, text } from '../api/fields.ts';

const types = 'Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types.';

@InputType()
export class CreateWebhookInput extends inputFields({
  projectId: id(),
  url: text('https. Its host must have a public address.'),
  types: nullable(list(text(types))),
  description: nullable(text('One line of at most 100 characters.')),
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateWebhookInput extends inputFields({
  id: id(),
  url: nullable(text()),
  types: nullable(list(text(types))),
  description: nullable(text()),
  enabled: nullable(boolean('False: events are not queued, and waiting ones are held back.')),
}) {}

@InputType({ description: 'Absent fields do not filter.' })
export class WebhookDeliveryFilter extends inputFields({
  state: nullable(oneOf(WebhookDeliveryStateEnum)),
  type: nullable(text<EventType>('Event type.')),
}) {}
