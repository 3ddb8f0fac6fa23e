import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueGauge } from '../../domain/kernel/queue.ts';
import type { Observer } from '../../http/observer.ts';
import { routeLabel } from '../../http/routes/route.ts';
import type { DatabaseWatch } from '../postgres/watch.ts';

/** Other methods share the label `other`, to bound its values. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const statsTimeoutMs = 1_000;

/** Prometheus metrics of this process. Labels are low-cardinality and never hold input. */
export class Metrics {
  readonly registry = new Registry();
  private readonly requests: Histogram<'route' | 'method' | 'status'>;
  private readonly inFlight: Gauge;
  private readonly signIns: Counter<'step' | 'result'>;
  private readonly messages: Counter<'channel' | 'result'>;
  private readonly sendFailures: Counter<'channel' | 'reason'>;
  private readonly refusedConnections: Counter<'reason'>;
  private readonly webhooks: Counter<'result'>;
  private readonly batches: Counter<'kind' | 'result'>;
  private readonly jobs: Counter<'job' | 'result'>;
  private readonly events: Counter<'type' | 'result'>;
  private clockSkew = (): number => 0;

  constructor() {
    const registers = [this.registry];
    // Event loop lag, memory, collections, file handles.
    collectDefaultMetrics({ register: this.registry });
    this.requests = new Histogram({
      name: 'latchkey_http_request_seconds',
      help: 'Duration of HTTP requests, by route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.inFlight = new Gauge({
      name: 'latchkey_http_requests_under_way',
      help: 'HTTP requests in progress.',
      registers,
    });
    this.signIns = new Counter({
      name: 'latchkey_signin_steps_total',
      help: 'Sign-in steps, by status or error code.',
      labelNames: ['step', 'result'],
      registers,
    });
    this.messages = new Counter({
      name: 'latchkey_messages_total',
      help: 'Attempts to send mails and text messages, by result, and messages that expired unsent.',
      labelNames: ['channel', 'result'],
      registers,
    });
    this.sendFailures = new Counter({
      name: 'latchkey_message_failures_total',
      help: 'Failed attempts to send mails and text messages, by reason: silent, refused, certificate-untrusted and so on.',
      labelNames: ['channel', 'reason'],
      registers,
    });
    this.refusedConnections = new Counter({
      name: 'latchkey_database_connections_refused_total',
      help: 'Connections that the database refused, by SQLSTATE: 53300 (too many), 28P01 (password) and so on.',
      labelNames: ['reason'],
      registers,
    });
    this.webhooks = new Counter({
      name: 'latchkey_webhook_attempts_total',
      help: 'Attempts to deliver events to webhooks, by result.',
      labelNames: ['result'],
      registers,
    });
    this.batches = new Counter({
      name: 'latchkey_log_stream_batches_total',
      help: 'Batches of events sent to log streams, by kind and result.',
      labelNames: ['kind', 'result'],
      registers,
    });
    this.jobs = new Counter({
      name: 'latchkey_jobs_total',
      help: 'Jobs run by this process, by result.',
      labelNames: ['job', 'result'],
      registers,
    });
    this.events = new Counter({
      name: 'latchkey_events_total',
      help: 'Audit events, by type: user.signed_in, otp.sent, otp.rejected and so on.',
      labelNames: ['type', 'result'],
      registers,
    });
    const skew: Gauge = new Gauge({
      name: 'latchkey_clock_skew_seconds',
      help: "How far the database's clock is ahead of this machine's, measured every 20 seconds.",
      registers,
      collect: () => skew.set(this.clockSkew()),
    });
  }

  /** Measures each request until the response is complete. */
  observe(): Observer {
    return (req, res, next) => {
      const startedAt = performance.now();
      this.inFlight.inc();
      res.once('close', () => {
        this.inFlight.dec();
        const method = methods.has(req.method ?? '') ? (req.method as string) : 'other';
        // 499, as proxies log it: the client closed the connection.
        const status = res.writableFinished ? String(res.statusCode) : '499';
        this.requests.observe({ route: routeLabel(req), method, status }, (performance.now() - startedAt) / 1000);
      });
      next();
    };
  }

  signIn(step: string, result: string): void {
    this.signIns.inc({ step, result });
  }

  message(channel: string, result: 'sent' | 'failed' | 'expired', count = 1): void {
    this.messages.inc({ channel, result }, count);
  }

  messageFailure(channel: string, reason: string): void {
    this.sendFailures.inc({ channel, reason });
  }

  refusedConnection(reason: string): void {
    this.refusedConnections.inc({ reason });
  }

  webhook(result: 'delivered' | 'failed'): void {
    this.webhooks.inc({ result });
  }

  batch(kind: string, result: 'delivered' | 'failed'): void {
    this.batches.inc({ kind, result });
  }

  job(job: string, result: 'completed' | 'failed'): void {
    this.jobs.inc({ job, result });
  }

