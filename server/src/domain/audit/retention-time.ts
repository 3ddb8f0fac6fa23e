import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, sql } from '../kernel/sql.ts';

/** Seconds by which each hourly step moves the time of retention at most. */
const stepSeconds = 6 * 3600;

/**
 * The time by which retention periods are counted: now, unless the clock has jumped ahead since the last step. Then it follows by
 * six hours an hour, so that a clock that is wrong for a while does not delete everything (decisions/0356).
 */
export async function retentionNow(db: Database, clock: Clock): Promise<Date> {
  const now = clock.now();
  const [row] = await query(db.alone, sql<{ at: Date | string }>`select at from retention_progress where id = 'time'`);
  return row ? new Date(Math.min(now.getTime(), new Date(row.at).getTime())) : now;
}

/** Job, hourly: moves {@link retentionNow} towards now, ahead by one step at most, back at once. */
export async function advanceRetention(db: Database, clock: Clock): Promise<void> {
  const now = clock.now();
  await execute(
    db.alone,
    sql`insert into retention_progress as p (id, at) values ('time', ${now}) on conflict (id) do update
      set at = least(excluded.at, p.at + make_interval(secs => ${stepSeconds}::int))`,
  );
}

/** {@link retentionNow} minus a period. */
export async function retainedFrom(db: Database, clock: Clock, periodSeconds: number): Promise<Date> {
  return secondsLater(await retentionNow(db, clock), -periodSeconds);
}
