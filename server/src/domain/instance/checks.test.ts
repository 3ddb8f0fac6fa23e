import { describe, expect, it } from 'vitest';
import { systemChecks, worst } from './checks.ts';
import type { SystemFacts } from './facts.ts';

const now = new Date('2026-03-01T12:00:00Z');
const running = { version: '1.0.0', signMicroseconds: 1400, clockSkewMs: 3 };
const sound = {
  processes: [running, running],
  database: {
    ...{ version: '18.1', sizeBytes: 1e7, connections: 20, maxConnections: 100 },
    ...{ migrationsApplied: 9, migrationsPending: [], migrationsUnknown: [] },
  },
  mail: {
    kind: 'smtp',
    lastSentAt: '2026-03-01T11:00:00Z',
    lastFailedAt: null,
    lastFailure: null,
    codeWaitsSeconds: null,
  },
  sms: { kind: null, lastSentAt: null, lastFailedAt: null, lastFailure: null, codeWaitsSeconds: null },
  jobs: [{ name: 'domains.end', waiting: 3, deferred: 0, active: 1, failed: 0 }],
  lanes: [
    { lane: 'webhooks', pending: 3, seconds: 20 },
    { lane: 'webhooks-slow', pending: 9, seconds: 3600 },
  ],
  backup: { takenAt: new Date('2026-03-01T02:00:00Z'), bytes: 5 },
  clockSkewMs: 1,
  owners: 2,
  untrustedProxy: null,
} as unknown as SystemFacts;

const check = (change: Partial<SystemFacts>, name: string) => {
  const found = systemChecks({ ...sound, ...change }, now).find((one) => one.name === name);
  return [found?.level, found?.advice !== null];
};

describe('health checks', () => {
  it('warn of lanes whose deliveries are late, not of those of receivers that fail', () => {
    expect(check({}, 'Deliveries')).toEqual(['ok', false]);
    const lanes = [{ lane: 'webhooks', pending: 3, seconds: 3600 }];
    expect(check({ lanes }, 'Deliveries')).toEqual(['warn', true]);
    const found = systemChecks({ ...sound, lanes }, now).find(({ name }) => name === 'Deliveries');
    expect(found?.summary).toBe('webhooks: due for 3600 s, 3 pending');
  });

  it('pass without advice on a healthy instance', () => {
    const checks = systemChecks(sound, now);
    expect(checks.map(({ level, advice }) => [level, advice])).toEqual(checks.map(() => ['ok', null]));
    expect(worst(checks)).toBe('ok');
  });

  it.each<[string, Partial<SystemFacts>, string]>([
    ['Processes', { processes: [running, { ...running, version: '0.9.0' }] as never }, 'warn'],
    ['Database', { database: { ...sound.database, connections: 95 } }, 'warn'],
    ['Database', { database: { ...sound.database, version: '13.9' } }, 'fail'],
    ['Migrations', { database: { ...sound.database, migrationsPending: ['x'] } }, 'fail'],
    ['Migrations', { database: { ...sound.database, migrationsUnknown: ['x'] } }, 'warn'],
    ['Mail', { mail: { ...sound.mail, kind: null } }, 'fail'],
    ['Mail', { mail: { ...sound.mail, kind: 'mailbox' } }, 'warn'],
    ['Mail', { mail: { ...sound.mail, lastFailedAt: '2026-03-01T11:30:00Z', lastFailure: 'timed out' } }, 'fail'],
    ['Mail', { mail: { ...sound.mail, codeWaitsSeconds: 90 } }, 'fail'],
    ['SMS', { sms: { ...sound.mail, lastFailedAt: '2026-03-01T11:30:00Z' } }, 'warn'],
    ['SMS', { sms: { ...sound.mail, kind: 'mailbox' } }, 'warn'],
    ['Jobs', { jobs: [{ ...sound.jobs[0], failed: 1 }] as never }, 'warn'],
    ['Jobs', { jobs: [{ ...sound.jobs[0], waiting: 5000 }] as never }, 'warn'],
    ['Backup', { backup: null }, 'warn'],
    ['Backup', { backup: { takenAt: new Date('2026-02-20T02:00:00Z') } as never }, 'warn'],
    ['Signing speed', { processes: [{ ...running, signMicroseconds: 9000 }] as never }, 'warn'],
    ['Clock', { clockSkewMs: -2500 }, 'warn'],
    ['Clock', { processes: [{ ...running, clockSkewMs: 60_000 }] as never }, 'fail'],
    ['Owners', { owners: 1 }, 'warn'],
    ['Proxy', { untrustedProxy: '10.0.0.2' }, 'warn'],
  ])('report %s with advice: %j', (name, change, level) => {
    expect(check(change, name)).toEqual([level, true]);
  });

  it('count a mail that was sent after a retry as sent', () => {
    const mail = { ...sound.mail, lastFailedAt: '2026-03-01T10:00:00Z' };
    expect(check({ mail }, 'Mail')).toEqual(['ok', false]);
  });
});
