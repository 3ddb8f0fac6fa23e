import { lateLanes } from '../relay/late.ts';
import type { SystemFacts } from './facts.ts';

export const checkLevels = ['ok', 'warn', 'fail'] as const;
export type CheckLevel = (typeof checkLevels)[number];

/** A health check, in words for operators. */
export interface SystemCheck {
  name: string;
  level: CheckLevel;
  /** Current state. */
  summary: string;
  /** The remedy; null if none is needed. */
  advice: string | null;
}

type Checked = [level: CheckLevel, summary: string, advice?: string];

const backupHours = 48;
/** Proofs, codes and assertions expire within seconds or minutes, so this much skew is tolerable. */
const skewWarnMs = 1000;
const skewFailMs = 10_000;
const slowSignMicroseconds = 5000;
const manyWaiting = 1000;
/** A code is sent within seconds. */
const longWaitSeconds = 45;

/** Evaluates the facts into checks with advice. */
export function systemChecks(facts: SystemFacts, now: Date): SystemCheck[] {
  const checked: Record<string, Checked> = {
    Processes: processes(facts),
    Database: database(facts),
    Migrations: migrations(facts),
    Mail: mail(facts),
    SMS: sms(facts),
    Jobs: jobs(facts),
    Deliveries: deliveries(facts),
    Backup: backup(facts, now),
    'Signing speed': signing(facts),
    Clock: clock(facts),
    Owners: owners(facts),
    Proxy: proxy(facts),
  };
  return Object.entries(checked).map(([name, [level, summary, advice]]) => ({
    name,
    level,
    summary,
    advice: advice ?? null,
  }));
}

/** The worst of them. */
export function worst(checks: readonly SystemCheck[]): CheckLevel {
  return checks.reduce<CheckLevel>(
    (level, check) => (checkLevels.indexOf(check.level) > checkLevels.indexOf(level) ? check.level : level),
    'ok',
  );
}

function processes({ processes }: SystemFacts): Checked {
  const versions = new Set(processes.map(({ version }) => version));
  const summary = processes.length === 1 ? '1 process' : `${processes.length} processes`;
  if (versions.size <= 1) return ['ok', summary];
  return [
    'warn',
    `${summary} of ${versions.size} versions`,
    'Finish the upgrade: all processes should run the same version.',
  ];
}

function database({ database: { version, connections, maxConnections } }: SystemFacts): Checked {
  const summary = `PostgreSQL ${version}, ${connections} of ${maxConnections} connections`;
  if (Number.parseInt(version, 10) < 14) return ['fail', summary, 'PostgreSQL 14 or newer is required.'];
  if (connections < maxConnections * 0.8) return ['ok', summary];
  return [
    'warn',
    summary,
    'Raise max_connections or lower DATABASE_POOL_SIZE: the next process may get no connection.',
  ];
}

function migrations({ database: { migrationsApplied, migrationsPending, migrationsUnknown } }: SystemFacts): Checked {
  if (migrationsPending.length > 0) {
    return ['fail', `${migrationsPending.length} pending`, 'Restart a process of this version to run them.'];
  }
  if (migrationsUnknown.length > 0) {
    return [
      'warn',
      'A newer version has migrated this database',
      'Finish the upgrade, or restore a backup to go back.',
    ];
  }
  return ['ok', `All ${migrationsApplied} have run`];
}

function mail({ mail: { kind, lastSentAt, lastFailedAt, lastFailure, codeWaitsSeconds } }: SystemFacts): Checked {
  if (kind === null) {
    return [
      'fail',
      'No mail server is set',
      'Set SMTP_URL and MAIL_FROM: users cannot sign in on new devices without mail.',
    ];
  }
  if (kind === 'mailbox') {
    return ['warn', 'Mail stays in the dev mailbox', 'Set SMTP_URL and MAIL_FROM before going live.'];
  }
  if (codeWaitsSeconds !== null && codeWaitsSeconds > longWaitSeconds) {
    const reason = lastFailure ?? '-';
    return ['fail', `A code has waited for ${codeWaitsSeconds} s: ${reason}`, 'Test the mail server under Messages.'];
  }
  if (lastFailedAt !== null && (lastSentAt === null || lastFailedAt > lastSentAt)) {
    return ['fail', `The last mail was not sent: ${lastFailure}`, 'Test the mail server under Messages.'];
  }
  return ['ok', lastSentAt === null ? 'Configured; nothing sent yet' : 'The last mail was sent'];
}

