import { ObjectType } from 'type-graphql';
import { Access, ofInstance } from '../api/access.ts';
import { CheckLevelEnum } from '../api/enums.ts';
import { fields, float, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType('SystemCheck', { description: 'A health check of the instance.' })
class SystemCheckView extends fields({
  name: text(),
  level: oneOf(CheckLevelEnum),
  summary: text('Current state.'),
  advice: nullable(text('The remedy.')),
}) {}

@Access('inherited')
@ObjectType('Process', { description: 'A server process on this database.' })
class ProcessView extends fields({
  id: id(),
  host: text(),
  pid: int(),
  version: text(),
  nodeVersion: text(),
  startedAt: time(),
  seenAt: time(),
  signMicroseconds: nullable(int('Duration of one ES512 signature, measured at start-up.')),
  clockSkewMs: int("Database clock minus the process's clock."),
}) {}

@Access('inherited')
@ObjectType('DatabaseStatus')
class DatabaseStatusView extends fields({
  version: text(),
  sizeBytes: float(),
  connections: int(),
  maxConnections: int(),
  migrationsApplied: int(),
  migrationsPending: list(text()),
  migrationsUnknown: list(text('Applied by a newer version.')),
}) {}

@Access('inherited')
@ObjectType('ChannelStatus', { description: 'The sender of a channel and its recent results.' })
class ChannelStatusView extends fields({
  kind: nullable(text('smtp, sms-gateway, twilio or mailbox; absent: not configured.')),
  lastSentAt: nullable(time()),
  lastFailedAt: nullable(time()),
  lastFailure: nullable(text()),
}) {}

@Access('inherited')
@ObjectType('JobQueueStatus', { description: 'A queue of background jobs.' })
class JobQueueStatusView extends fields({
  name: text(),
  waiting: int('Due and not started.'),
  deferred: int('Scheduled for later.'),
  active: int(),
  failed: int('Failed in the last day, with no retry left.'),
}) {}

@Access('inherited')
@ObjectType('BackupStatus')
class BackupStatusView extends fields({
  takenAt: time(),
  bytes: float(),
}) {}

@Access('owner', ofInstance)
@ObjectType('SystemStatus', { description: 'Health of the instance.' })
export class SystemStatusView extends fields({
  checks: list(object(SystemCheckView)),
  processes: list(object(ProcessView, 'Running processes, oldest first.')),
  database: object(DatabaseStatusView),
  mail: object(ChannelStatusView),
  sms: object(ChannelStatusView),
  jobs: list(object(JobQueueStatusView)),
  backup: nullable(object(BackupStatusView, 'The latest recorded backup.')),
}) {}
