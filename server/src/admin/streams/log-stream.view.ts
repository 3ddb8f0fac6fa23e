import { ObjectType } from 'type-graphql';
import { Access, ofProjectOrInstance } from '../api/access.ts';
import { BatchFormatEnum, StreamKindEnum } from '../api/enums.ts';
import { boolean, fields, float, id, int, list, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProjectOrInstance, 'projects:read')
@ObjectType('LogStream', { description: 'A receiver of audit events, in batches and in order.' })
export class LogStreamView extends fields({
  id: id(),
  kind: oneOf(StreamKindEnum),
  description: text(),
  types: list(text('Event types, or all types of a resource, e.g. `user.*`; empty: all types.')),
  format: oneOf(BatchFormatEnum),
  gzip: boolean(),
  header: nullable(text('Name of the header with the secret. Its value is never shown.')),
  paused: boolean(),
  position: float('Number of the last event of its log that was delivered or skipped.'),
  failures: int('Batches that failed since the last success.'),
  failingSince: nullable(time()),
  lastError: nullable(text('Status or fault of the last batch, if it failed.')),
  lastDeliveredAt: nullable(time()),
  nextAttemptAt: nullable(time()),
  createdAt: time(),
}) {}

@Access('inherited')
@ObjectType('LogStreamLag', { description: 'The backlog of a log stream.' })
export class LogStreamLagView extends fields({
  waiting: int('Events that wait, counted up to 10,000. Its filter may skip some.'),
  since: nullable(time('Time of the oldest. Null: none waits.')),
}) {}
