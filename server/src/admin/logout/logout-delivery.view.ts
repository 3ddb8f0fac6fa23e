import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { LogoutDeliveryStateEnum } from '../api/enums.ts';
import { fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'An attempt to deliver a logout token.' })
class LogoutAttempt extends fields({
  at: time(),
  status: nullable(int('HTTP status; 200 and 204 are success, 400 is final.')),
  error: nullable(text('Reason if there was no response.')),
  durationMs: int(),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('LogoutDelivery', {
  description: 'The delivery of a logout token to an application (OpenID Connect Back-Channel Logout 1.0).',
})
export class LogoutDeliveryView extends fields({
  id: id(),
  createdAt: time(),
  state: oneOf(LogoutDeliveryStateEnum),
  sid: nullable(id('The session that ended; absent for a global logout.')),
  jti: text('The same in every attempt, so that receivers detect repeats.'),
  uri: text(),
  attempts: list(object(LogoutAttempt, 'Oldest first.')),
  nextAttemptAt: nullable(time()),
  deliveredAt: nullable(time()),
}) {}

@Access('inherited')
@ObjectType({ description: 'An application with a back-channel logout URI, and its deliveries of seven days.' })
export class LogoutReceiver extends fields({
  delivered: int(),
  pending: int(),
  failed: int('Not delivered after all attempts.'),
  lastDeliveredAt: nullable(time()),
}) {}

export const LogoutDeliveryConnection = connectionType(LogoutDeliveryView, 'LogoutDelivery', false);
