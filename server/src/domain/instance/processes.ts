import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import { Process } from './process.entity.ts';

/** What a process knows of itself. */
export interface Runtime {
  host: string;
  pid: number;
  version: string;
  nodeVersion: string;
  /** One ES512 signature, measured at the start; null where it was not. */
  signMicroseconds: number | null;
  /** The names of the migrations that this version brings, in their order. */
  migrations: readonly string[];
}

/** So often a process says that it is there. */
export const beatSeconds = 20;
/** A process without a heartbeat for this long counts as gone. */
const silenceSeconds = 3 * beatSeconds;
/** And is forgotten after this. */
const rememberSeconds = 24 * 3600;

/** The processes that share this database: each says every {@link beatSeconds} that it is there. */
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

  /** At the end of an orderly stop. */
  async leave(): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from processes where id = ${this.id}`);
  }

  /** Those that are there, longest first. */
  live(em: EntityManager): Promise<Process[]> {
    const since = secondsLater(this.deps.clock.now(), -silenceSeconds);
    return em.find(Process, { seenAt: { $gte: since } }, { orderBy: { startedAt: 'asc', id: 'asc' }, limit: 100 });
  }
}

/** How far the database's clock is ahead of ours, taking its answer to be from the middle of the round trip. */
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
