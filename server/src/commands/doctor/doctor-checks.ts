import type { EntityManager } from '@mikro-orm/postgresql';
import { diagnoseSmtp } from '../../adapters/mail/smtp-diagnosis.ts';
import { placeOf } from '../../adapters/postgres/connection.ts';
import { keepsSettings, keepsStatements, settingsLost, statementsLost } from '../../adapters/postgres/pooler-probe.ts';
import { fetchJson, medianMs, reachAddress, reachPostgres, reasonOf } from '../../adapters/system/probes.ts';
import type { Config } from '../../config.ts';
import { firstIdAt } from '../../domain/audit/moment.ts';
import type { SystemCheck } from '../../domain/instance/checks.ts';
import { secondsLater } from '../../domain/kernel/clock.ts';
import { isPublicAddress } from '../../domain/kernel/network.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import { currentKey, defaultSchedule, nextKey } from '../../domain/keys/schedule.ts';
import { signingAlgorithms, standingAlgorithms } from '../../domain/keys/signing-key.entity.ts';
import { VaultError } from '../../domain/keys/vault.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { testModeMaxUsers } from '../../domain/projects/test-mode.ts';
import type { Services } from '../../services.ts';

const day = 24 * 3600;
/** Timeout per host. Hosts are checked in parallel, so this also bounds the total time. */
const answerWithinMs = 2_500;

const ok = (name: string, summary: string): SystemCheck => ({ name, level: 'ok', summary, advice: null });
const warn = (name: string, summary: string, advice: string): SystemCheck => ({ name, level: 'warn', summary, advice });
const fail = (name: string, summary: string, advice: string): SystemCheck => ({ name, level: 'fail', summary, advice });

/** Connects and signs in to the mail server without sending; null if none is configured. */
export async function mailReach({ SMTP_URL: url, MAIL_FROM: from }: Config): Promise<SystemCheck | null> {
  if (url === undefined || from === undefined) return null;
  const name = 'Mail server';
  const each = answerWithinMs;
  const stages = await diagnoseSmtp(url.reveal(), from, null, { dns: each, connect: each, answer: each, send: each });
  const broken = stages.find(({ state }) => state === 'failed');
  if (!broken) return ok(name, `${new URL(url.reveal()).host} accepts mail from ${from}`);
  const summary = `${new URL(url.reveal()).host} failed (${broken.name}): ${broken.detail}`;
  return fail(name, summary, broken.advice ?? 'Check host, port and password in SMTP_URL.');
}

/** Connects to the SMS gateway without sending; null if none is configured. */
export async function smsReach(config: Config): Promise<SystemCheck | null> {
  const address = config.SMS_URL?.reveal() ?? (config.TWILIO_ACCOUNT_SID ? 'https://api.twilio.com' : undefined);
  if (address === undefined) return null;
  const { host } = new URL(address);
  try {
    const milliseconds = await reachAddress(address, answerWithinMs);
    return ok('SMS gateway', `${host} responds in ${Math.round(milliseconds)} ms`);
  } catch (error) {
    return fail('SMS gateway', `${host} cannot be reached: ${reasonOf(error)}`, 'SMS codes cannot be delivered.');
  }
}

/** Checks that BASE_URL serves this instance. */
export async function baseAddress({ BASE_URL: issuer }: Config): Promise<SystemCheck> {
  const name = 'Address';
  try {
    const { status, body } = await fetchJson(`${issuer}/.well-known/openid-configuration`, answerWithinMs);
    const found = (body as { issuer?: unknown } | null)?.issuer;
    if (found === issuer) return ok(name, `${issuer} serves this instance`);
    const summary = `${issuer} returned ${status}${typeof found === 'string' ? ` with issuer ${found}` : ' and is not Latchkey'}`;
    return fail(name, summary, 'Make the proxy route BASE_URL to this instance, or correct BASE_URL.');
  } catch (error) {
    const advice =
      'Expected if the server is stopped or this machine cannot reach that URL. Otherwise check the proxy and DNS.';
    return warn(name, `${issuer} does not respond: ${reasonOf(error)}`, advice);
  }
}

/** A failed check if DATABASE_URL is unreachable; null if it is reachable or unset. */
export async function databaseAnswers(config: Config): Promise<SystemCheck | null> {
  if (config.DATABASE_URL === undefined) return null;
  try {
    await reachPostgres(config.DATABASE_URL.reveal(), answerWithinMs);
    return null;
  } catch (error) {
    return unreachable(error, config);
  }
}

