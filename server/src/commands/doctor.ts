import { resolve } from 'node:path';
import { openDatabase } from '../adapters/postgres/database.ts';
import { diskSpace, reasonOf } from '../adapters/system/probes.ts';
import { runtimeOf } from '../adapters/system/runtime.ts';
import { measureSigning } from '../adapters/system/signing-speed.ts';
import { type Config, ConfigError } from '../config.ts';
import { type SystemCheck, worst } from '../domain/instance/checks.ts';
import { compose, faultLines, hasDatabase, type OpenedDatabase, openConfigured } from '../instance.ts';
import type { Command, Surroundings } from './command.ts';
import {
  baseAddress,
  databaseAnswers,
  databaseReach,
  keys,
  mailReach,
  masterKey,
  smsReach,
  statementsKept,
  testMode,
  unreachable,
} from './doctor-checks.ts';
import { notExamined, sinceChecks, sinceOf } from './doctor-since.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Looks at everything that an instance stands on, and says what to do. Changes nothing.',
  options: {
    since: {
      type: 'string',
      value: 'date',
      description: 'also counts devices, admin tokens and roles since then, and looks for codes of other accounts',
    },
    json: { type: 'boolean', description: 'one JSON object: {"worst": …, "checks": [{name, level, summary, advice}]}' },
  },
  notes: ['Ends with 0 where nothing fails (there may be warnings), and with 1 where something does.'],
  async run(input, surroundings) {
    const text = input.text('since');
    const since = text === undefined ? null : sinceOf(text, surroundings.clock.now());
    const checks: SystemCheck[] = [];
    const tell = (check: SystemCheck): void => {
      checks.push(check);
      if (!input.flag('json')) for (const line of linesOf(check)) surroundings.say(line);
    };
    await examine(surroundings, since, tell);
    const verdict = worst(checks);
    if (input.flag('json')) surroundings.say(JSON.stringify({ worst: verdict, checks }, null, 2));
    return verdict === 'fail' ? 1 : 0;
  },
};

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

function linesOf({ name, level, summary, advice }: SystemCheck): string[] {
  const line = `${marks[level]}  ${name.padEnd(14)} ${summary}`;
  return advice === null ? [line] : [line, `${' '.repeat(21)}→ ${advice}`];
}

/** From what everything needs to what only some need; what cannot be looked at is left out, and its cause told. */
async function examine(
  surroundings: Surroundings,
  since: Date | null,
  tell: (check: SystemCheck) => void,
): Promise<void> {
  const config = readSettings(surroundings, tell);
  if (!config) return;
  tell(disk(config));
  const hosts = Promise.all([mailReach(config), smsReach(config), baseAddress(config)]);
  const away = databaseAnswers(config);
  for (const check of await hosts) if (check) tell(check);
  const unreached = await away;
  // Not before: what it measures would be slow while others are waited for, and they because of it.
  tell(await signing());
  if (unreached) return tell(unreached);
  if (!hasDatabase(config)) {
    const advice =
      'Right before the first start, which makes one. Else give this command the settings of the server: DATABASE_URL or DATA_DIR.';
    return tell({ name: 'Database', level: 'warn', summary: `There is none in ${resolve(config.DATA_DIR)}`, advice });
  }
  let database: OpenedDatabase | undefined;
  try {
    database = await openConfigured(config, false, surroundings.complain);
    await examineDatabase(config, database, surroundings, since, tell);
  } catch (error) {
    const [reason] = faultLines(error);
    tell({ name: 'Database', level: 'fail', summary: reason ?? 'failed', advice: null });
  } finally {
    await database?.embedded?.stop();
  }
}

