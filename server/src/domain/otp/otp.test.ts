import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/database.ts';
import { systemRandom } from '../../adapters/system.ts';
import type { Clock } from '../kernel/clock.ts';
import { Database } from '../kernel/database.ts';
import { Vault } from '../keys/vault.ts';
import { Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { type CodeScope, Otp, type Try } from './otp.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let now: Date;
const clock: Clock = { now: () => now };
const vault = new Vault(systemRandom.bytes(32), systemRandom);
const otp = new Otp(clock, systemRandom, vault, new Limits(clock, (subject) => vault.macs('budget', '', subject)));
const projectId = systemRandom.id();
let scope: CodeScope;

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};
const issue = (over: Partial<CodeScope> = {}) => db.transaction((em) => otp.issue(em, { ...scope, ...over }));
const attempt = (code: string, over: Partial<Try> = {}) =>
  db.transaction((em) => otp.try(em, { ...scope, address: scope.account, code, ...over }));
const other = (code: string, plus: number) => String((Number(code) + plus) % 1_000_000).padStart(6, '0');

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
  now = new Date('2027-01-01T00:00:00Z');
  await db.transaction(async (em) => {
    em.persist(em.create(Project, { id: projectId, name: 'p', createdAt: now, updatedAt: now }));
  });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(() => {
  scope = {
    projectId,
    ceremonyId: systemRandom.id(),
    purpose: 'sign-in',
    account: `${systemRandom.id()}@example.com`,
    jkt: 'key',
  };
});

describe('a one-time code', () => {
  it('is six digits, accepted once', async () => {
    const code = await issue();
    expect(code).toMatch(/^\d{6}$/);
    expect(await attempt(code)).toMatchObject({ accepted: true });
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'used' });
  });

  it('tried a hundred times at once is accepted once', async () => {
    const code = await issue();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) => attempt(code, { address: `${scope.account}${n}` })),
    );
    expect(outcomes.filter((outcome) => outcome.accepted)).toHaveLength(1);
  });

  it('is good in its own ceremony, for its own purpose and with its own key only', async () => {
    const code = await issue();
    expect(await attempt(code, { ceremonyId: systemRandom.id() })).toEqual({ accepted: false, fault: 'none-sent' });
    expect(await attempt(code, { purpose: 'mfa-email' })).toEqual({ accepted: false, fault: 'none-sent' });
    expect(await attempt(code, { jkt: 'other' })).toEqual({ accepted: false, fault: 'other-key' });
    expect(await attempt(code, { jkt: null })).toEqual({ accepted: false, fault: 'other-key' });
    expect(await attempt(code)).toMatchObject({ accepted: true });
  });

  it('is good for less than five minutes', async () => {
    const code = await issue();
    later(299);
    const second = await issue({ account: 'b@example.com', ceremonyId: systemRandom.id() });
    later(1);
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'expired' });
    expect(second).toMatch(/^\d{6}$/);
  });

  it('is dead after five wrong tries, also for the right digits', async () => {
    const code = await issue();
    for (let n = 1; n <= 5; n++) expect(await attempt(other(code, n))).toEqual({ accepted: false, fault: 'wrong' });
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'spent' });
  });

  it('is replaced by the next of the same account, whichever ceremony asks', async () => {
    const code = await issue();
    const next = systemRandom.id();
    const second = await issue({ ceremonyId: next });
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'replaced' });
    expect(await attempt(second, { ceremonyId: next })).toMatchObject({ accepted: true });
  });

  it('allows no more than fifty tries a day over all codes of an account, whatever comes at once', async () => {
    const outcomes = [];
    for (let round = 0; round < 20; round++) {
      scope.ceremonyId = systemRandom.id();
      const code = await issue();
      const guesses = Array.from({ length: 5 }, (_, n) => attempt(other(code, n + 1)));
      outcomes.push(...(await Promise.all(guesses)));
      later(60);
    }
    expect(outcomes.filter((outcome) => 'fault' in outcome && outcome.fault === 'wrong')).toHaveLength(50);
    const refused = await attempt(await issue());
    expect(refused).toMatchObject({ accepted: false, retryAfterSeconds: expect.any(Number) });
    later(24 * 3600);
    expect(await attempt(await issue())).toMatchObject({ accepted: true });
  });

  it('shares the tries of its account between the addresses of it, without a word', async () => {
    for (let n = 0; n < 50; n++) {
      if (n % 5 === 0) await issue({ ceremonyId: (scope.ceremonyId = systemRandom.id()) });
      await attempt('wrong!', { address: `alias-${n % 2}-${scope.account}` });
    }
    const code = await issue();
    expect(await attempt(code, { address: `alias-1-${scope.account}` })).toEqual({
      accepted: false,
      fault: 'account-spent',
    });
  });

  it('stands nowhere in the database in the clear, nor does its account', async () => {
    const code = await issue();
    const dump = JSON.stringify(await db.reader().execute('select * from one_time_codes'));
    expect(dump).not.toContain(`"${code}"`);
    expect(dump).not.toContain(scope.account);
  });
});

describe('sends', () => {
  const send = (over: { address?: string; ip?: string } = {}) =>
    db.transaction((em) =>
      otp.spendSend(em, { projectId, purpose: 'sign-in', address: scope.account, ip: systemRandom.id(), ...over }),
    );
  let ip: string;
  beforeEach(() => {
    ip = `10.${systemRandom.integer(256)}.${systemRandom.integer(256)}.${systemRandom.integer(256)}`;
    later(24 * 3600);
  });

  it('to one address are one in 30 seconds, five in an hour, ten in a day', async () => {
    expect(await send({ ip })).toBeNull();
    expect(await send({ ip })).toBe(30);
    const outcomes: (number | null)[] = [];
    for (let hour = 0; hour < 4; hour++) {
      for (let n = 0; n < 6; n++) {
        later(31);
        outcomes.push(await send({ ip }));
      }
      later(3600);
    }
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(9);
    expect(outcomes.at(-1)).toBeGreaterThan(31);
  });

  it('from one network are thirty in an hour, an IPv6 network being a /64', async () => {
    const outcomes = [];
    for (let n = 0; n < 40; n++) outcomes.push(await send({ address: `a${n}@example.com`, ip: `2001:db8::${n}` }));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(30);
    expect(await send({ address: 'else@example.com', ip: '2001:db8:0:1::1' })).toBeNull();
  });

  it('refused for their network take nothing from the address', async () => {
    for (let n = 0; n < 31; n++) await send({ address: `b${n}@example.com`, ip });
    expect(await send({ ip })).toBeGreaterThan(0);
    expect(await send({ ip: '192.0.2.200' })).toBeNull();
  });
});
