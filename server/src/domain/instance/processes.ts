import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Process } from './process.entity.ts';

/** Runtime facts of a process. */
export interface Runtime {
  host: string;
  pid: number;
  version: string;
  nodeVersion: string;
  /** Duration of one ES512 signature, measured at the start; null if not measured. */
  signMicroseconds: number | null;
  /** Names of this version's migrations, in order. */
  migrations: readonly string[];
}

/** Interval of heartbeats. */
export const beatSeconds = 20;
/** A process without a heartbeat for this long counts as stopped. */
const silenceSeconds = 3 * beatSeconds;
/** Its row is deleted after this. */
const rememberSeconds = 24 * 3600;

/** The processes on this database, by their heartbeats. */
export class Processes {
  private readonly id: string;
  private readonly startedAt: Date;
  readonly runtime: Runtime;

  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; runtime: Runtime }) {
    this.id = deps.random.id();
    this.startedAt = deps.clock.now();

    this.runtime = deps.runtime;
  }

  /** To be called every {@link beatSeconds}. */
  async beat(): Promise<void> {
    const { host, pid, version, nodeVersion, signMicroseconds } = this.runtime;
    const skew = await clockSkewMs(this.deps.db.reader(), this.deps.clock);
    await this.deps.db.transaction(async (em) => {
      const now = this.deps.clock.now();
      await execute(
        em,
        sql`insert into processes (id, host, pid, version, node_version, started_at, seen_at, sign_microseconds,
            clock_skew_ms)
          values (${this.id}, ${host}, ${pid}, ${version}, ${nodeVersion}, ${this.startedAt}, ${now},
            ${signMicroseconds}, ${skew})
          on conflict (id) do update set seen_at = excluded.seen_at, clock_skew_ms = excluded.clock_skew_ms`,
      );
      await execute(em, sql`delete from processes where seen_at < ${secondsLater(now, -rememberSeconds)}`);
    });
  }

  /** Removes this process's row; called at shutdown. */
  async leave(): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from processes where id = ${this.id}`);
  }

  /** Live processes, oldest first. */
  live(em: EntityManager): Promise<Process[]> {
    const since = secondsLater(this.deps.clock.now(), -silenceSeconds);
    return em.find(Process, { seenAt: { $gte: since } }, { orderBy: { startedAt: 'asc', id: 'asc' }, limit: 100 });
  }
}

/** How far the database's clock is ahead of ours, corrected by half the round trip. */
export async function clockSkewMs(em: EntityManager, clock: Clock): Promise<number> {
  const asked = clock.now().getTime();
  const [row] = await query(
    em,
    sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  );
  const answered = clock.now().getTime();
  const skew = Math.round((row?.ms ?? asked) - (asked + answered) / 2);
  return Math.max(-2_000_000_000, Math.min(2_000_000_000, skew));
}
