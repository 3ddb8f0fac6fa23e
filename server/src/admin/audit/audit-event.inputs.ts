import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { ResultEnum } from '../api/enums.ts';

@InputType({ description: 'Absent fields do not filter.' })
export class AuditEventFilter {
  @Field(() => [String], { nullable: true, description: 'Any of these; at most 60.' })
  types?: string[] | null;

  @Field(() => ResultEnum, { nullable: true })
  result?: AuditEvent['result'] | null;

  @Field(() => ID, { nullable: true, description: 'The user is the actor or the subject.' })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  actorId?: string | null;

  @Field(() => ID, { nullable: true })
  subjectId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The application is the client or the subject.' })
  clientId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The `X-Request-Id` of a response.' })
  requestId?: string | null;

  @Field(() => ID, { nullable: true, description: '`signInId` of the detail: the events of one sign-in.' })
  signInId?: string | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'At or after this time.' })
  since?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Before this time.' })
  until?: Date | null;
}
