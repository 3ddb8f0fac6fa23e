import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Backup } from '../../domain/instance/backup.entity.ts';
import type { CheckLevel, SystemCheck } from '../../domain/instance/checks.ts';
import type { ChannelStatus, DatabaseStatus } from '../../domain/instance/facts.ts';
import type { QueueStats } from '../../domain/kernel/queue.ts';
import { Access, ofInstance } from '../api/access.ts';
import { CheckLevelEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('SystemCheck', { description: 'One condition of a sound instance.' })
class SystemCheckView {
  @Field(() => String)
  name!: string;

  @Field(() => CheckLevelEnum)
  level!: CheckLevel;

  @Field(() => String, { description: 'What is.' })
  summary!: string;

  @Field(() => String, { nullable: true, description: 'What to do.' })
  advice!: string | null;
}

@Access('inherited')
@ObjectType('Process', { description: 'A running server on this database.' })
class ProcessView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  host!: string;

  @Field(() => Int)
  pid!: number;

  @Field(() => String)
  version!: string;

  @Field(() => String)
  nodeVersion!: string;

  @Field(() => GraphQLDateTime)
  startedAt!: Date;

  @Field(() => GraphQLDateTime)
  seenAt!: Date;

  @Field(() => Int, { nullable: true, description: 'One ES512 signature, measured at its start.' })
  signMicroseconds!: number | null;

  @Field(() => Int, { description: "How far the database's clock is ahead of its own." })
  clockSkewMs!: number;
}

@Access('inherited')
@ObjectType('DatabaseStatus')
class DatabaseStatusView {
  @Field(() => String)
  version!: string;

  @Field(() => Float)
  sizeBytes!: number;

  @Field(() => Int)
  connections!: number;

  @Field(() => Int)
  maxConnections!: number;

  @Field(() => Int)
  migrationsApplied!: number;

  @Field(() => [String])
  migrationsPending!: string[];

  @Field(() => [String], { description: 'A newer version has run here.' })
  migrationsUnknown!: string[];
}

@Access('inherited')
@ObjectType('ChannelStatus', { description: 'How messages of one kind leave, and how that went of late.' })
class ChannelStatusView {
  @Field(() => String, { nullable: true, description: 'smtp, sms-gateway, twilio, mailbox; absent: they cannot.' })
  kind!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastSentAt!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastFailedAt!: string | null;

  @Field(() => String, { nullable: true })
  lastFailure!: string | null;
}

@Access('inherited')
@ObjectType('JobQueueStatus', { description: 'One kind of work that nobody waits for.' })
class JobQueueStatusView {
  @Field(() => String)
  name!: string;

  @Field(() => Int, { description: 'Due, and not begun.' })
  waiting!: number;

  @Field(() => Int, { description: 'For later.' })
  deferred!: number;

  @Field(() => Int)
  active!: number;

  @Field(() => Int, { description: 'Given up within a day.' })
  failed!: number;
}

@Access('inherited')
@ObjectType('BackupStatus')
class BackupStatusView {
  @Field(() => GraphQLDateTime)
  takenAt!: Date;

  @Field(() => Float)
  bytes!: number;
}

@Access('owner', ofInstance)
@ObjectType('SystemStatus', { description: 'How the instance stands.' })
export class SystemStatusView {
  @Field(() => [SystemCheckView])
  checks!: SystemCheck[];

  @Field(() => [ProcessView], { description: 'Those that are there, longest first.' })
  processes!: ProcessView[];

  @Field(() => DatabaseStatusView)
  database!: DatabaseStatus;

  @Field(() => ChannelStatusView)
  mail!: ChannelStatus;

  @Field(() => ChannelStatusView)
  sms!: ChannelStatus;

  @Field(() => [JobQueueStatusView])
  jobs!: QueueStats[];

  @Field(() => BackupStatusView, { nullable: true, description: 'The newest that was recorded.' })
  backup!: Backup | null;
}