  event(type: string, result: string): void {
    this.events.inc({ type, result });
  }

  /** Database availability and connection usage. */
  watchDatabase(watch: Pick<DatabaseWatch, 'fault' | 'use'> & Partial<Pick<DatabaseWatch, 'writeFault'>>): void {
    const registers = [this.registry];
    const up: Gauge = new Gauge({
      name: 'latchkey_database_up',
      help: '1 if the database is reachable and writable, else 0.',
      registers,
      collect(): void {
        up.set((watch.fault ?? watch.writeFault ?? null) === null ? 1 : 0);
      },
    });
    const connections = new Gauge({
      name: 'latchkey_database_connections',
      help: 'Database connections of this process by state: in use, idle, and requests waiting for one.',
      labelNames: ['state'],
      registers,
      collect: () => {
        const { total, idle, waiting } = watch.use();
        connections.set({ state: 'active' }, total - idle);
        connections.set({ state: 'idle' }, idle);
        connections.set({ state: 'waiting' }, waiting);
      },
    });
  }

  /** The machine's clock against the database's. */
  watchClock(clock: { skewMs: number }): void {
    this.clockSkew = () => clock.skewMs / 1000;
  }

  /** Age of the newest recorded backup. No value while there is none, or while the database is unreachable. */
  watchBackups(ageSeconds: () => Promise<number | null>): void {
    const age: Gauge = new Gauge({
      name: 'latchkey_backup_age_seconds',
      help: 'Seconds since the snapshot of the newest recorded backup; absent if there is none.',
      registers: [this.registry],
      collect: async () => {
        const seconds = await orLate(ageSeconds(), null);
        if (seconds === null) age.remove();
        else age.set(seconds);
      },
    });
  }

  /** Lag of the log streams of all processes. */
  watchStreams(streams: { lagOfKinds(): Promise<{ kind: string; seconds: number }[]> }): void {
    const lag = new Gauge({
      name: 'latchkey_log_stream_lag_seconds',
      help: 'Age of the oldest event that waits for a log stream of this kind; 0: none waits.',
      labelNames: ['kind'],
      registers: [this.registry],
      collect: async () => {
        const kinds = await orLate(streams.lagOfKinds(), []);
        lag.reset();
        for (const { kind, seconds } of kinds) lag.set({ kind }, seconds);
      },
    });
  }

  /** Deliveries of all processes, by lane. */
  watchRelays(relays: readonly { lag(): Promise<{ lane: string; pending: number; seconds: number }[]> }[]): void {
    const registers = [this.registry];
    let reading: Promise<{ lane: string; pending: number; seconds: number }[]> | undefined;
    // Both gauges are collected at the same time.
    const lanes = () => {
      reading ??= Promise.all(relays.map((relay) => orLate(relay.lag(), [])))
        .then((all) => all.flat())
        .finally(() => {
          reading = undefined;
        });
      return reading;
    };
    const pending: Gauge<'lane'> = new Gauge({
      name: 'latchkey_relay_pending',
      help: 'Deliveries that have not ended: messages, logout tokens, events for webhooks and log streams; by lane.',
      labelNames: ['lane'],
      registers,
      collect: async () => {
        const read = await lanes();
        // No values while the database is unreachable, rather than stale ones.
        pending.reset();
        for (const one of read) pending.set({ lane: one.lane }, one.pending);
      },
    });
    const lag: Gauge<'lane'> = new Gauge({
      name: 'latchkey_relay_lag_seconds',
      help: 'Age of the oldest due delivery of a lane; 0: none is due.',
      labelNames: ['lane'],
      registers,
      collect: async () => {
        const read = await lanes();
        lag.reset();
        for (const one of read) lag.set({ lane: one.lane }, one.seconds);
      },
    });
  }

  /** Jobs of all processes, by state. */
  watchQueue(gauge: QueueGauge): void {
    const jobs = new Gauge({
      name: 'latchkey_queue_jobs',
      help: 'Jobs of all processes by state: waiting, scheduled, running, failed in the last day.',
      labelNames: ['job', 'state'],
      registers: [this.registry],
      collect: async () => {
        const stats = await orLate(gauge.stats(), []);
        // No values while the database is unreachable, rather than stale ones.
        jobs.reset();
        for (const { name, waiting, deferred, active, failed } of stats) {
          for (const [state, count] of Object.entries({ waiting, deferred, active, failed })) {
            jobs.set({ job: name, state }, count);
          }
        }
      },
    });
  }
}

/** The value, or `otherwise` if it fails or takes too long. */
async function orLate<T>(value: Promise<T>, otherwise: T): Promise<T> {
  const late = new Promise<T>((resolve) => setTimeout(resolve, statsTimeoutMs, otherwise).unref());
  return Promise.race([value, late]).catch(() => otherwise);
}
