import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { AttemptOutcomeEnum, HistoryKindEnum } from '../api/enums.ts';
import { boolean, fields, id, list, nullable, object, oneOf, text, time } from '../api/fields.ts';
import { AuditEventView, AuditPerson } from '../audit/audit-event.view.ts';
import { ClientView } from '../clients/client.view.ts';

@Access('inherited')
@ObjectType('Explanation', { description: 'The reason for a refusal, and its remedy.' })
class ExplanationView extends fields({
  meaning: text(),
  remedy: text(),
}) {}

@Access('inherited')
@ObjectType('SignInStep', { description: 'One event of an attempt.' })
class SignInStepView extends fields({
  event: object(AuditEventView),
  explanation: nullable(object(ExplanationView, 'Of a failed event.')),
  isOfRequest: boolean('Whether it belongs to the request of the search.'),
}) {}

@Access('inherited')
@ObjectType('SignInAttempt', {
  description: 'Events of one person at one application, within the time of a sign-in.',
})
class SignInAttemptView extends fields({
  id: id('Id of its first event.'),
  client: nullable(object(ClientView, 'Absent if there is none or it was deleted.')),
  startedAt: time(),
  outcome: oneOf(AttemptOutcomeEnum),
  steps: list(object(SignInStepView, 'Oldest first.')),
}) {}

@Access('inherited')
@ObjectType('SignInHistory', { description: 'The last attempts to sign in to a project.' })
export class SignInHistoryView extends fields({
  kind: oneOf(HistoryKindEnum, 'Interpretation of the text.'),
  about: text('The address, request id or error code that was looked up; empty for the latest refusals.'),
  user: nullable(object(AuditPerson, 'Absent if the project has no such user.')),
  explanation: nullable(object(ExplanationView, 'Of an OAuth error.')),
  attempts: list(object(SignInAttemptView, 'Newest first; at most ten.')),
}) {}
