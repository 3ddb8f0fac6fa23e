import { InputType } from 'type-graphql';
import { ResultEnum } from '../api/enums.ts';
import { id, inputFields, list, nullable, oneOf, text, time } from '../api/fields.ts';

@InputType({ description: 'Absent fields do not filter.' })
export class AuditEventFilter extends inputFields({
  types: nullable(list(text('Any of these; at most 100.'))),
  result: nullable(oneOf(ResultEnum)),
  userId: nullable(id('The user is the actor or the subject.')),
  actorId: nullable(id()),
  subjectId: nullable(id()),
  clientId: nullable(id('The application is the client or the subject.')),
  requestId: nullable(id('The `X-Request-Id` of a response.')),
  signInId: nullable(id('`signInId` of the detail: the events of one sign-in.')),
  organizationId: nullable(id('The organization, its members, roles of members, invitations and domains.')),
  since: nullable(time('At or after this time.')),
  until: nullable(time('Before this time.')),
}) {}
