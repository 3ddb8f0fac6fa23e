import pg from 'pg';
import { closedBy, placeOf } from './connection.ts';
import { migrationLock, migrationsName } from './database.ts';

/** Intervals in milliseconds. */
export interface AttendedTimes {
  /** Interval between lines of progress. */
  everyMs: number;
  /** Maximum time without an answer of the database; then `work` is aborted. */
  boundMs: number;
}

const defaults: AttendedTimes = { everyMs: 10_000, boundMs: 60_000 };

/**
 * Runs `work` of a start on the database. Prints a line every ten seconds: what the database waits for, or that it does
 * not answer. Rejects if it has not answered a separate connection for a minute: `work` then aborts by its signal.
 *
 * @param doing names the work in the lines, e.g. `Migrations`
 */
export async function attended<T>(
  url: string,
  doing: string,
  print: (line: string) => void,
  work: (silence: AbortSignal) => Promise<T>,
  { everyMs, boundMs }: AttendedTimes = defaults,
): Promise<T> {
  const silence = new AbortController();
  const where = placeOf(url);
  const beganAt = performance.now();
  let answeredAt = beganAt;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const found = await waitsOf(url, everyMs * 0.9).catch((error: Error) => error);
    isLooking = false;
    const now = performance.now();
    const secondsSince = (since: number) => Math.round((now - since) / 1000);
    if (!(found instanceof Error)) {
      answeredAt = now;
      for (const line of found.length === 0 ? ['not blocked'] : found) {
        print(`${doing} of ${where}, ${secondsSince(beganAt)} s so far: ${line}`);
      }
      return;
    }
    // An error of the server is an answer.
    if (found instanceof pg.DatabaseError) answeredAt = now;
    const seconds = secondsSince(answeredAt);
    print(`Waiting for the database ${where}, ${secondsSince(beganAt)} s so far: ${found.message}`);
    if (now - answeredAt >= boundMs)
      silence.abort(new Error(`${where} has not answered for ${seconds} s: ${found.message}`));
  };
  const timer = setInterval(() => void look(), everyMs);
  const isSilent = new Promise<never>((_, reject) => {
    silence.signal.addEventListener('abort', () => reject(silence.signal.reason as Error));
  });
  const result = work(silence.signal);
  // After the bound, its rejection is not unhandled.
  result.catch(() => undefined);
  return Promise.race([result, isSilent]).finally(() => clearInterval(timer));
}

interface Waiting {
  what: 'lock' | 'migration';
  pid: number;
  name: string;
  client: string | null;
  state: string | null;
  seconds: number;
}

/** One line for each process that holds the lock of migrations, or blocks a migration; throws with the reason. */
async function waitsOf(url: string, withinMs: number): Promise<string[]> {
  const closing = new AbortController();
  const Client = closedBy(closing.signal);
  const client = new Client({ connectionString: url, application_name: 'latchkey-start' });
  client.on('error', () => undefined);
  const timer = setTimeout(() => closing.abort(), withinMs);
  try {
    await client.connect();
    const { rows } = await client.query<Waiting>(
      `with ours as (select pid, pg_blocking_pids(pid) as blockers from pg_stat_activity
          where datname = current_database() and application_name = $2),
        found as (
          select 'lock' as what, pid from pg_locks
            where locktype = 'advisory' and granted and classid::bigint << 32 | objid::bigint = $1
              and database = (select oid from pg_database where datname = current_database())
              -- The only process that migrates is this one.
              and not (pid in (select pid from ours) and (select count(*) from ours) = 1)
          union select 'migration', unnest(blockers) from ours)
      select what, pid, application_name as name, host(client_addr) as client, state,
        extract(epoch from clock_timestamp() - coalesce(xact_start, query_start))::int as seconds
      from found join pg_stat_activity using (pid) order by what, pid`,
      [migrationLock, migrationsName],
    );
    return rows.map(lineOf);
  } catch (error) {
    if (closing.signal.aborted) throw new Error('no response', { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    closing.abort();
  }
}

function lineOf({ what, pid, name, client, state, seconds }: Waiting): string {
  const who = `process ${pid} (${[name, client, state, `${seconds} s`].filter(Boolean).join(', ')})`;
  return what === 'lock' ? `the lock of migrations is held by ${who}` : `a migration waits for a lock of ${who}`;
}
