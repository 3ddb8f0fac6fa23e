import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bind, prepareListening } from './adapters/http/listener.ts';
import { type Check, managementServer, type Phase } from './adapters/http/management.ts';
import { inheritedSocket } from './adapters/http/socket-activation.ts';
import { UntrustedProxy } from './adapters/http/untrusted-proxy.ts';
import { attended } from './adapters/postgres/attended.ts';
import { placeOf } from './adapters/postgres/connection.ts';
import { discoverEntities } from './adapters/postgres/database.ts';
import { JobQueue } from './adapters/postgres/job-queue.ts';
import { renewStatistics } from './adapters/postgres/statistics.ts';
import { DatabaseWatch } from './adapters/postgres/watch.ts';
import { SendHealth } from './adapters/senders.ts';
import { DatabaseClock } from './adapters/system/database-clock.ts';
import { packageFolder } from './adapters/system/package-folder.ts';
import { randomOn } from './adapters/system/random.ts';
import { releaseVersion, runtimeOf } from './adapters/system/runtime.ts';
import { type Log, openLog } from './adapters/telemetry/log.ts';
import { Metrics } from './adapters/telemetry/metrics.ts';
import type { Tracing } from './adapters/telemetry/trace-port.ts';
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { PublicStatus } from './domain/instance/public-status.ts';
import { system } from './domain/kernel/actor.ts';
import { openConfigured, reach } from './instance.ts';
import { jobs } from './jobs/jobs.ts';
import { processTasks, startTasks } from './jobs/process-tasks.ts';
import type { Services } from './services.ts';

/** Build output of the console package. */
const consoleFolder = join(packageFolder, '../console/dist');
const sdkFolder = join(packageFolder, '../shared/dist');
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => print(`· ${line}`);

/** Cleanup stack: closes opened resources in reverse order, on shutdown or when startup fails. */
class Opened {
  private readonly closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse()) await close();
  }
}

