import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import type { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { ResultEnum } from '../api/enums.ts';

@InputType({ description: 'What is absent is not asked.' })
export class AuditEventFilter {
  @Field(() => [String], { nullable: true, description: 'Any of these, sixty at most.' })
  types?: string[] | null;

  @Field(() => ResultEnum, { nullable: true })
  result?: AuditEvent['result'] | null;

  @Field(() => ID, { nullable: true, description: 'Done by this user or to them.' })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  actorId?: string | null;

  @Field(() => ID, { nullable: true })
  subjectId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Done through this application or to it.' })
  clientId?: string | null;

  @Field(() => ID, { nullable: true, description: 'As in the `X-Request-Id` of an answer.' })
  requestId?: string | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'From here on.' })
  since?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Before this.' })
  until?: Date | null;
}
