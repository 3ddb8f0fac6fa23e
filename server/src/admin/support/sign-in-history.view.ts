import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Attempt } from '../../domain/support/attempts.ts';
import type { SignInHistory } from '../../domain/support/sign-in-history.ts';
import { Access } from '../api/access.ts';
import { AttemptOutcomeEnum, HistoryKindEnum } from '../api/enums.ts';
import { AuditEventView, AuditPerson } from '../audit/audit-event.view.ts';
import { ClientView } from '../clients/client.view.ts';

@Access('inherited')
@ObjectType('Explanation', { description: 'The reason for a refusal, and its remedy.' })
export class ExplanationView {
  @Field(() => String)
  meaning!: string;

  @Field(() => String)
  remedy!: string;
}

@Access('inherited')
@ObjectType('SignInStep', { description: 'One event of an attempt.' })
export class SignInStepView {
  @Field(() => AuditEventView)
  event!: AuditEventView;

  @Field(() => ExplanationView, { nullable: true, description: 'Of a failed event.' })
  explanation!: ExplanationView | null;

  @Field(() => Boolean, { description: 'Whether it belongs to the request of the search.' })
  isOfRequest!: boolean;
}

@Access('inherited')
@ObjectType('SignInAttempt', {
  description: 'Events of one person at one application, within the time of a sign-in.',
})
export class SignInAttemptView {
  @Field(() => ID, { description: 'Id of its first event.' })
  id!: string;

  @Field(() => ClientView, { nullable: true, description: 'Absent if there is none or it was deleted.' })
  client!: ClientView | null;

  @Field(() => GraphQLDateTime)
  startedAt!: Date;

  @Field(() => AttemptOutcomeEnum)
  outcome!: Attempt['outcome'];

  @Field(() => [SignInStepView], { description: 'Oldest first.' })
  steps!: SignInStepView[];
}

@Access('inherited')
@ObjectType('SignInHistory', { description: 'The last attempts to sign in to a project.' })
export class SignInHistoryView {
  @Field(() => HistoryKindEnum, { description: 'How the text was understood.' })
  kind!: SignInHistory['kind'];

  @Field(() => String, { description: 'The address, request id or error code that was looked up.' })
  about!: string;

  @Field(() => AuditPerson, { nullable: true, description: 'Absent if the project has no such user.' })
  user!: AuditPerson | null;

  @Field(() => ExplanationView, { nullable: true, description: 'Of an OAuth error.' })
  explanation!: ExplanationView | null;

  @Field(() => [SignInAttemptView], { description: 'Newest first; at most ten.' })
  attempts!: SignInAttemptView[];
}
