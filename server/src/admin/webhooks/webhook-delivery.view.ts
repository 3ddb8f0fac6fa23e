import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { WebhookDeliveryStateEnum } from '../api/enums.ts';
import { fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'An attempt to deliver an event.' })
class WebhookAttemptView extends fields({
  at: time(),
  status: nullable(int('HTTP status; 200 to 299 are success.')),
  error: nullable(text('Reason if there was no response.')),
  durationMs: int(),
}) {}

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('WebhookDelivery', { description: 'The delivery of an event to a webhook.' })
export class WebhookDeliveryView extends fields({
  id: id(),
  eventId: id('Header `webhook-id`, the same in all attempts.'),
  type: text(),
  state: oneOf(WebhookDeliveryStateEnum),
  createdAt: time(),
  nextAttemptAt: nullable(time()),
  settledAt: nullable(time('Time of the delivery, or of the last failed attempt.')),
  attempts: list(object(WebhookAttemptView, 'Oldest first; the last 60.')),
}) {}

export const WebhookDeliveryConnection = connectionType(WebhookDeliveryView, 'WebhookDelivery', false);
