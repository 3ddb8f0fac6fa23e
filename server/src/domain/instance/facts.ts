import type { Sender } from '../delivery/sender.ts';
import type { QueueStats } from '../kernel/queue.ts';
import type { LaneLag } from '../relay/channel.ts';
import type { Backup } from './backup.entity.ts';
import type { Process } from './process.entity.ts';

export interface DatabaseStatus {
  version: string;
  sizeBytes: number;
  connections: number;
  maxConnections: number;
  /** Number of this version's migrations that have run. */
  migrationsApplied: number;
  /** Names of migrations that have not run. */
  migrationsPending: readonly string[];
  /** Names unknown to this version, from a newer one. */
  migrationsUnknown: readonly string[];
}

/** Sender of a channel and its latest results. */
export interface ChannelStatus {
  /** Null: messages of this channel cannot be sent. */
  kind: Sender<never>['kind'] | null;
  lastSentAt: string | null;
  lastFailedAt: string | null;
  /** Reason of the last failure, without the recipient. */
  lastFailure: string | null;
  /** Age of the oldest code that has not been sent and has not expired; null: none waits. */
  codeWaitsSeconds: number | null;
}

/** Facts about the state of the instance. */
export interface SystemFacts {
  processes: Process[];
  database: DatabaseStatus;
  mail: ChannelStatus;
  sms: ChannelStatus;
  jobs: QueueStats[];
  /** Deliveries of all channels. */
  lanes: LaneLag[];
  /** The newest recorded backup. */
  backup: Backup | null;
  clockSkewMs: number;
  owners: number;
  /** Address of a proxy that TRUST_PROXY does not name; null: this process has seen none. */
  untrustedProxy: string | null;
}
