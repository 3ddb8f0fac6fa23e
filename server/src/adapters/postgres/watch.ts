import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Tracing } from '../telemetry/trace-port.ts';
import { writeFaultIn } from './write-check.ts';

/** Interval between probes. */
const PROBE_EVERY_MS = 250;
/** A database that sends nothing for this long counts as unreachable. */
const SILENCE_MS = 1_400;
/** Maximum time that one wait adds to the silence: a suspended machine does not count against the database. */
const SLICE_MS = 100;
/** Interval between write checks, while they pass and while they fail. */
const [WRITE_EVERY_MS, WRITE_AGAIN_MS] = [10_000, 1_000];
/** Timeout for a new connection; the watch gives up earlier if the database is silent. */
const CONNECT_WITHIN_MS = 10_000;

/** Refused connections count for this long, unless one succeeds. It is also the interval of reports. */
const REFUSAL_MS = 10_000;
/** Minimum number of refused connections: a single one may be one beyond the limit of the server. */
const LEAST_REFUSALS = 5;

/** Has the driver's own code, which every protocol maps to `unavailable`. */
class DatabaseUnreachable extends Error {
  readonly code = 'ECONNREFUSED';
}

export interface WatchOptions {
  url: string;
  tracing?: Tracing | undefined;
  /** Called on each change, with the fault, or null on recovery. */
  onChange(fault: string | null): void;
  /** The same for {@link DatabaseWatch.writeFault}. */
  onWriteChange?(fault: string | null): void;
  /**
   * Called for each connection that the server refuses, with the SQLSTATE and the reason; `isNew`: not reported in the
   * last ten seconds.
   */
  onRefusal?(code: string, reason: string, isNew: boolean): void;
}

/** Part of pg that its types omit. */
interface Wired {
  connection: { stream: { on(event: 'data', listener: () => void): void; destroy(): void } };
}

/**
 * Probes the database on a separate connection. Detects refused connections, silence (a frozen machine, dropped
 * packets: a driver would wait 15 minutes) and read-only servers (a standby, a replaced primary); from time to time,
 * whether it can write. While the database is unreachable, it closes the connections of all joined pools and refuses
 * new ones immediately; afterwards the next request connects.
 */
export class DatabaseWatch {
  private readonly options: WatchOptions;
  private readonly clients = new Set<pg.ClientBase>();
  private readonly pools: pg.Pool[] = [];
  private probe: pg.Client | undefined;
  private lastResponse = 0;
  private stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** The current fault, for readiness; null if there is none. */
  fault: string | null = null;
  /** The reason why the reachable database accepts no writes; null if it accepts them. */
  writeFault: string | null = null;
  private refused: { code: string; reason: string; at: number; reportedAt: number; requests: number } | undefined;
  private nextWriteCheck = 0;
  private isWriting = false;

  constructor(options: WatchOptions) {
    this.options = options;
  }

