import { resolve } from 'node:path';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { diskSpace, reasonOf } from '../../adapters/system/probes.ts';
import { releaseVersion, runtimeOf } from '../../adapters/system/runtime.ts';
import { measureSigning } from '../../adapters/system/signing-speed.ts';
import { compose } from '../../compose.ts';
import { type Config, ConfigError, misspelled } from '../../config.ts';
import { type SystemCheck, worst } from '../../domain/instance/checks.ts';
import { noQueue } from '../../domain/kernel/queue.ts';
import { faultLines } from '../../faults.ts';
import { hasDatabase, type OpenedDatabase, openConfigured } from '../../instance.ts';
import type { Command, CommandContext } from '../command.ts';
import {
  baseAddress,
  clientAddresses,
  databaseAnswers,
  databaseReach,
  keys,
  mailReach,
  masterKey,
  settingsKept,
  smsReach,
  statementsKept,
  testMode,
  unreachable,
} from './doctor-checks.ts';
import { notExamined, sinceChecks, sinceOf } from './doctor-since.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks settings, database, keys, mail and SMS, with advice for every problem. Read-only.',
  options: {
    since: {
      type: 'string',
      value: 'date',
      description: 'also count devices, admin tokens and roles created since then, and check for misused codes',
    },
    json: { type: 'boolean', description: 'one JSON object: {"worst": …, "checks": [{name, level, summary, advice}]}' },
  },
  notes: ['Exits with 0 if no check fails (warnings are allowed), and with 1 otherwise.'],
  async run(input, context) {
    const text = input.text('since');
    const since = text === undefined ? null : sinceOf(text, context.clock.now());
    const checks: SystemCheck[] = [];
    const report = (check: SystemCheck): void => {
      checks.push(check);
      if (!input.flag('json')) for (const line of linesOf(check)) context.print(line);
    };
    await examine(context, since, report);
    const verdict = worst(checks);
    if (input.flag('json')) context.print(JSON.stringify({ worst: verdict, checks }, null, 2));
    return verdict === 'fail' ? 1 : 0;
  },
};

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

function linesOf({ name, level, summary, advice }: SystemCheck): string[] {
  const line = `${marks[level]}  ${name.padEnd(14)} ${summary}`;
  return advice === null ? [line] : [line, `${' '.repeat(21)}→ ${advice}`];
}

/** Runs the checks, most fundamental first. Reports why a check cannot run and skips those that depend on it. */
async function examine(
  context: CommandContext,
  since: Date | null,
  report: (check: SystemCheck) => void,
): Promise<void> {
  // A signal does not end the process before the embedded database has been stopped.
  context.interrupted();
  const release = `Latchkey ${releaseVersion()} on Node ${process.versions.node}`;
  report({ name: 'Release', level: 'ok', summary: release, advice: null });
  const config = readSettings(context, report);
  if (!config) return;
  report(disk(config));
  const mailServer = mailReach(config);
  const hosts = Promise.all([smsReach(config), baseAddress(config)]);
  const away = databaseAnswers(config);
  for (const check of await hosts) if (check) report(check);
  const server = await mailServer;
  if (server?.level === 'fail') report(server);
  const unreached = await away;
  // Measured after the network checks, which would distort it and be slowed down by it.
  report(await signing());
  if (unreached) return report(unreached);
  if (!hasDatabase(config)) {
    const advice =
      'Expected before the first start, which creates one. Otherwise run this with the settings of the server: DATABASE_URL or DATA_DIR.';
    return report({ name: 'Database', level: 'warn', summary: `No database in ${resolve(config.DATA_DIR)}`, advice });
  }
  let database: OpenedDatabase | undefined;
  try {
    database = await openConfigured(config, false, context.log);
    await examineDatabase(config, database, context, since, (check) => {
      if (check.name === 'Mail' && server?.level === 'ok') report(mailServerOf(server, check));
      report(check);
    });
  } catch (error) {
    const [reason] = faultLines(error);
    report({ name: 'Database', level: 'fail', summary: reason ?? 'failed', advice: null });
  } finally {
    await database?.embedded?.stop();
  }
}

/** A server that answers a new connection is not well if messages do not leave. */
function mailServerOf(server: SystemCheck, mail: SystemCheck): SystemCheck {
  if (mail.level !== 'fail') return server;
  const advice = 'It answers a new connection, but messages are not sent: see the next check.';
  return { ...server, level: 'warn', advice };
}

