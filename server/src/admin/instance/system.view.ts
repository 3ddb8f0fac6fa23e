import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Backup } from '../../domain/instance/backup.entity.ts';
import type { CheckLevel, SystemCheck } from '../../domain/instance/checks.ts';
import type { ChannelStatus, DatabaseStatus } from '../../domain/instance/facts.ts';
import type { QueueStats } from '../../domain/kernel/queue.ts';
import { Access, ofInstance } from '../api/access.ts';
import { CheckLevelEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('SystemCheck', { description: 'A health check of the instance.' })
class SystemCheckView {
  @Field(() => String)
  name!: string;

  @Field(() => CheckLevelEnum)
  level!: CheckLevel;

  @Field(() => String, { description: 'Current state.' })
  summary!: string;

  @Field(() => String, { nullable: true, description: 'The remedy.' })
  advice!: string | null;
}

@Access('inherited')
@ObjectType('Process', { description: 'A server process on this database.' })
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

  @Field(() => Int, { nullable: true, description: 'Duration of one ES512 signature, measured at start-up.' })
  signMicroseconds!: number | null;

  @Field(() => Int, { description: "Database clock minus the process's clock." })
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

  @Field(() => [String], { description: 'Applied by a newer version.' })
  migrationsUnknown!: string[];
}

@Access('inherited')
@ObjectType('ChannelStatus', { description: 'The sender of a channel and its recent results.' })
class ChannelStatusView {
  @Field(() => String, { nullable: true, description: 'smtp, sms-gateway, twilio or mailbox; absent: not configured.' })
  kind!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastSentAt!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastFailedAt!: string | null;

  @Field(() => String, { nullable: true })
  lastFailure!: string | null;
}

@Access('inherited')
@ObjectType('JobQueueStatus', { description: 'A queue of background jobs.' })
class JobQueueStatusView {
  @Field(() => String)
  name!: string;

  @Field(() => Int, { description: 'Due and not started.' })
  waiting!: number;

  @Field(() => Int, { description: 'Scheduled for later.' })
  deferred!: number;

  @Field(() => Int)
  active!: number;

  @Field(() => Int, { description: 'Failed for good in the last day.' })
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
@ObjectType('SystemStatus', { description: 'Health of the instance.' })
export class SystemStatusView {
  @Field(() => [SystemCheckView])
  checks!: SystemCheck[];

  @Field(() => [ProcessView], { description: 'Running processes, oldest first.' })
  processes!: ProcessView[];

  @Field(() => DatabaseStatusView)
  database!: DatabaseStatus;

  @Field(() => ChannelStatusView)
  mail!: ChannelStatus;

  @Field(() => ChannelStatusView)
  sms!: ChannelStatus;

  @Field(() => [JobQueueStatusView])
  jobs!: QueueStats[];

  @Field(() => BackupStatusView, { nullable: true, description: 'The latest recorded backup.' })
  backup!: Backup | null;
}