function sms({ sms: { kind, lastSentAt, lastFailedAt, lastFailure } }: SystemFacts): Checked {
  if (kind === null) return ['ok', 'Not configured; only SMS factors need it'];
  if (kind === 'mailbox') {
    return ['warn', 'SMS stay in the dev mailbox', 'Set SMS_URL or TWILIO_ACCOUNT_SID before going live.'];
  }
  if (lastFailedAt !== null && (lastSentAt === null || lastFailedAt > lastSentAt)) {
    return ['warn', `The last SMS was not sent: ${lastFailure}`, 'Check the log of the SMS gateway.'];
  }
  return ['ok', lastSentAt === null ? 'Configured; nothing sent yet' : 'The last SMS was sent'];
}

function jobs({ jobs }: SystemFacts): Checked {
  const waiting = jobs.reduce((sum, one) => sum + one.waiting, 0);
  const failing = jobs.filter(({ failed }) => failed > 0).map(({ name }) => name);
  if (waiting > manyWaiting) {
    return ['warn', `${waiting} are waiting`, 'Start another process, or check this one’s log.'];
  }
  if (failing.length === 0) return ['ok', waiting === 0 ? 'None waiting' : `${waiting} waiting`];
  return ['warn', `Failed in the last day: ${failing.join(', ')}`, 'See the log, under the name of the job.'];
}

function deliveries({ lanes }: SystemFacts): Checked {
  const late = lateLanes(lanes);
  if (late.length === 0) return ['ok', `${lanes.reduce((sum, { pending }) => sum + pending, 0)} pending, none late`];
  return ['warn', late.join('; '), 'Check the log, the clocks and the database; start another process if it is busy.'];
}

function backup({ backup }: SystemFacts, now: Date): Checked {
  if (backup === null) return ['warn', 'No backup recorded', 'Run the backup command daily, and test a restore.'];
  const hours = Math.floor((now.getTime() - backup.takenAt.getTime()) / 3_600_000);
  const summary =
    hours < 1 ? 'Less than an hour old' : hours < 48 ? `${hours} hours old` : `${Math.floor(hours / 24)} days old`;
  return hours <= backupHours ? ['ok', summary] : ['warn', summary, 'Run the backup command daily.'];
}

function signing({ processes }: SystemFacts): Checked {
  const measured = processes.flatMap(({ signMicroseconds }) => (signMicroseconds == null ? [] : [signMicroseconds]));
  if (measured.length === 0) return ['ok', 'Not measured'];
  const slowest = Math.max(...measured);
  const summary = `${(slowest / 1000).toFixed(1)} ms for an ID token`;
  if (slowest < slowSignMicroseconds) return ['ok', summary];
  return ['warn', summary, 'The machine is busy, or its OpenSSL is slow at P-521. See the notes on sizing.'];
}

function clock({ clockSkewMs, processes }: SystemFacts): Checked {
  const clocks = [
    { whose: 'This machine', skew: clockSkewMs },
    ...processes.map(({ host, pid, clockSkewMs: skew }) => ({ whose: `Process ${pid} on ${host}`, skew })),
  ];
  const off = clocks.filter(({ skew }) => Math.abs(skew) > skewWarnMs);
  const most = Math.max(...clocks.map(({ skew }) => Math.abs(skew)));
  if (off.length === 0) return ['ok', `Within ${Math.max(1, most)} ms of the database's`];
  const each = off.map(({ whose, skew }) => {
    const seconds = (Math.abs(skew) / 1000).toFixed(1);
    return skew > 0 ? `${whose} is ${seconds} s behind the database` : `${whose} is ${seconds} s ahead of the database`;
  });
  const advice = 'Synchronize all machines, also the database server, with the same NTP servers.';
  return [most > skewFailMs ? 'fail' : 'warn', each.join('; '), advice];
}

function owners({ owners }: SystemFacts): Checked {
  if (owners > 1) return ['ok', `${owners} owners`];
  if (owners === 0)
    return ['warn', 'This instance has no owner', 'Run `admin:link` and open the setup link that it prints.'];
  return ['warn', 'One owner only', 'Add a second owner: a single one can be locked out.'];
}

function proxy({ untrustedProxy: address }: SystemFacts): Checked {
  if (address === null) return ['ok', 'No proxy is missing in TRUST_PROXY'];
  return [
    'warn',
    `Requests from ${address} have X-Forwarded-For, and TRUST_PROXY is not set`,
    'If that is your proxy, set TRUST_PROXY: without it, all users share one address, and its rate limits.',
  ];
}
