import type { EntityManager } from '@mikro-orm/postgresql';
import { diagnoseSmtp } from '../adapters/mail/smtp-diagnosis.ts';
import { keepsStatements } from '../adapters/postgres/statement-probe.ts';
import { fetchJson, medianMs, placeOf, reachAddress, reachPostgres, reasonOf } from '../adapters/system/probes.ts';
import type { Config } from '../config.ts';
import type { SystemCheck } from '../domain/instance/checks.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { currentKey, defaultSchedule, nextKey } from '../domain/keys/schedule.ts';
import { signingAlgorithms } from '../domain/keys/signing-key.entity.ts';
import { VaultError } from '../domain/keys/vault.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { testModeMaxUsers } from '../domain/projects/test-mode.ts';
import type { Services } from '../services.ts';

const day = 24 * 3600;
/** What a host has to say something. All are asked at once, so this is also about what hanging ones cost in all. */
const answerWithinMs = 2_500;

const ok = (name: string, summary: string): SystemCheck => ({ name, level: 'ok', summary, advice: null });
const warn = (name: string, summary: string, advice: string): SystemCheck => ({ name, level: 'warn', summary, advice });
const fail = (name: string, summary: string, advice: string): SystemCheck => ({ name, level: 'fail', summary, advice });

/** Connects and signs in to the mail server, without sending; null where none is set. */
export async function mailReach({ SMTP_URL: url, MAIL_FROM: from }: Config): Promise<SystemCheck | null> {
  if (url === undefined || from === undefined) return null;
  const name = 'Mail server';
  const each = answerWithinMs;
  const stages = await diagnoseSmtp(url.reveal(), from, null, { dns: each, connect: each, answer: each, send: each });
  const broken = stages.find(({ state }) => state === 'failed');
  if (!broken) return ok(name, `${new URL(url.reveal()).host} lets Latchkey in, to send from ${from}`);
  const summary = `${new URL(url.reveal()).host} cannot be used (${broken.name}): ${broken.detail}`;
  return fail(name, summary, broken.advice ?? 'Compare host, port and password in SMTP_URL.');
}

/** Connects to the gateway, without sending; null where none is set. */
export async function smsReach(config: Config): Promise<SystemCheck | null> {
  const address = config.SMS_URL?.reveal() ?? (config.TWILIO_ACCOUNT_SID ? 'https://api.twilio.com' : undefined);
  if (address === undefined) return null;
  const { host } = new URL(address);
  try {
    const milliseconds = await reachAddress(address, answerWithinMs);
    return ok('SMS gateway', `${host} answers in ${Math.round(milliseconds)} ms`);
  } catch (error) {
    return fail('SMS gateway', `${host} cannot be reached: ${reasonOf(error)}`, 'Second factors by SMS do not arrive.');
  }
}

/** Whether applications find this instance where its settings say. */
export async function baseAddress({ BASE_URL: issuer }: Config): Promise<SystemCheck> {
  const name = 'Address';
  try {
    const { status, body } = await fetchJson(`${issuer}/.well-known/openid-configuration`, answerWithinMs);
    const found = (body as { issuer?: unknown } | null)?.issuer;
    if (found === issuer) return ok(name, `${issuer} answers as it should`);
    const summary = `${issuer} answers ${status}${typeof found === 'string' ? ` as ${found}` : ', and is no Latchkey'}`;
    return fail(name, summary, 'BASE_URL and what the proxy serves there must be the same.');
  } catch (error) {
    const advice =
      'Right if no process runs, or if this machine cannot reach that address; else look at proxy and DNS.';
    return warn(name, `${issuer} does not answer: ${reasonOf(error)}`, advice);
  }
}

/** Whether a database of the operator's answers at all; null where it does, or where it is the embedded one. */
export async function databaseAnswers(config: Config): Promise<SystemCheck | null> {
  if (config.DATABASE_URL === undefined) return null;
  try {
    await reachPostgres(config.DATABASE_URL.reveal(), answerWithinMs);
    return null;
  } catch (error) {
    return unreachable(error, config);
  }
}