/** Advice by error message. */
const ways: [RegExp, string][] = [
  [/ECONNREFUSED/, 'Connection refused: check that PostgreSQL is running, and host and port in DATABASE_URL.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Host name not found: check the host in DATABASE_URL, and DNS.'],
  [
    /no response|no answer|ETIMEDOUT|EHOSTUNREACH/,
    'Check that the host is up and that no firewall blocks the connection.',
  ],
  [/authentication failed|no password|SCRAM/i, 'Check user and password in DATABASE_URL. Percent-encode @ : / %.'],
  [/pg_hba/, 'PostgreSQL rejects this user from this host: add a line to its pg_hba.conf.'],
  [/does not exist/, 'Check the name in DATABASE_URL, or create it: server/docs/database.md.'],
  [
    /too many|reserved for/,
    'Raise max_connections, or lower DATABASE_POOL_SIZE. See pg_stat_activity for connected clients.',
  ],
  [
    /SSL|certificate|self-signed/i,
    'Enable TLS in PostgreSQL with a certificate that this machine trusts, or change sslmode.',
  ],
  [
    /unsupported startup parameter/,
    'Configure the pooler to ignore this startup parameter: server/docs/database.md, Poolers.',
  ],
  [
    /starting up|shutting down|recovery/,
    'PostgreSQL is starting or stopping: try again in a moment, and check its log.',
  ],
];

export function unreachable(error: unknown, { DATABASE_URL: url }: Config): SystemCheck {
  const reason = reasonOf(error);
  const where = url === undefined ? 'The embedded database' : placeOf(url.reveal());
  const way = ways.find(([pattern]) => pattern.test(reason))?.[1];
  const advice = way ?? 'Check that it is running, and host, user and password in DATABASE_URL.';
  return fail('Database', `${where} cannot be reached: ${reason}`, advice);
}

/** Detects a pooler that loses prepared statements; null if the database is embedded or statements are not prepared. */
export function statementsKept(config: Config): Promise<SystemCheck | null> {
  const isNeeded = config.DATABASE_PREPARED_STATEMENTS;
  return kept(config, isNeeded, keepsStatements, ['Statements', 'Prepared statements work', statementsLost]);
}

/** Detects a pooler that loses the scope of row-level security; null if the database is embedded or that is off. */
export function settingsKept(config: Config): Promise<SystemCheck | null> {
  const isNeeded = config.DATABASE_ROW_SECURITY;
  return kept(config, isNeeded, keepsSettings, ['Row security', 'Connections keep their scope', settingsLost]);
}

async function kept(
  config: Config,
  isNeeded: boolean,
  probe: typeof keepsSettings,
  [name, works, fault]: [string, string, string],
): Promise<SystemCheck | null> {
  const { DATABASE_URL: url } = config;
  if (url === undefined || !isNeeded) return null;
  const isKept = await probe(url.reveal(), answerWithinMs).catch((error: unknown) => unreachable(error, config));
  if (typeof isKept !== 'boolean') return isKept;
  if (isKept) return ok(name, works);
  return fail(name, 'The server does not start', fault);
}

const rounds = 9;

/** Checks latency, TLS and privileges of the database connection. */
export async function databaseReach(em: EntityManager, isEmbedded: boolean): Promise<SystemCheck> {
  const name = 'Connection';
  const median = await medianMs(rounds, () => query(em, sql`select 1`));
  const [found] = await query(
    em,
    sql<{ create: boolean; ssl: boolean; remote: boolean; readonly: boolean }>`
      select has_schema_privilege(current_user, current_schema(), 'create') as create, pg_is_in_recovery() as readonly,
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as ssl,
       coalesce(not (inet_server_addr() << '127.0.0.0/8' or inet_server_addr() = '::1'), false) as remote`,
  );
  const summary = `${isEmbedded ? 'Embedded, ' : ''}${median.toFixed(1)} ms per statement`;
  if (found?.readonly) return fail(name, summary, 'This is a standby: DATABASE_URL must name the primary.');
  if (!found?.create) {
    return fail(name, summary, 'The role cannot create tables in its schema: make it the owner of the database.');
  }
  if (median > 10)
    return warn(
      name,
      summary,
      'High latency: a sign-in takes about twenty statements. Move server and database closer together.',
    );
  if (found.remote && !found.ssl) {
    return warn(
      name,
      `${summary}, without TLS`,
      'Add ?sslmode=verify-full to DATABASE_URL, unless the network is private.',
    );
  }
  return ok(name, found.ssl ? `${summary}, with TLS` : summary);
}

