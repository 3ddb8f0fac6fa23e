import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { BatchFormat, StreamKind } from '../../domain/streams/log-stream.entity.ts';
import { Access, ofProjectOrInstance } from '../api/access.ts';
import { BatchFormatEnum, StreamKindEnum } from '../api/enums.ts';

@Access('project_viewer', ofProjectOrInstance, 'projects:read')
@ObjectType('LogStream', { description: 'A receiver of audit events, in batches and in order.' })
export class LogStreamView {
  @Field(() => ID)
  id!: string;

  @Field(() => StreamKindEnum)
  kind!: StreamKind;

  @Field(() => String)
  description!: string;

  @Field(() => [String], { description: 'Event types, or all of a noun, e.g. `user.*`; none: all.' })
  types!: string[];

  @Field(() => BatchFormatEnum)
  format!: BatchFormat;

  @Field(() => Boolean)
  gzip!: boolean;

  @Field(() => String, { nullable: true, description: 'Name of the header with the secret. Its value is never shown.' })
  header!: string | null;

  @Field(() => Boolean)
  paused!: boolean;

  @Field(() => Number, { description: 'Number of the last event of its log that was delivered or skipped.' })
  position!: number;

  @Field(() => Int, { description: 'Batches that failed since the last success.' })
  failures!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  failingSince!: Date | null;

  @Field(() => String, { nullable: true, description: 'Status or fault of the last batch, if it failed.' })
  lastError!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastDeliveredAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  nextAttemptAt!: Date | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}

@Access('inherited')
@ObjectType('LogStreamLag', { description: 'How far a log stream is behind.' })
export class LogStreamLagView {
  @Field(() => Int, { description: 'Events that wait, counted up to 10,000. Its filter may skip some.' })
  waiting!: number;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Time of the oldest. Null: none waits.' })
  since!: Date | null;
}
