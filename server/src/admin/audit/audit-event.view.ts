import { ObjectType } from 'type-graphql';
import { Access, ofEvent } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ResultEnum } from '../api/enums.ts';
import { fields, id, int, jsonObject, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'The actor of an event.' })
export class AuditActor extends fields({
  kind: text('admin, admin-token, bootstrap-token, setup-link, portal-link, scim, user, client, system …'),
  id: nullable(id()),
  name: nullable(text()),
}) {}

@Access('inherited')
@ObjectType({ description: 'The subject of an event.' })
export class AuditSubject extends fields({
  kind: text(),
  id: nullable(id()),
  name: nullable(text()),
}) {}

@Access('inherited')
@ObjectType({ description: 'The user whose account an event concerns.' })
export class AuditPerson extends fields({
  id: id(),
  name: text(),
}) {}

@Access('project_viewer', ofEvent, 'audit:read')
@ObjectType('AuditEvent', { description: 'An action or attempted action.' })
export class AuditEventView extends fields({
  id: id(),
  at: time(),
  type: text('`noun.verb`, e.g. `client.created`.'),
  result: oneOf(ResultEnum),
  detail: nullable(
    jsonObject('Previous and new values, reasons; `signInId`: the sign-in to which the event belongs. Never secrets.'),
  ),
  ip: nullable(text()),
  userAgent: nullable(text()),
  requestId: nullable(text()),
}) {}

export const AuditEventConnection = connectionType(AuditEventView, 'AuditEvent', false);

@Access('inherited')
@ObjectType({ description: 'The events of one sign-in, or a single other event.' })
class AuditEventGroup extends fields({
  id: id('Id of the event that places it in the list.'),
  events: list(object(AuditEventView, 'Those that match the filter, oldest first; the newest 100.')),
  eventCount: int('Number of events that match the filter.'),
}) {}

export const AuditEventGroupConnection = connectionType(AuditEventGroup, 'AuditEventGroup', false);