/** Checks that the master key decrypts the values in this database. */
export async function masterKey({ keys, masterKeyChange, vault }: Services, config: Config): Promise<SystemCheck> {
  const name = 'Master key';
  try {
    await keys.published();
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return fail(name, error.message, 'Set MASTER_KEY to the key of this database. Sign-in does not work without it.');
  }
  const left = await masterKeyChange.left();
  if (left === 0) return ok(name, `${vault.name} decrypts all values`);
  const advice = config.MASTER_KEY_SECOND === undefined ? 'Set MASTER_KEY_SECOND to the other key, and run' : 'Run';
  return warn(name, `${left} values are encrypted with another key`, `${advice} \`master-key:rotate\`.`);
}

/** Checks age and rotation of the signing keys. */
export async function keys({ keys: signing }: Services, now: Date): Promise<SystemCheck[]> {
  const all = await signing.list();
  const inUse = signingAlgorithms.filter(
    (alg) => standingAlgorithms.some((one) => one === alg) || all.some((key) => key.alg === alg),
  );
  return inUse.map((alg) => {
    const name = `Key ${alg}`;
    const current = currentKey(all, alg, now);
    if (!current) return fail(name, 'No active key', 'Start the server to create one. If it does not, check its log.');
    const days = Math.floor((now.getTime() - current.signsFrom.getTime()) / 1000 / day);
    const next = nextKey(all, alg, now);
    const summary = `Active for ${days} days${next ? `; next key from ${next.signsFrom.toISOString().slice(0, 10)}` : ''}`;
    const isLate = !next && days * day > defaultSchedule.rotationSeconds + defaultSchedule.noticeSeconds;
    return isLate
      ? warn(name, summary, 'Rotation is overdue: check that the server is running and that its jobs succeed.')
      : ok(name, summary);
  });
}

/** Checks for projects in test mode, whose API responses contain one-time codes, on a public instance. */
export async function testMode({ db, projects }: Services, { BASE_URL: issuer }: Config): Promise<SystemCheck> {
  const name = 'Test mode';
  const em = db.reader();
  const overdue = await projects.testMode.overdue(em);
  if (overdue.length > 0) {
    const names = await em.find(Project, { id: { $in: overdue.map(({ id }) => id) } }, { limit: 5 });
    return fail(
      name,
      `On in ${names.map((project) => project.name).join(', ')}, with more than ${testModeMaxUsers} users over https`,
      'Responses no longer contain codes. Start the server, which turns test mode off, or turn it off in the console.',
    );
  }
  const found = await query(em, sql<{ name: string }>`select name from projects where test_mode order by name limit 5`);
  if (found.length === 0) return ok(name, 'Off in every project');
  const summary = `On in ${found.map((project) => project.name).join(', ')}`;
  if (!issuer.startsWith('https:')) return ok(name, summary);
  return warn(
    name,
    summary,
    'Responses contain the sign-in code, so anyone who knows an address can sign in. Turn test mode off.',
  );
}

/** Number of sign-ins to examine, and number of users from which a shared address is suspicious. */
const [examinedSignIns, manyUsers] = [500, 10];

/**
 * Whether the users of the last day have addresses of their own. If all have the private address of a proxy, TRUST_PROXY does not
 * name it, and all share the rate limits of one network.
 */
export async function clientAddresses({ db }: Services, now: Date): Promise<SystemCheck> {
  const name = 'Client addresses';
  const [found] = await query(
    db.reader(),
    sql<{ users: number; addresses: number; address: string | null }>`
      select count(distinct subject_id)::int as users, count(distinct ip)::int as addresses, min(ip) as address
      from (select subject_id, ip from audit_log where type = 'user.signed_in' and id >= ${firstIdAt(secondsLater(now, -day))}
        and ip is not null order by id desc limit ${examinedSignIns}) recent`,
  );
  if (!found || found.users < manyUsers || found.address === null)
    return ok(name, 'Too few sign-ins in the last day to compare');
  if (found.addresses > 1 || isPublicAddress(found.address))
    return ok(name, `${found.users} users signed in from ${found.addresses} addresses in the last day`);
  return warn(
    name,
    `All ${found.users} users who signed in during the last day have the address ${found.address}`,
    'If it is your proxy, list it in TRUST_PROXY: without it, all users share the rate limits of one network, and get 429.',
  );
}
