import pg from 'pg';
import { type Executing, execute, sql } from '../../src/domain/kernel/sql.ts';
import type { TestQueue } from '../build-app.ts';
import { type Change, recordChanges, shapeOf, takeChanges } from './changes.ts';
import { type Fault, prepareFaults, withFault } from './connection-faults.ts';

/** The reply that a client received. */
export interface Answered {
  status: number;
  headers: Headers;
  body: string;
  /** Whether the request was carried out, in the terms of its protocol. */
  isSuccess: boolean;
}

/** A request that is ready to be sent. */
interface Act {
  (): Promise<Answered>;
}

export interface Flow {
  name: string;
  /** Creates separate state, and the request. A second call repeats it. */
  prepare(): Promise<Act>;
  /** Changes that are complete by themselves, and may stay after a refusal. */
  stays?: RegExp;
  /** The response to a repetition of a request that was carried out. Default: `refused`. */
  again?: 'refused' | 'succeeds' | 'anything';
}

/** The parts of an instance that tests of faults use. */
export interface Instance {
  admin: pg.Client;
  /** Whether another user's request succeeds. */
  serves(): Promise<boolean>;
}

/** A broken guarantee after a fault at a statement. */
export interface Finding {
  flow: string;
  at: number;
  fault: Fault;
  statement: string;
  problem: string;
  detail: unknown;
}

/** A connection to a test's database that records changes and causes faults. */
export async function openAdmin(url: string): Promise<pg.Client> {
  const admin = new pg.Client({ connectionString: url, application_name: 'faults' });
  await admin.connect();
  await prepareFaults(admin);
  await recordChanges(admin);
  await admin.query(`
    create table faults.queue (id bigint generated always as identity primary key, job text, data jsonb);
    grant insert, select on faults.queue to public;
    create trigger changes after insert on faults.queue for each row execute function changes.note('queue', 'id')`);
  return admin;
}

/** A queue in a table, so that a job is sent with its transaction. */
export function queueInTable(admin: () => pg.Client): TestQueue {
  const insert = async (on: Executing, job: string, list: readonly object[]) => {
    const texts = `{${list.map((one) => JSON.stringify(JSON.stringify(one))).join()}}`;
    await execute(on, sql`insert into faults.queue (job, data) select ${job}, unnest(${texts}::jsonb[])`);
  };
  return {
    send: (em, job, data) => insert(em, job, [data]),
    take: async () => {
      const text = `delete from faults.queue where id = (select min(id) from faults.queue) returning job, data`;
      return (await admin().query(text)).rows[0];
    },
  };
}

const secrets =
  /\bat \S+\.(ts|js):\d|select |insert into|update "|delete from|terminat|deadlock|serializ|errcode|raise|pg_|sqlstate|ECONN/i;

/** The violation of the protocol by the response; null: it is a proper refusal. */
function improperIn({ status, headers, body }: Answered): string | null {
  if (secrets.test(body)) return 'the body reveals the database';
  const location = headers.get('location');
  if (location !== null && status === 303) {
    const error = new URL(location, 'http://x').searchParams.get('error');
    return error === 'temporarily_unavailable' ? null : `a redirect with ${error} to ${location}`;
  }
  if (status === 200 && /"UNAVAILABLE"/.test(body)) return null;
  if (status !== 503) return `status ${status}: ${body.slice(0, 300)}`;
  return headers.has('retry-after') ? null : 'no Retry-After';
}

/** Tables whose rows only count or only describe requests. */
const counters =
  /^. (budgets|scim_days|scim_request_records|repeated_refusals|sequences)\b|^~ scim_tokens last_used_at$|^~ (api_keys|client_secrets) last_used_at$|^~ device_authorizations polled_at$|^\+ audit_log (\S+\.(refused|rejected)|bootstrap-token\.used)$|^~ audit_log detail$/;
const essential = (changes: readonly Change[]): string[] => shapeOf(changes).filter((line) => !counters.test(line));
const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Runs the flow without a fault. */
async function plainRun({ admin }: Instance, flow: Flow): Promise<{ shape: string[]; usual: string[] }> {
  const act = await flow.prepare();
  await takeChanges(admin);
  const { result: done, statements: usual } = await withFault(admin, null, act);
  if (!done.isSuccess) throw new Error(`${flow.name} fails without a fault: ${done.status} ${done.body}`);
  const shape = essential(await takeChanges(admin));
  const again = await act();
  if (isUnlike(flow, again)) throw new Error(`${flow.name} repeated: ${again.status} ${again.body}`);
  return { shape, usual };
}

