import type { EntityManager } from '@mikro-orm/postgresql';
import { codes } from '../delivery/lanes.ts';
import type { Sender } from '../delivery/sender.ts';
import type { Clock } from '../kernel/clock.ts';
import type { QueueGauge } from '../kernel/queue.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Relay } from '../relay/relay.ts';
import type { Backups } from './backups.ts';
import { type SystemCheck, systemChecks } from './checks.ts';
import type { ChannelStatus, DatabaseStatus, SystemFacts } from './facts.ts';
import { clockSkewMs, type Processes } from './processes.ts';

/** The state of the instance, and the actions it needs. */
export interface SystemStatusReport extends SystemFacts {
  checks: SystemCheck[];
}

interface SystemStatusDeps {
  clock: Clock;
  processes: Processes;
  backups: Backups;
  senders: { mail: Sender<never> | null; sms: Sender<never> | null };
  /** Absent in a process without jobs. */
  gauge: QueueGauge | undefined;
  relays: readonly Pick<Relay, 'lag'>[];
  /** Absent in a process that serves no requests. */
  untrustedProxy?: (() => string | null) | undefined;
}

/** Reads the state of the instance. */
export class SystemStatus {
  constructor(private readonly deps: SystemStatusDeps) {}

  /** Of this process. */
  get version(): string {
    return this.deps.processes.runtime.version;
  }

  async report(em: EntityManager): Promise<SystemStatusReport> {
    const { clock, processes, backups, senders, gauge, relays } = this.deps;
    const report = {
      processes: await processes.live(em),
      database: await databaseStatus(em, processes.runtime.migrations),
      mail: await channelStatus(em, 'mail', senders.mail),
      sms: await channelStatus(em, 'sms', senders.sms),
      jobs: (await gauge?.stats()) ?? [],
      lanes: (await Promise.all(relays.map((relay) => relay.lag()))).flat(),
      backup: await backups.newest(),
      clockSkewMs: await clockSkewMs(em, clock),
      owners: await ownerCount(em),
      untrustedProxy: this.deps.untrustedProxy?.() ?? null,
    };
    return { ...report, checks: systemChecks(report, clock.now()) };
  }
}

async function databaseStatus(em: EntityManager, known: readonly string[]): Promise<DatabaseStatus> {
  const [row] = await query(
    em,
    sql<
      Omit<DatabaseStatus, 'migrationsApplied' | 'migrationsPending' | 'migrationsUnknown'>
    >`select current_setting('server_version') as version,
      pg_database_size(current_database())::float8 as "sizeBytes",
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as "maxConnections"`,
  );
  const applied = new Set(
    (await query(em, sql<{ name: string }>`select name from migrations`)).map(({ name }) => name),
  );
  if (!row) throw new Error('no row from the database settings query');
  return {
    ...row,
    migrationsApplied: known.filter((name) => applied.has(name)).length,
    migrationsPending: known.filter((name) => !applied.has(name)),
    // Earlier ones are part of the first.
    migrationsUnknown: [...applied].filter((name) => !known.includes(name) && name > (known[0] ?? '')).sort(),
  };
}

/** Number of newest messages to read. */
const recentMessages = 1000;

async function channelStatus(
  em: EntityManager,
  channel: 'mail' | 'sms',
  sender: Sender<never> | null,
): Promise<ChannelStatus> {
  const moment = (column: string) =>
    sql`to_char(max(${sql.ref(column)}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const [row] = await query(
    em,
    sql<Omit<ChannelStatus, 'kind'>>`with recent as (select * from messages order by id desc limit ${recentMessages}),
        mine as (select * from recent where channel = ${channel})
      select (select ${moment('sent_at')} from mine where state = 'sent') as "lastSentAt",
        (select ${moment('created_at')} from mine where note is not null and state in ('failed', 'pending'))
          as "lastFailedAt",
        (select note from mine where note is not null and state in ('failed', 'pending') order by id desc limit 1)
          as "lastFailure",
        (select extract(epoch from clock_timestamp() - min(created_at))::int from mine
          where state = 'pending' and expires_at > clock_timestamp() and template = any(${codes}::text[]))
          as "codeWaitsSeconds"`,
  );
  return {
    kind: sender?.kind ?? null,
    lastSentAt: null,
    lastFailedAt: null,
    lastFailure: null,
    codeWaitsSeconds: null,
    ...row,
  };
}

async function ownerCount(em: EntityManager): Promise<number> {
  const [row] = await query(
    em,
    sql<{ count: number }>`select count(*)::int as count from memberships where role = 'owner' and project_id is null`,
  );
  return row?.count ?? 0;
}