async function examineDatabase(
  config: Config,
  database: OpenedDatabase,
  { clock }: Surroundings,
  since: Date | null,
  tell: (check: SystemCheck) => void,
): Promise<void> {
  const statements = await statementsKept(config);
  const orm = await openDatabase({
    url: database.url,
    poolSize: 2,
    // Where they are lost, the rest can be looked at all the same.
    preparesStatements: config.DATABASE_PREPARED_STATEMENTS && statements?.level !== 'fail',
  });
  try {
    const em = orm.em.fork();
    const reached = await databaseReach(em, database.embedded !== undefined);
    tell(reached);
    if (statements) tell(statements);
    if (reached.level === 'fail') return;
    const queue = { send: async () => undefined };
    const services = compose(config, database, orm, { queue, clock, runtime: await runtimeOf() });
    const report = await services.systemStatus.report(em).catch((error: unknown) => reasonOf(error));
    if (typeof report === 'string') {
      const advice = 'Start a process of this version: it makes what is missing.';
      return tell({ name: 'Migrations', level: 'fail', summary: `The schema is not of this version`, advice });
    }
    // Jobs are not read from here, and signing is measured on this machine.
    const elsewhere = ['Jobs', 'Signing speed'];
    for (const check of report.checks) if (!elsewhere.includes(check.name)) tell(check);
    if (report.checks.some(({ name, level }) => name === 'Migrations' && level === 'fail')) return;
    tell(await masterKey(services, config));
    for (const check of await keys(services, clock.now())) tell(check);
    tell(await testMode(services, config));
    for (const check of since === null ? [notExamined] : await sinceChecks(em, since)) tell(check);
  } catch (error) {
    tell(unreachable(error, config));
  } finally {
    await orm.close(true);
  }
}

function readSettings({ config: load }: Surroundings, tell: (check: SystemCheck) => void): Config | undefined {
  try {
    const config = load();
    const dangers = Object.entries(config).filter(([name, value]) => name.startsWith('DANGER_') && value === true);
    const hints = [
      ...dangers.map(([name]) => `${name} weakens this instance: for tests only`),
      ...(config.MASTER_KEY_SECOND === undefined
        ? []
        : ['finish the change: `master-key:rotate`, then drop MASTER_KEY_SECOND']),
      ...(config.BASE_URL.startsWith('https:') && config.TRUST_PROXY === false
        ? ['name the proxy that ends TLS in TRUST_PROXY, or limits count its address for everybody']
        : []),
      ...(config.BOOTSTRAP_ADMIN_TOKEN === undefined
        ? []
        : ['BOOTSTRAP_ADMIN_TOKEN is an owner: drop it once it is not needed']),
    ];
    const advice = hints.length === 0 ? null : `${hints.join('; ')}.`;
    tell({ name: 'Settings', level: advice === null ? 'ok' : 'warn', summary: config.BASE_URL, advice });
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'server/config.md explains every setting.';
    for (const fault of error.faults) tell({ name: 'Settings', level: 'fail', summary: fault, advice });
    return undefined;
  }
}

const gigabyte = 1024 ** 3;

function disk(config: Config): SystemCheck {
  const folder = resolve(config.DATA_DIR);
  const { free, total } = diskSpace(folder);
  const summary = `${(free / gigabyte).toFixed(1)} GB free of ${(total / gigabyte).toFixed(1)} GB at ${folder}`;
  if (free < gigabyte / 4) return { name: 'Disk', level: 'fail', summary, advice: 'Free some space now.' };
  if (free < gigabyte) return { name: 'Disk', level: 'warn', summary, advice: 'Free some space soon.' };
  return { name: 'Disk', level: 'ok', summary, advice: null };
}

const slowSignMicroseconds = 5_000;

async function signing(): Promise<SystemCheck> {
  const microseconds = await measureSigning();
  const perSecond = Math.round(1e6 / microseconds);
  const summary = `${(microseconds / 1000).toFixed(2)} ms for an ID token here: ${perSecond} a second and core at most`;
  if (microseconds < slowSignMicroseconds) return { name: 'Signing', level: 'ok', summary, advice: null };
  const advice = 'The machine is busy, or slow: server/docs/sizing.md says how a Node with the system’s OpenSSL helps.';
  return { name: 'Signing', level: 'warn', summary, advice };
}
