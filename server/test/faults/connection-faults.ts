import { callbackify } from 'node:util';
import pg from 'pg';

/** SQLSTATEs that PostgreSQL raises instead of running a statement. */
const sqlStates = ['40001', '40P01', '57014', '55P03', '53100'] as const;
/** `lost-before`: the connection ends before the statement; `lost-after`: after it, before its response arrives. */
export type Fault = (typeof sqlStates)[number] | 'lost-before' | 'lost-after';
export const faults: readonly Fault[] = [...sqlStates, 'lost-before', 'lost-after'];

export interface FaultyRun<T> {
  result: T;
  /** Statements in order, those of the driver (`begin`, `commit`) included. */
  statements: string[];
  /** Whether the fault happened. */
  isHit: boolean;
}

/** Needed by {@link withFault}. */
export async function prepareFaults(admin: pg.Client): Promise<void> {
  await admin.query(`
    create schema faults;
    create function faults.raise() returns trigger language plpgsql as
      $$ begin raise exception 'fault at commit' using errcode = new.sqlstate; end $$;
    create table faults.at_commit (sqlstate text);
    create constraint trigger fault after insert on faults.at_commit deferrable initially deferred
      for each row execute function faults.raise();
    grant usage on schema faults to public;
    grant insert on faults.at_commit to public`);
}

type Query = (...args: unknown[]) => Promise<unknown> | undefined;
type Answer = (error: unknown, answer?: unknown) => void;
interface Connection {
  query: Query;
  processID: number;
}

/**
 * Runs `work`. PostgreSQL fails at the statement with this number, counted from 1 over all connections of this process
 * except `admin`'s.
 */
export async function withFault<T>(
  admin: pg.Client,
  point: { at: number; fault: Fault } | null,
  work: () => Promise<T>,
): Promise<FaultyRun<T>> {
  const statements: string[] = [];
  const prototype = pg.Client.prototype as unknown as Connection;
  const { query } = prototype;
  let isHit = false;
  prototype.query = function (this: Connection, ...args) {
    if ((this as unknown) === admin) return query.apply(this, args);
    const [asked] = args as [string | { text: string }];
    const text = typeof asked === 'string' ? asked : asked.text;
    statements.push(text.replace(/\s+/g, ' '));
    if (statements.length !== point?.at) return query.apply(this, args);
    isHit = true;
    const run: Query = (...own) => query.apply(this, own);
    // A statement of the pool itself: its answer goes to a callback, once.
    const callback = args.find((one): one is Answer => typeof one === 'function');
    const plain = args.filter((one) => one !== callback);
    const failed = failing(point.fault, { run, args: plain, text, end: () => end(admin, this) });
    if (!callback) return failed;
    callbackify(() => failed)(callback);
  };
  try {
    return { result: await work(), statements, isHit };
  } finally {
    prototype.query = query;
  }
}

async function failing(
  fault: Fault,
  { run, args, text, end }: { run: Query; args: unknown[]; text: string; end(): Promise<void> },
): Promise<unknown> {
  if (fault === 'lost-before') await end();
  else if (fault === 'lost-after') {
    await run(...args);
    await end();
  } else if (/^commit/i.test(text)) {
    // The transaction ends, as it does if PostgreSQL cannot commit.
    await run(`insert into faults.at_commit values ('${fault}')`);
  } else return run(`do $$ begin raise exception 'fault' using errcode = '${fault}'; end $$`);
  return run(...args);
}

/** Waits until the server has ended the connection, and rolled back its transaction. */
async function end(admin: pg.Client, { processID }: Connection): Promise<void> {
  await admin.query('select pg_terminate_backend($1, 60000)', [processID]);
}