  /** Resolves after the first probe, which needs no extra connection if it precedes the requests. */
  async start(): Promise<void> {
    if (this.running) return;
    const first = this.look();
    this.running = first.then(() => this.run());
    await first;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.probe) wireOf(this.probe).destroy();
    await this.running;
  }

  /** Closes the pool's connections when the database becomes unreachable. */
  join(pool: pg.Pool): void {
    this.pools.push(pool);
    pool.on('connect', (client) => {
      wireOf(client).on('data', () => {
        this.lastResponse = performance.now();
      });
    });
  }

  /** Connections of all joined pools: total, idle, and requests waiting for one. */
  use(): { total: number; idle: number; waiting: number } {
    const sum = { total: 0, idle: 0, waiting: 0 };
    for (const pool of this.pools) {
      sum.total += pool.totalCount;
      sum.idle += pool.idleCount;
      sum.waiting += pool.waitingCount;
    }
    return sum;
  }

  /** Why the server refuses connections that requests need, while existing ones work; null if it does not. */
  get refusal(): string | null {
    const { refused } = this;
    const isCurrent = refused && refused.requests >= LEAST_REFUSALS && performance.now() - refused.at < REFUSAL_MS;
    return isCurrent ? refused.reason : null;
  }

  /** Remembers the server's refusal to open a connection, of a request or of the probe. */
  private recordRefusal(error: unknown, ofRequest: boolean): void {
    const { code, message } = error as { code?: unknown; message: string };
    if (!(error instanceof pg.DatabaseError) || typeof code !== 'string') return;
    const at = performance.now();
    const { refused: last } = this;
    const isSame = last?.code === code && at - last.at < REFUSAL_MS;
    const isNew = !isSame || at - last.reportedAt >= REFUSAL_MS;
    const reason = `${refusals[code] ?? 'the server refuses connections'}: ${message}`;
    const requests = (isSame ? last.requests : 0) + (ofRequest ? 1 : 0);
    this.refused = { code, reason, at, reportedAt: isNew ? at : (last?.reportedAt ?? at), requests };
    this.options.onRefusal?.(code, reason, isNew);
  }

  /** The driver's client class for joined pools: fails immediately while the database is unreachable. */
  client(): typeof pg.Client {
    const { clients } = this;
    const faultNow = () => this.fault;
    const settled = (error: unknown) => {
      if (error) this.recordRefusal(error, true);
      else this.refused = undefined;
    };
    const { tracing } = this.options;
    return class WatchedClient extends pg.Client {
      constructor(config: pg.ClientConfig) {
        // The pool makes `password` non-enumerable.
        super({ ...config, password: config.password, connectionTimeoutMillis: CONNECT_WITHIN_MS });
      }

      // oxlint-disable-next-line typescript/no-explicit-any -- pg's own signature is a dozen overloads
      override query(...args: any[]): any {
        const [{ text }] = args as [pg.QueryConfig];
        const query = () => (super.query as (...all: unknown[]) => unknown).apply(this, args);
        return tracing ? tracing.statement(text, query) : query();
      }

      override connect(): Promise<this>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<this> | void {
        const fault = faultNow();
        if (fault === null) {
          // Added before it connects, so that a pending connection is closed as well.
          clients.add(this);
          this.once('end', () => clients.delete(this));
          if (callback) {
            return super.connect((error: Error) => {
              settled(error);
              callback(error);
            });
          }
          const connected = super.connect() as Promise<this>;
          connected.then(() => settled(undefined), settled);
          return connected;
        }
        const error = new DatabaseUnreachable(fault);
        if (!callback) return Promise.reject(error);
        process.nextTick(callback, error);
      }
    } as unknown as typeof pg.Client;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await pause(PROBE_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
    this.drop();
  }

  private async look(): Promise<void> {
    const fault = await this.probeOrRetry();
    if (this.stopping.signal.aborted) return;
    if (fault !== this.fault) {
      this.fault = fault;
      this.options.onChange(fault);
    }
    // On every failed probe: a connection may have been pending at the last one.
    if (fault !== null) this.cut();
    else void this.checkWrites();
  }

  /** Checks, from time to time, on a connection of a pool, that the database can store new pages. Reads continue in the meantime. */
  private async checkWrites(): Promise<void> {
    const [pool] = this.pools;
    if (!pool || this.isWriting || performance.now() < this.nextWriteCheck) return;
    this.isWriting = true;
    const fault = await writeFaultIn(pool);
    this.isWriting = false;
    this.nextWriteCheck = performance.now() + (fault === null ? WRITE_EVERY_MS : WRITE_AGAIN_MS);
    if (fault === this.writeFault) return;
    this.writeFault = fault;
    this.options.onWriteChange?.(fault);
  }

  /** The fault, or null if the database answers and is not a standby. */
  private async probeOrRetry(): Promise<string | null> {
    const wasConnected = this.probe !== undefined;
    const fault = await this.probeOnce();
    // An idle probe connection can end by itself; retry on a new one.
    const mayBeOurs = wasConnected && fault !== null && fault !== silent && fault !== standby;
    return mayBeOurs ? this.probeOnce() : fault;
  }

  private async probeOnce(): Promise<string | null> {
    try {
      this.probe ??= await this.connect();
      const { rows } = await bounded(
        this.probe.query<{ standby: boolean }>('select pg_is_in_recovery() as standby'),
        () => this.lastResponse,
      );
      if (rows[0]?.standby !== true) return null;
      // The next connection may lead to the new primary.
      this.drop();
      return standby;
    } catch (error) {
      this.drop();
      const { code, message } = error as { code?: unknown; message: string };
      this.recordRefusal(error, false);
      // The server answers: existing connections still work.
      if (typeof code === 'string' && answered.test(code)) return null;
      return message || String(code);
    }
  }

  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: 'latchkey-watch',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
    });
    // The next probe fails.
    client.on('error', () => undefined);
    try {
      await bounded(client.connect(), () => this.lastResponse);
      return client;
    } catch (error) {
      wireOf(client).destroy();
      throw error;
    }
  }

  private drop(): void {
    if (!this.probe) return;
    wireOf(this.probe).destroy();
    this.probe = undefined;
  }

  private cut(): void {
    for (const client of this.clients) wireOf(client).destroy();
  }
}

const silent = 'the database does not answer';
const standby = 'the server only reads: it is a standby';
/** SQLSTATE: too many connections, authentication, no such database. */
const answered = /^(53300|28|3D)/;
/** Refusals in words, by SQLSTATE. */
const refusals: Partial<Record<string, string>> = {
  '53300':
    'the server has no connection left: raise max_connections or the limit of the user, or lower DATABASE_POOL_SIZE',
  '28P01': 'the server rejects the password in DATABASE_URL',
  '28000': 'the server rejects the user in DATABASE_URL',
  '3D000': 'the database in DATABASE_URL does not exist',
  '57P03': 'the server is starting, stopping or recovering',
};

function wireOf(client: pg.ClientBase) {
  return (client as unknown as Wired).connection.stream;
}

/**
 * Waits for a response while the database sends anything at all, also on other connections.
 * @throws Error `silent` after SILENCE_MS of this process's own time
 */
async function bounded<T>(answer: Promise<T>, lastResponse: () => number): Promise<T> {
  // A rejection after the timeout is not unhandled.
  answer.catch(() => undefined);
  const isAnswered = answer.then(() => true);
  isAnswered.catch(() => undefined);
  let silentMs = 0;
  let since = performance.now();
  while (silentMs < SILENCE_MS) {
    if (await Promise.race([isAnswered, slice()])) return answer;
    const now = performance.now();
    silentMs = lastResponse() > since ? 0 : silentMs + Math.min(now - since, SLICE_MS);
    since = now;
  }
  throw new Error(silent);
}

/** Waits a slice, then two turns of the event loop, so that data which arrived in the meantime is read. */
async function slice(): Promise<false> {
  await pause(SLICE_MS, undefined, { ref: false });
  return new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(false))));
}