async function examineDatabase(
  config: Config,
  database: OpenedDatabase,
  { clock }: CommandContext,
  since: Date | null,
  report: (check: SystemCheck) => void,
): Promise<void> {
  const statements = await statementsKept(config);
  const settings = await settingsKept(config);
  const orm = await openDatabase({
    url: database.url,
    poolSize: 2,
    // Without prepared statements, the other checks still work behind such a pooler.
    preparesStatements: config.DATABASE_PREPARED_STATEMENTS && statements?.level !== 'fail',
  });
  try {
    const em = orm.em.fork();
    const reached = await databaseReach(em, database.embedded !== undefined);
    report(reached);
    for (const check of [statements, settings]) if (check) report(check);
    if (reached.level === 'fail') return;
    const queue = noQueue;
    const services = compose(config, database, orm, { queue, clock, runtime: await runtimeOf() });
    const status = await services.systemStatus.report(em).catch((error: unknown) => reasonOf(error));
    if (typeof status === 'string') {
      const advice = 'Start a server of this version to migrate it.';
      return report({ name: 'Migrations', level: 'fail', summary: `The schema is from another version`, advice });
    }
    // This process runs no jobs and serves no requests, and `signing` measures the signing speed.
    const elsewhere = ['Jobs', 'Signing speed', 'Proxy'];
    for (const check of status.checks) if (!elsewhere.includes(check.name)) report(check);
    if (status.checks.some(({ name, level }) => name === 'Migrations' && level === 'fail')) return;
    report(await masterKey(services, config));
    for (const check of await keys(services, clock.now())) report(check);
    report(await testMode(services, config));
    report(await clientAddresses(services, clock.now()));
    for (const check of since === null ? [notExamined] : await sinceChecks(em, since)) report(check);
  } catch (error) {
    report(unreachable(error, config));
  } finally {
    await orm.close(true);
  }
}

function readSettings({ config: load, env }: CommandContext, report: (check: SystemCheck) => void): Config | undefined {
  try {
    const config = load();
    const dangers = Object.entries(config).filter(([name, value]) => name.startsWith('DANGER_') && value === true);
    const hints = [
      ...misspelled(env).warned,
      ...dangers.map(([name]) => `${name} weakens this instance: for tests only`),
      ...(config.MASTER_KEY_SECOND === undefined
        ? []
        : ['finish the rotation: run `master-key:rotate`, then remove MASTER_KEY_SECOND']),
      ...(config.BASE_URL.startsWith('https:') && config.TRUST_PROXY === false
        ? ['list the TLS proxy in TRUST_PROXY, or rate limits count all clients as one address']
        : []),
      ...(config.BOOTSTRAP_ADMIN_TOKEN === undefined
        ? []
        : ['BOOTSTRAP_ADMIN_TOKEN grants owner access: remove it when it is no longer needed']),
    ];
    const advice = hints.length === 0 ? null : `${hints.join('; ')}.`;
    report({ name: 'Settings', level: advice === null ? 'ok' : 'warn', summary: config.BASE_URL, advice });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'server/config.md explains every setting.';
    for (const fault of error.faults) report({ name: 'Settings', level: 'fail', summary: fault, advice });
    return undefined;
  }
}

const gigabyte = 1024 ** 3;

function disk(config: Config): SystemCheck {
  const folder = resolve(config.DATA_DIR);
  const { free, total } = diskSpace(folder);
  const summary = `${(free / gigabyte).toFixed(1)} GB free of ${(total / gigabyte).toFixed(1)} GB at ${folder}`;
  if (free < gigabyte / 4) return { name: 'Disk', level: 'fail', summary, advice: 'Free disk space now.' };
  if (free < gigabyte) return { name: 'Disk', level: 'warn', summary, advice: 'Free disk space soon.' };
  return { name: 'Disk', level: 'ok', summary, advice: null };
}

const slowSignMicroseconds = 5_000;

async function signing(): Promise<SystemCheck> {
  const microseconds = await measureSigning();
  const perSecond = Math.round(1e6 / microseconds);
  const summary = `${(microseconds / 1000).toFixed(2)} ms per ID token on this machine: at most ${perSecond} per second and core`;
  if (microseconds < slowSignMicroseconds) return { name: 'Signing', level: 'ok', summary, advice: null };
  const advice = 'The machine is busy or slow. A Node.js with the system’s OpenSSL may help: server/docs/sizing.md.';
  return { name: 'Signing', level: 'warn', summary, advice };
}
