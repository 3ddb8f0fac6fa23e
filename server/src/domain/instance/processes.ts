import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../kernel/clock.ts';
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
/** The row of a stopped process is deleted after this. */
const rememberSeconds = 24 * 3600;

interface ProcessesDeps {
  db: Database;
  clock: Clock;
  random: Random;
  runtime: Runtime;
  /** Corrects {@link Clock} by a measurement; returns how far the database is ahead of the machine. Absent: not corrected. */
  follow?: ((aheadMs: number, errorMs: number) => number) | undefined;
}

/** The processes on this database, by their heartbeats, in the database's time. */
export class Processes {
  private readonly id: string;
  readonly runtime: Runtime;

  constructor(private readonly deps: ProcessesDeps) {
    this.id = deps.random.id();
    this.runtime = deps.runtime;
  }

  /** Compares the clock with the database's; to be called before the process writes anything. @returns the skew in ms */
  async synchronize(): Promise<number> {
    const { db, clock, follow } = this.deps;
    const { aheadMs, errorMs } = await compareClocks(db.reader(), clock);
    return bounded(follow ? follow(aheadMs, errorMs) : aheadMs);
  }

  /** To be called every {@link beatSeconds}. */
  async beat(): Promise<void> {
    const { host, pid, version, nodeVersion, signMicroseconds } = this.runtime;
    const skew = await this.synchronize();
    await this.deps.db.transaction(async (em) => {
      await execute(
        em,
        sql`insert into processes (id, host, pid, version, node_version, started_at, seen_at, sign_microseconds,
            clock_skew_ms)
          values (${this.id}, ${host}, ${pid}, ${version}, ${nodeVersion}, now(), now(), ${signMicroseconds}, ${skew})
          on conflict (id) do update set seen_at = excluded.seen_at, clock_skew_ms = excluded.clock_skew_ms`,
      );
      await execute(em, sql`delete from processes where seen_at < now() - make_interval(secs => ${rememberSeconds})`);
    });
  }

  /** Removes this process's row; called at shutdown. */
  async leave(): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from processes where id = ${this.id}`);
  }

  /** Live processes, oldest first. */
  async live(em: EntityManager): Promise<Process[]> {
    const [row] = await query(
      em,
      sql<{ since: Date }>`select now() - make_interval(secs => ${silenceSeconds}) as since`,
    );
    return em.find(
      Process,
      { seenAt: { $gte: new Date(row?.since ?? 0) } },
      { orderBy: { startedAt: 'asc', id: 'asc' }, limit: 100 },
    );
  }
}

/** Milliseconds by which the database's clock is ahead of ours, corrected by half the round trip. */
export async function clockSkewMs(em: EntityManager, clock: Clock): Promise<number> {
  return bounded((await compareClocks(em, clock)).aheadMs);
}

async function compareClocks(em: EntityManager, clock: Clock): Promise<{ aheadMs: number; errorMs: number }> {
  const asked = clock.now().getTime();
  const [row] = await query(
    em,
    sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  );
  const answered = clock.now().getTime();
  const aheadMs = Math.round((row?.ms ?? asked) - (asked + answered) / 2);
  return { aheadMs, errorMs: Math.abs(answered - asked) / 2 };
}

/** Within the column's range. */
function bounded(milliseconds: number): number {
  return Math.max(-2_000_000_000, Math.min(2_000_000_000, Math.round(milliseconds)));
}
