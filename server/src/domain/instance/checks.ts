import type { SystemFacts } from './facts.ts';

export const checkLevels = ['ok', 'warn', 'fail'] as const;
export type CheckLevel = (typeof checkLevels)[number];

/** A health check, in words for operators. */
export interface SystemCheck {
  name: string;
  level: CheckLevel;
  /** Current state. */
  summary: string;
  /** What to do; absent where nothing is to be done. */
  advice: string | null;
}

type Judged = [level: CheckLevel, summary: string, advice?: string];

const backupHours = 48;
/** Proofs, codes and assertions are judged within minutes and seconds; this much may be lost of that. */
const skewWarnMs = 1000;
const skewFailMs = 10_000;
const slowSignMicroseconds = 5000;
const manyWaiting = 1000;

/** Evaluates the facts: which checks pass, which fail, and what to do about it. */
export function systemChecks(facts: SystemFacts, now: Date): SystemCheck[] {
  const judged: Record<string, Judged> = {
    Processes: processes(facts),
    Database: database(facts),
    Migrations: migrations(facts),
    Mail: mail(facts),
    SMS: sms(facts),
    Jobs: jobs(facts),
    Backup: backup(facts, now),
    'Signing speed': signing(facts),
    Clock: clock(facts),
    Owners: owners(facts),
  };
  return Object.entries(judged).map(([name, [level, summary, advice]]) => ({
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

function processes({ processes }: SystemFacts): Judged {
  const versions = new Set(processes.map(({ version }) => version));
  const summary = processes.length === 1 ? '1 process' : `${processes.length} processes`;
  if (versions.size <= 1) return ['ok', summary];
  return ['warn', `${summary} of ${versions.size} versions`, 'Finish the upgrade: all of them should run one version.'];
}

function database({ database: { version, connections, maxConnections } }: SystemFacts): Judged {
  const summary = `PostgreSQL ${version}, ${connections} of ${maxConnections} connections`;
  if (Number.parseInt(version, 10) < 14) return ['fail', summary, 'PostgreSQL 14 or newer is needed.'];
  if (connections < maxConnections * 0.8) return ['ok', summary];
  return ['warn', summary, 'Raise max_connections, or lower DATABASE_POOL_SIZE: the next process may find no room.'];
}

function migrations({ database: { migrationsApplied, migrationsPending, migrationsUnknown } }: SystemFacts): Judged {
  if (migrationsPending.length > 0) {
    return [
      'fail',
      `${migrationsPending.length} have not run`,
      'Restart a process of this version: it runs them first.',
    ];
  }
  if (migrationsUnknown.length > 0) {
    return ['warn', 'A newer version has run here', 'Finish the upgrade, or go back by restoring a backup.'];
  }
  return ['ok', `All ${migrationsApplied} have run`];
}

function mail({ mail: { kind, lastSentAt, lastFailedAt, lastFailure } }: SystemFacts): Judged {
  if (kind === null) {
    return [
      'fail',
      'No mail server is set',
      'Set SMTP_URL and MAIL_FROM: without mail, nobody can sign in on a new device.',
    ];
  }
  if (kind === 'mailbox') {
    return ['warn', 'Mail stays in the dev mailbox', 'Set SMTP_URL and MAIL_FROM before real people come.'];
  }
  if (lastFailedAt !== null && (lastSentAt === null || lastFailedAt > lastSentAt)) {
    return ['fail', `The last mail was not sent: ${lastFailure}`, 'Test the mail server under Messages.'];
  }
  return ['ok', lastSentAt === null ? 'Set up; nothing was sent yet' : 'The last mail was sent'];
}

function sms({ sms: { kind, lastSentAt, lastFailedAt, lastFailure } }: SystemFacts): Judged {
  if (kind === null) return ['ok', 'Not set up; only second factors by SMS need it'];
  if (kind === 'mailbox') return ['ok', 'SMS stay in the dev mailbox'];
  if (lastFailedAt !== null && (lastSentAt === null || lastFailedAt > lastSentAt)) {
    return ['warn', `The last SMS was not sent: ${lastFailure}`, 'Look into the log of the SMS gateway.'];
  }
  return ['ok', lastSentAt === null ? 'Set up; nothing was sent yet' : 'The last SMS was sent'];
}

function jobs({ jobs }: SystemFacts): Judged {
  const waiting = jobs.reduce((sum, one) => sum + one.waiting, 0);
  const failing = jobs.filter(({ failed }) => failed > 0).map(({ name }) => name);
  if (waiting > manyWaiting) {
    return ['warn', `${waiting} are waiting`, 'Start another process, or see what holds this one up in its log.'];
  }
  if (failing.length === 0) return ['ok', waiting === 0 ? 'None is waiting' : `${waiting} waiting`];
  return ['warn', `Given up within a day: ${failing.join(', ')}`, 'The log tells why, under the name of the job.'];
}

function backup({ backup }: SystemFacts, now: Date): Judged {
  if (backup === null)
    return ['warn', 'None was ever recorded', 'Run the backup command daily, and try a restore once.'];
  const hours = Math.floor((now.getTime() - backup.takenAt.getTime()) / 3_600_000);
  const summary =
    hours < 1 ? 'Less than an hour old' : hours < 48 ? `${hours} hours old` : `${Math.floor(hours / 24)} days old`;
  return hours <= backupHours ? ['ok', summary] : ['warn', summary, 'Run the backup command daily.'];
}

function signing({ processes }: SystemFacts): Judged {
  const measured = processes.flatMap(({ signMicroseconds }) => (signMicroseconds == null ? [] : [signMicroseconds]));
  if (measured.length === 0) return ['ok', 'Not measured'];
  const slowest = Math.max(...measured);
  const summary = `${(slowest / 1000).toFixed(1)} ms for an ID token`;
  if (slowest < slowSignMicroseconds) return ['ok', summary];
  return ['warn', summary, 'The machine is busy, or its OpenSSL is slow at P-521: see the notes on sizing.'];
}

function clock({ clockSkewMs, processes }: SystemFacts): Judged {
  const skews = [clockSkewMs, ...processes.map((one) => one.clockSkewMs)].map(Math.abs);
  const most = Math.max(...skews);
  if (most <= skewWarnMs) return ['ok', `Within ${Math.max(1, most)} ms of the database's`];
  const summary = `${(most / 1000).toFixed(1)} s from the database's`;
  return [most > skewFailMs ? 'fail' : 'warn', summary, 'Let every machine take its time from the same NTP servers.'];
}

function owners({ owners }: SystemFacts): Judged {
  if (owners > 1) return ['ok', `${owners} owners`];
  if (owners === 0)
    return ['warn', 'Nobody owns this instance', '`admin:link` prints a link that makes its bearer one.'];
  return ['warn', 'One owner only', 'Give a second person the role of owner: who is alone can be locked out.'];
}
