import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Tracing } from '../telemetry/trace-port.ts';

/** How often the database is asked whether it is there. */
const PROBE_EVERY_MS = 250;
/** A database that says nothing at all for this long is taken for gone. */
const SILENCE_MS = 1_400;
/** No time of this process adds more than this to a silence: a machine that stood still was not the database's. */
const SLICE_MS = 100;
/** How long one connection may take to come about; the watch cuts it earlier where the database is silent. */
const CONNECT_WITHIN_MS = 10_000;

/** What its errors are told as: the driver's own, so that every room's table knows it. */
class DatabaseAway extends Error {
  readonly code = 'ECONNREFUSED';
}

export interface WatchOptions {
  url: string;
  tracing?: Tracing | undefined;
  /** Told of each change: what is wrong, or null when it is well again. */
  onChange(fault: string | null): void;
}

/** What pg has and its types lack. */
interface Wired {
  connection: { stream: { on(event: 'data', listener: () => void): void; destroy(): void } };
}

/**
 * Knows whether the database answers, by a connection of its own: from refused connections, from silence (a frozen
 * machine, a network that swallows packets, where a driver would wait for a quarter of an hour) and from a server that
 * only reads (a standby, or a primary that was replaced). While it is away, connections of the pools that joined are
 * cut and new ones refused at once, so that nobody waits; when it is back, the next request connects.
 */
export class DatabaseWatch {
  private readonly options: WatchOptions;
  private readonly clients = new Set<pg.ClientBase>();
  private readonly pools: pg.Pool[] = [];
  private probe: pg.Client | undefined;
  private lastHeard = 0;
  private stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** What is wrong at the moment, for readiness; null: nothing. */
  fault: string | null = null;

  constructor(options: WatchOptions) {
    this.options = options;
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.probe) wireOf(this.probe).destroy();
    await this.running;
  }

  /** The pool's connections are cut when the database goes away. */
  join(pool: pg.Pool): void {
    this.pools.push(pool);
    pool.on('connect', (client) => {
      wireOf(client).on('data', () => {
        this.lastHeard = performance.now();
      });
    });
  }

  /** Connections of all pools that joined: how many there are, idle ones, and requests that wait for one. */
  use(): { total: number; idle: number; waiting: number } {
    const sum = { total: 0, idle: 0, waiting: 0 };
    for (const pool of this.pools) {
      sum.total += pool.totalCount;
      sum.idle += pool.idleCount;
      sum.waiting += pool.waitingCount;
    }
    return sum;
  }

  /** The driver's client for pools that join: it does not even try while the database is away. */
  client(): typeof pg.Client {
    const { clients } = this;
    const faultNow = () => this.fault;
    const { tracing } = this.options;
    return class WatchedClient extends pg.Client {
      constructor(config: pg.ClientConfig) {
        // The pool hides the password from those who enumerate.
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
          // From now on, so that one that is only coming about is cut as well.
          clients.add(this);
          this.once('end', () => clients.delete(this));
          return callback ? super.connect(callback) : (super.connect() as Promise<this>);
        }
        const error = new DatabaseAway(fault);
        if (!callback) return Promise.reject(error);
        process.nextTick(callback, error);
      }
    } as unknown as typeof pg.Client;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const fault = await this.ask();
      if (signal.aborted) break;
      if (fault !== this.fault) {
        this.fault = fault;
        this.options.onChange(fault);
      }
      // Also while it stays away: a connection may have been under way when it went.
      if (fault !== null) this.cut();
      await pause(PROBE_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.drop();
  }

  /** What is wrong; null where the database answers, and writes. */
  private async ask(): Promise<string | null> {
    const wasConnected = this.probe !== undefined;
    const fault = await this.askOnce();
    // That this one connection has ended says nothing of the database.
    const mayBeOurs = wasConnected && fault !== null && fault !== silent && fault !== standby;
    return mayBeOurs ? this.askOnce() : fault;
  }

  private async askOnce(): Promise<string | null> {
    try {
      this.probe ??= await this.connect();
      const { rows } = await bounded(
        this.probe.query<{ standby: boolean }>('select pg_is_in_recovery() as standby'),
        () => this.lastHeard,
      );
      if (rows[0]?.standby !== true) return null;
      // The next connection may lead to the new primary.
      this.drop();
      return standby;
    } catch (error) {
      this.drop();
      const { code, message } = error as { code?: unknown; message: string };
      // It answers, and is full or does not know us: those who are connected are served.
      if (typeof code === 'string' && answered.test(code)) return null;
      return message || String(code);
    }
  }

  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: 'latchkey-watch',
    });
    // The next question finds out.
    client.on('error', () => undefined);
    try {
      await bounded(client.connect(), () => 0);
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

function wireOf(client: pg.ClientBase) {
  return (client as unknown as Wired).connection.stream;
}

/**
 * Waits for an answer as long as the database says anything at all, e.g. to others behind the same pooler.
 * @throws Error `silent` after SILENCE_MS of this process's own time
 */
async function bounded<T>(answer: Promise<T>, lastHeard: () => number): Promise<T> {
  // A rejection after the silence was given up is nobody's.
  answer.catch(() => undefined);
  const isAnswered = answer.then(() => true);
  isAnswered.catch(() => undefined);
  let silentMs = 0;
  let since = performance.now();
  while (silentMs < SILENCE_MS) {
    if (await Promise.race([isAnswered, slice()])) return answer;
    const now = performance.now();
    silentMs = lastHeard() > since ? 0 : silentMs + Math.min(now - since, SLICE_MS);
    since = now;
  }
  throw new Error(silent);
}

/** Passes a slice of time, and then reads what has come while this process was busy. */
async function slice(): Promise<false> {
  await pause(SLICE_MS, undefined, { ref: false });
  return new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(false))));
}