/** What to do about it, by what was said. */
const ways: [RegExp, string][] = [
  [/ECONNREFUSED/, 'Nobody listens there: is PostgreSQL running, and are host and port in DATABASE_URL right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'No name server of this machine knows that host: compare it in DATABASE_URL.'],
  [/no answer|ETIMEDOUT|EHOSTUNREACH/, 'Is the machine up, and does a firewall let this one reach it?'],
  [
    /authentication failed|no password|SCRAM/i,
    'Compare user and password in DATABASE_URL; @ : / % are percent-encoded.',
  ],
  [/pg_hba/, 'PostgreSQL does not let this user in from here: its pg_hba.conf needs a line for them.'],
  [/does not exist/, 'Compare the name in DATABASE_URL, or make it: server/docs/database.md.'],
  [/too many|reserved for/, 'Raise max_connections, or lower DATABASE_POOL_SIZE; who is connected: pg_stat_activity.'],
  [
    /SSL|certificate|self-signed/i,
    'Let PostgreSQL offer TLS with a certificate that is trusted here, or change sslmode.',
  ],
  [
    /unsupported startup parameter/,
    'Let the pooler ignore what Latchkey begins with: server/docs/database.md, Poolers.',
  ],
  [
    /starting up|shutting down|recovery/,
    'PostgreSQL is just starting or stopping: look again in a moment, and into its log.',
  ],
];

export function unreachable(error: unknown, { DATABASE_URL: url }: Config): SystemCheck {
  const reason = reasonOf(error);
  const where = url === undefined ? 'The embedded database' : placeOf(url.reveal());
  const way = ways.find(([said]) => said.test(reason))?.[1];
  const advice = way ?? 'Is it running, and does DATABASE_URL name it with a user and password that it takes?';
  return fail('Database', `${where} cannot be reached: ${reason}`, advice);
}

/** Whether a pooler stands before the database that loses prepared statements; null where none can, or none are made. */
export async function statementsKept(config: Config): Promise<SystemCheck | null> {
  const { DATABASE_URL: url, DATABASE_PREPARED_STATEMENTS: isPreparing } = config;
  if (url === undefined || !isPreparing) return null;
  const name = 'Statements';
  const kept = await keepsStatements(url.reveal(), answerWithinMs).catch((error: unknown) =>
    unreachable(error, config),
  );
  if (typeof kept !== 'boolean') return kept;
  if (kept) return ok(name, 'Prepared ones stay');
  return fail(
    name,
    'Prepared ones are lost between transactions: sign-ins fail with 500',
    'Before DATABASE_URL stands a pooler in transaction mode: set DATABASE_PREPARED_STATEMENTS=false, or see ' +
      'server/docs/database.md, Poolers.',
  );
}

const rounds = 9;

/** The way to the database, and what we may do in it. */
export async function databaseReach(em: EntityManager, isEmbedded: boolean): Promise<SystemCheck> {
  const name = 'Connection';
  const median = await medianMs(rounds, () => query(em, sql`select 1`));
  const [found] = await query(
    em,
    sql<{ create: boolean; ssl: boolean; remote: boolean; readonly: boolean }>`
      select has_schema_privilege(current_user, 'public', 'create') as create, pg_is_in_recovery() as readonly,
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as ssl,
       coalesce(not (inet_server_addr() << '127.0.0.0/8' or inet_server_addr() = '::1'), false) as remote`,
  );
  const summary = `${isEmbedded ? 'Embedded, ' : ''}${median.toFixed(1)} ms for a statement`;
  if (found?.readonly) return fail(name, summary, 'This is a standby: DATABASE_URL must name the primary.');
  if (!found?.create) {
    return fail(name, summary, 'The role may create nothing in schema public: make it the owner of the database.');
  }
  if (median > 10) return warn(name, summary, 'Far away: a sign-in takes some twenty statements. Move them together.');
  if (found.remote && !found.ssl) {
    return warn(
      name,
      `${summary}, without TLS`,
      'Add ?sslmode=verify-full to DATABASE_URL, unless the network is yours alone.',
    );
  }
  return ok(name, found.ssl ? `${summary}, with TLS` : summary);
}

/** Whether the master key is the one that this database was sealed under. */
export async function masterKey({ keys, masterKeyChange, vault }: Services, config: Config): Promise<SystemCheck> {
  const name = 'Master key';
  try {
    await keys.published();
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return fail(name, error.message, 'Nothing can be signed or opened without the right one.');
  }
  const left = await masterKeyChange.left();
  if (left === 0) return ok(name, `${vault.name} opens everything`);
  const advice = config.MASTER_KEY_SECOND === undefined ? 'Set MASTER_KEY_SECOND to the other one, and run' : 'Run';
  return warn(name, `${left} values are under another key`, `${advice} \`master-key:rotate\`.`);
}

/** Age and schedule of the signing keys. */
export async function keys({ keys: signing }: Services, now: Date): Promise<SystemCheck[]> {
  const all = await signing.list();
  return signingAlgorithms.map((alg) => {
    const name = `Key ${alg}`;
    const current = currentKey(all, alg, now);
    if (!current) return fail(name, 'None signs', 'Start a process: it makes one. Look into its log if it does not.');
    const days = Math.floor((now.getTime() - current.signsFrom.getTime()) / 1000 / day);
    const next = nextKey(all, alg, now);
    const summary = `Signs for ${days} days${next ? `; the next from ${next.signsFrom.toISOString().slice(0, 10)}` : ''}`;
    const isLate = !next && days * day > defaultSchedule.rotationSeconds + defaultSchedule.noticeSeconds;
    return isLate
      ? warn(name, summary, 'It should have changed: is a process running, and does it do its jobs?')
      : ok(name, summary);
  });
}

/** Projects whose one-time codes are in the answer, where others can reach them. */
export async function testMode({ db, projects }: Services, { BASE_URL: issuer }: Config): Promise<SystemCheck> {
  const name = 'Test mode';
  const em = db.reader();
  const overdue = await projects.testMode.overdue(em);
  if (overdue.length > 0) {
    const names = await em.find(Project, { id: { $in: overdue.map(({ id }) => id) } }, { limit: 5 });
    return fail(
      name,
      `On in ${names.map((project) => project.name).join(', ')}, with more than ${testModeMaxUsers} users over https`,
      'Codes are no longer in answers there. Start a process, which switches it off, or switch it off in the console.',
    );
  }
  const found = await query(em, sql<{ name: string }>`select name from projects where test_mode order by name limit 5`);
  if (found.length === 0) return ok(name, 'Off in every project');
  const summary = `On in ${found.map((project) => project.name).join(', ')}`;
  if (!issuer.startsWith('https:')) return ok(name, summary);
  return warn(
    name,
    summary,
    'Whoever knows an address can sign in there with the code that is in the answer: switch it off.',
  );
}