/** Runs the server until a signal stops it. @param warnings about the environment, to be logged */
export async function serve(config: Config, warnings: readonly string[]): Promise<void> {
  const log = openLog(config.LOG_LEVEL);
  for (const warning of warnings) log.warn({}, warning);
  const opened = new Opened();
  const lifecycle: Lifecycle = { phase: 'starting', endsAt: Number.POSITIVE_INFINITY };
  const graceMs = config.SHUTDOWN_GRACE_SECONDS * 1000;
  const stop = (): void => {
    if (lifecycle.phase === 'stopping') return;
    lifecycle.phase = 'stopping';
    lifecycle.endsAt = performance.now() + graceMs;
    log.info({}, 'stopping');
    setTimeout(() => {
      log.error({}, 'graceful shutdown timed out');
      process.exit(1);
    }, graceMs + 2_000).unref();
    opened.close().then(
      () => process.exit(0),
      (err: unknown) => {
        log.error({ err }, 'graceful shutdown failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  try {
    await start(config, log, opened, lifecycle);
    if (!isStopping(lifecycle)) lifecycle.phase = 'serving';
  } catch (error) {
    // Stopped during startup: the error may be a result of closing.
    if (isStopping(lifecycle)) return;
    lifecycle.endsAt = performance.now() + graceMs;
    await opened.close();
    throw error;
  }
}

/** Lifecycle phase, and the deadline once stopping. */
interface Lifecycle {
  phase: Phase;
  /** On the clock of `performance`. */
  endsAt: number;
}

function isStopping({ phase }: Lifecycle): boolean {
  return phase === 'stopping';
}

/** Minimum time for each shutdown step. */
const leastMs = 500;
/** Time reserved for the shutdown steps after requests have drained. */
const afterRequestsMs = 2_000;

/** Objects that the startup steps share. */
interface Start {
  config: Config;
  log: Log;
  opened: Opened;
  metrics: Metrics;
  /** Milliseconds that a shutdown step may take. @param kept reserved for the steps after it */
  leftMs(kept?: number): number;
}

async function start(config: Config, log: Log, opened: Opened, lifecycle: Lifecycle): Promise<void> {
  const startedAt = performance.now();
  const leftMs = (kept = 0) => Math.max(leastMs, lifecycle.endsAt - performance.now() - kept);
  const metrics = new Metrics();
  const shared: Start = { config, log, opened, metrics, leftMs };
  const checks: Record<string, Check> = { database: async () => 'starting' };
  let late: readonly string[] = [];
  let mailFault = (): string | null => null;
  let servesHost = async (_host: string): Promise<boolean> => Promise.reject(new Error('starting'));
  const version = releaseVersion();
  const management = managementServer({
    version,
    metrics,
    checks,
    phase: () => lifecycle.phase,
    warnings: () => [...late, ...[mailFault()].flatMap((fault) => (fault === null ? [] : [`mail: ${fault}`]))],
    servesHost: (host) => servesHost(host),
  });
  await bind(management, config.MANAGEMENT_HOST, config.MANAGEMENT_PORT, 'MANAGEMENT_PORT');
  opened.add(() => management.close().closeAllConnections());
  const inherited = inheritedSocket(process.env, process.pid);
  const listening = await prepareListening(config.HOST, config.PORT, 'PORT', inherited);
  opened.add(() => listening.drain(0));

  // After the management port, which responds in the meantime: routes and entities load while the database starts.
  const loading = async () => {
    const routes = await import('./app.ts');
    discoverEntities();
    return routes;
  };
  const [opening, { buildApp }] = await Promise.all([openServices(shared), loading()]);
  const { isEmbedded, url, services, queue, clock, watch, mailHealth, status, observers } = opening;
  servesHost = (host) => services.issuers.serves(host);
  const builtIn = await attended(url, 'Preparation', progress, async () => {
    await services.processes.synchronize();
    await services.keys.maintain();
    await services.keys.published();
    const created = await services.seed.create({ demo: isEmbedded });
    await startJobs(shared, services, queue);
    return created;
  });
  // Started last: creating a database on a slow disk can block longer than the watch allows.
  await watch.start();
  await listening.serve(
    buildApp({
      services,
      random: randomOn(clock),
      clock,
      log,
      issuer: config.BASE_URL,
      trustProxy: config.TRUST_PROXY,
      poolSize: config.DATABASE_POOL_SIZE,
      consoleFolder,
      sdkFolder,
      bootstrapToken: config.BOOTSTRAP_ADMIN_TOKEN?.reveal(),
      observers,
      status: config.STATUS_PAGE ? status : undefined,
      onSignInStep: (step, result) => metrics.signIn(step, result),
    }),
  );
  opened.add(() => listening.drain(leftMs(afterRequestsMs)));
  await startTasksOf(shared, services, (lanes) => {
    late = lanes.map((lane) => `deliveries late: ${lane}`);
  });
  opened.add(() => {
    listening.leave();
    return pause(config.SHUTDOWN_DELAY_SECONDS * 1000);
  });
  const { mail } = services.senders;
  checks['database'] = async () => watch.fault ?? watch.writeFault ?? watch.refusal;
  // Trusted devices sign in without mail: the process stays ready.
  mailFault = () => mailHealth.fault;
  checks['keys'] = () => services.keys.fault();
  checks['clock'] = async () => clock.fault;
  checks['mail'] = async () => (mail === null ? 'no mail server configured: set SMTP_URL and MAIL_FROM' : null);
  await greet(config, services, { demo: builtIn.demoClient !== null, mailbox: mail?.kind === 'mailbox' });
  log.info({ version, milliseconds: Math.round(performance.now() - startedAt) }, 'ready');
}

/** Opens the database and builds the domain on it. */
async function openServices({ config, log, opened, metrics, leftMs }: Start) {
  // Measures signatures while the database starts.
  const measuring = runtimeOf();
  const database = await openConfigured(config, true, progress);
  opened.add(() => database.embedded?.stop());
  progress(`Database: ${database.embedded ? `embedded, in ${resolve(config.DATA_DIR)}` : placeOf(database.url)}`);
  const runtime = await measuring;
  const tracing = await tracingOf(config, runtime.version);
  // An unreachable collector must not delay shutdown.
  opened.add(() => Promise.race([tracing?.stop(), pause(Math.min(1_000, leftMs()))]));
  const changed = (good: string, bad: string) => (fault: string | null) =>
    fault === null ? log.info({}, good) : log.error({ fault }, bad);
  const watch = new DatabaseWatch({
    url: database.url,
    tracing,
    onChange: changed('database reachable', 'database unreachable'),
    onWriteChange: changed('database writable', 'database not writable'),
    onRefusal: (code, reason, isNew) => {
      metrics.refusedConnection(code);
      if (isNew) log.error({ fault: reason, code }, 'database refuses connections');
    },
  });
  const orm = await reach(database.url, config, { watch, log, print: progress });
  opened.add(() => Promise.race([orm.close(true), pause(leftMs())]));
  opened.add(() => watch.stop());
  const queue = new JobQueue({
    url: database.url,
    onDone: (job, result) => metrics.job(job, result),
    onError: (err, job) => log.warn({ err, job }, job === undefined ? 'job queue error' : 'job failed, will retry'),
  });
  const mailHealth = new SendHealth();
  const untrustedProxy = new UntrustedProxy((address) =>
    log.warn({ address }, 'X-Forwarded-For from a private address, but TRUST_PROXY is not set'),
  );
  const clock = new DatabaseClock(changed('clock in sync', 'clock out of sync'));
  const services = compose(config, database, orm, {
    queue,
    clock,
    follow: (aheadMs, errorMs) => clock.follow(aheadMs, errorMs),
    gauge: queue,
    runtime,
    tracing,
    untrustedProxy: () => untrustedProxy.address,
    onEvent: (type, result) => metrics.event(type, result),
    onWebhook: (result) => metrics.webhook(result),
    onBatch: (kind, result) => metrics.batch(kind, result),
    onKeyRepair: (algorithms) => log.error({ algorithms }, 'no signing key, created one: the clock may have gone back'),
    onMessage: (channel, result, count, failure) => {
      metrics.message(channel, result, count);
      if (result === 'failed') metrics.messageFailure(channel, failure?.reason ?? 'other');
      if (channel === 'mail' && result !== 'expired') mailHealth.record(result, failure);
      if (channel === 'mail' && result !== 'expired') status.record('mail', result === 'sent');
    },
  });
  const status = new PublicStatus({
    clock,
    hasMail: services.senders.mail !== null,
    databaseFault: () => watch.fault ?? watch.writeFault,
  });
  metrics.watchDatabase(watch);
  metrics.watchQueue(queue);
  metrics.watchClock(clock);
  metrics.watchBackups(() => services.backups.ageSeconds());
  metrics.watchStreams(services.logStreams);
  metrics.watchRelays(services.relays);
  const isBare = config.TRUST_PROXY === false;
  const observers = [
    metrics.observe(),
    ...(tracing ? [tracing.observe] : []),
    ...(isBare ? [untrustedProxy.observe()] : []),
  ];
  const { url, embedded } = database;
  return { isEmbedded: embedded !== undefined, url, services, queue, clock, watch, mailHealth, status, observers };
}

/** Starts the queue. A shutdown first stops the queue, then waits for the deliveries in progress. */
async function startJobs({ opened, leftMs }: Start, services: Services, queue: JobQueue): Promise<void> {
  opened.add(() =>
    Promise.race([
      Promise.all([...services.relays.map((relay) => relay.drain()), services.requestRecords.settled()]),
      pause(leftMs()),
    ]),
  );
  opened.add(() => queue.stop(leftMs(leastMs) / 1000));
  await queue.start(jobs(services));
}

/** Starts the deliveries and the tasks of this process. */
async function startTasksOf(
  { log, opened }: Start,
  services: Services,
  onLate: (lanes: readonly string[]) => void,
): Promise<void> {
  const { processes, keys, relays, db } = services;
  await processes.beat().catch((err: unknown) => log.warn({ err }, 'heartbeat failed'));
  await keys.have().catch((err: unknown) => log.error({ err }, 'no signing key'));
  for (const relay of relays) relay.open((err) => log.warn({ err }, 'delivery failed, will retry'));
  const reported = (late: readonly string[]) => {
    if (late.length > 0) log.error({ late }, 'deliveries late');
    onLate(late);
  };
  const tasks = { processes, keys, relays, onLate: reported, renewStatistics: () => renewStatistics(db) };
  const stop = startTasks(processTasks(tasks), log);
  opened.add(() => {
    stop();
    return processes.leave().catch((err: unknown) => log.warn({ err }, 'process deregistration failed'));
  });
}

/** Imported on demand: the OpenTelemetry SDK is large. */
async function tracingOf(config: Config, version: string): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./adapters/telemetry/tracing.ts');
  return startTracing({ endpoint, ratio, version });
}

async function greet(config: Config, services: Services, has: { demo: boolean; mailbox: boolean }): Promise<void> {
  const rows: [string, string][] = [
    ['Address', config.BASE_URL],
    ['Console', `${config.BASE_URL}/admin`],
  ];
  if (has.demo) rows.push(['Demo', `${config.BASE_URL}/demo`]);
  const hasOwner = await services.admins.hasOwner();
  if (!hasOwner && config.SETUP_LINK_AT_START) {
    const link = await services.admins.mintSetupLink(system);
    rows.push(['Setup link', `${link.url}`], ['', 'makes you the owner; works once, expires in 15 minutes']);
  }
  print('');
  print('  Latchkey is ready.');
  print('');
  for (const [name, value] of rows) print(`  ${name.padEnd(12)} ${value}`);
  if (has.mailbox) {
    const where = hasOwner ? 'in the console' : 'open the setup link to read it';
    print(`\n  No mail server is configured: messages go to the dev mailbox (${where}).`);
  }
  print('');
}