/** Whether repeating a request that was carried out gets an unexpected response. */
function isUnlike({ again = 'refused' }: Flow, { isSuccess }: Answered): boolean {
  return again !== 'anything' && isSuccess !== (again === 'succeeds');
}

/** Whether nothing after the statement can undo it. */
function isFinal(statements: readonly string[], at: number): boolean {
  const until = statements.slice(0, at);
  const begun = until.findLastIndex((text) => /^(begin|start transaction)/i.test(text));
  return until.findLastIndex((text) => /^(commit|rollback$)/i.test(text)) >= begun;
}

/**
 * Sends the flow's request with a fault at its first statement, at its second, and so on, until it is carried out. Returns
 * the number of faults, and the broken guarantees:
 *
 * - A refusal is `temporarily unavailable` in the terms of the protocol, and reveals nothing about the database.
 * - Its changes are none or all. All only if the connection was lost after the last statement, or if the client can
 *   repeat the request.
 * - After a refusal without changes, the same request can still succeed, with the same changes as without faults.
 * - No transaction and no lock stays, and others are served.
 */
export async function sweep(
  instance: Instance,
  flow: Flow,
  fault: Fault,
): Promise<{ points: number; findings: Finding[] }> {
  const { admin } = instance;
  const { shape, usual } = await plainRun(instance, flow);
  const findings: Finding[] = [];
  let points = 0;
  let act = await flow.prepare();
  let isFirst = true;
  await takeChanges(admin);
  for (let at = 1; ; at += 1) {
    // Within a transaction, a connection that is lost after a statement is lost before the next one.
    if (fault === 'lost-after' && at < usual.length && !isFinal(usual, at)) continue;
    const run = await withFault(admin, { at, fault }, act);
    const { result, statements } = run;
    const statement = statements[at - 1] ?? '';
    const note = (problem: string, detail?: unknown) =>
      findings.push({ flow: flow.name, at, fault, statement: statement.slice(0, 200), problem, detail });
    const changes = await takeChanges(admin);
    const left = essential(changes);
    const isDone = isSame(left, shape);
    if (!run.isHit) {
      if (!result.isSuccess) note('refused without a fault', `${result.status} ${result.body.slice(0, 300)}`);
      else if (!isDone && flow.stays === undefined) note('other changes after refusals', difference(shape, left));
      if (isFirst) break;
      // A repeated request may have fewer statements than the first: the caches are warm.
      at -= 1;
      act = await flow.prepare();
      isFirst = true;
      await takeChanges(admin);
      continue;
    }
    isFirst = false;
    points += 1;
    if (at > 200) throw new Error(`${flow.name} has too many statements`);
    const isUndone = left.every((line) => flow.stays?.test(line));
    if (result.isSuccess) {
      // A statement whose response was lost may have run twice.
      const { missing, more } = difference(shape, left);
      if (missing.length > 0 || (more.length > 0 && fault !== 'lost-after'))
        note('success with other changes', { missing, more });
    } else {
      const improper = improperIn(result);
      if (improper !== null) note('improper response', improper);
      // The server cannot tell whether the statement ran either.
      const isUnknown = fault === 'lost-after' && isFinal(statements, at);
      const isRepeatable = (flow.again ?? 'refused') !== 'refused';
      if (!isUndone && !isUnknown && !(isDone && isRepeatable))
        note(isDone ? 'refused but done' : 'half-written', left);
    }
    await noteTraces(instance, note);
    if (isUndone && !result.isSuccess) continue;
    if (isDone) {
      const again = await act();
      if (isUnlike(flow, again) || again.status >= 500) note('repeated', `${again.status} ${again.body.slice(0, 300)}`);
    }
    act = await flow.prepare();
    isFirst = true;
    await takeChanges(admin);
  }
  if (!(await instance.serves())) throw new Error(`after ${flow.name}, others are not served`);
  return { points, findings };
}

/** Leftovers that a failed request must not have. */
async function noteTraces({ admin }: Instance, note: (problem: string, detail: unknown) => void): Promise<void> {
  const open = await admin.query(
    `select state, left(query, 100) as query from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`,
  );
  if (open.rows.length > 0) note('open transaction', open.rows);
  const locks = await admin.query(
    `select objid from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`,
  );
  if (locks.rows.length > 0) note('advisory lock', locks.rows);
}

function difference(expected: readonly string[], got: readonly string[]): { missing: string[]; more: string[] } {
  const left = [...got];
  const missing = expected.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return { missing, more: left };
}
