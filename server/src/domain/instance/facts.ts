import type { Sender } from '../delivery/sender.ts';
import type { QueueStats } from '../kernel/queue.ts';
import type { Backup } from './backup.entity.ts';
import type { Process } from './process.entity.ts';

export interface DatabaseStatus {
  version: string;
  sizeBytes: number;
  connections: number;
  maxConnections: number;
  /** Of this version's migrations. */
  migrationsApplied: number;
  /** Names that have not run yet. */
  migrationsPending: readonly string[];
  /** Names that this version does not know: a newer one has run here. */
  migrationsUnknown: readonly string[];
}

/** How messages of one channel leave, and how that went of late. */
export interface ChannelStatus {
  /** Null: messages of this channel cannot be sent. */
  kind: Sender<never>['kind'] | null;
  lastSentAt: string | null;
  lastFailedAt: string | null;
  /** Why; names no recipient. */
  lastFailure: string | null;
}

/** How the instance stands. */
export interface SystemFacts {
  processes: Process[];
  database: DatabaseStatus;
  mail: ChannelStatus;
  sms: ChannelStatus;
  jobs: QueueStats[];
  /** The newest that was recorded. */
  backup: Backup | null;
  clockSkewMs: number;
  owners: number;
}
