import { InputType } from 'type-graphql';
import { BatchFormatEnum, StreamKindEnum } from '../api/enums.ts';
import { boolean, id, inputFields, list, nullable, oneOf, text } from '../api/fields.ts';

const types = 'Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types.';
const target =
  'HTTP: an https URL. SYSLOG: `tls://host:port`. FILE: a name that ends in `.jsonl`. Hosts must have a public address.';
const secret = 'Value of the header, e.g. `Bearer` and a token. For HTTP.';

@InputType()
export class CreateLogStreamInput extends inputFields({
  projectId: nullable(id('Absent: the events of the instance and of all projects.')),
  kind: oneOf(StreamKindEnum),
  target: text(target),
  types: nullable(list(text(types))),
  description: nullable(text('One line of at most 100 characters.')),
  format: nullable(oneOf(BatchFormatEnum, 'Default: JSON_LINES. For HTTP.')),
  gzip: nullable(boolean('Compresses the body. For HTTP.')),
  header: nullable(text('Name of the header with the secret; default: `Authorization`.')),
  secret: nullable(text(secret)),
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateLogStreamInput extends inputFields({
  id: id(),
  target: nullable(text(`${target} A change requires the secret.`)),
  types: nullable(list(text(types))),
  description: nullable(text()),
  format: nullable(oneOf(BatchFormatEnum)),
  gzip: nullable(boolean()),
  header: nullable(text('Set it together with `secret`. Null for both: no header.')),
  secret: nullable(text(secret)),
  paused: nullable(boolean('True: events wait, for 30 days at most.')),
}) {}
