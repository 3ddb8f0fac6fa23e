import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Audit } from '../audit/audit.ts';
import { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { Vault } from '../keys/vault.ts';
import { Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { SmsGuard, type SmsToSend } from './sms-guard.ts';

const day = 24 * 3600;
let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let project: Project;
const clock = adjustableClock();
const vault = new Vault(systemRandom.bytes(32), systemRandom);
const limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
const guard = new SmsGuard({ limits, audit: new Audit({ clock, random: systemRandom }) });

const spend = (number: string, more: Partial<SmsToSend> = {}) =>
  db.transaction((em) => guard.spend(em, { project, number, ...more }));
/** German mobiles, one range per `block`. */
const mobile = (block: number, n: number) => `+4917${block}${String(n).padStart(7, '0')}`;
/** Numbers in as many ranges. */
const scattered = (count: number) => Array.from({ length: count }, (_, n) => `+49${15_100 + n}000000`);
const tooMany = (retryAfterSeconds: unknown = expect.any(Number)) => ({ code: 'too-many', retryAfterSeconds });
const events = () =>
  query(
    db.alone,
    sql<{ type: string; detail: Record<string, unknown> }>`
      select type, detail from audit_log where project_id = ${project.id} order by id`,
  );

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(async () => {
  project = await begin({});
});

function begin(settings: Partial<Project>): Promise<Project> {
  const now = clock.now();
  return db.transaction(async (em) => {
    const created = em.create(Project, {
      id: systemRandom.id(),
      name: 'p',
      createdAt: now,
      updatedAt: now,
      ...settings,
    });
    em.persist(created);
    return created;
  });
}

describe('a number', () => {
  it('gets five SMS an hour and ten a day', async () => {
    const number = mobile(10, 1);
    for (let n = 0; n < 5; n++) expect(await spend(number)).toBeNull();
    clock.turn(600);
    expect(await spend(number)).toEqual(tooMany(3000));
    clock.turn(3000);
    for (let n = 0; n < 4; n++) expect(await spend(number)).toBeNull();
    clock.turn(3600);
    expect(await spend(number)).toBeNull();
    expect(await spend(number)).toEqual(tooMany(day - 7200));
  });

  it('has one budget in every spelling', async () => {
    for (let n = 0; n < 5; n++) expect(await spend('+4915112345678')).toBeNull();
    expect(await spend('+49015112345678')).toEqual(tooMany());
  });

  it('in use keeps its budget when others request codes', async () => {
    const number = mobile(11, 1);
    for (let n = 0; n < 20; n++) await spend(number);
    expect(await spend(number, { proved: true })).toBeNull();
  });

  it('has a separate budget in every project', async () => {
    const number = mobile(12, 1);
    for (let n = 0; n < 6; n++) await spend(number);
    expect(await spend(number, { project: await begin({}) })).toBeNull();
  });

  it('of a refused kind costs no budget, and is also refused by check', async () => {
    for (const number of ['+8816234567890', '+33899123456']) {
      expect(await spend(number)).toEqual({ code: 'phone-not-allowed' });
      expect(guard.check({ project, number })).toEqual({ code: 'phone-not-allowed' });
    }
    expect(guard.check({ project, number: mobile(10, 1) })).toBeNull();
  });

  it('of a fixed line is refused, unless it has received a code before', async () => {
    expect(await spend('+41440000000')).toEqual({ code: 'phone-not-allowed' });
    expect(await spend('+41440000000', { proved: true })).toBeNull();
    expect(guard.check({ project, number: '+41440000000', proved: true })).toBeNull();
  });

  it('of a country that the project does not allow is refused, also one in use', async () => {
    const swiss = await begin({ smsCountries: ['CH'] });
    expect(await spend('+41790000001', { project: swiss })).toBeNull();
    for (const proved of [false, true]) {
      expect(await spend('+4915112345678', { project: swiss, proved })).toEqual({ code: 'phone-not-allowed' });
    }
  });
});

describe('a range of numbers', () => {
  it('gets thirty SMS a day from a project, over all its numbers', async () => {
    const outcomes = [];
    for (let n = 0; n < 31; n++) outcomes.push(await spend(mobile(20, n)));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(30);
    expect(outcomes.at(-1)).toEqual(tooMany(day));
    expect(await spend(mobile(21, 1))).toBeNull();
    expect(await spend(mobile(20, 1), { project: await begin({}) })).toBeNull();
    expect(await spend(mobile(20, 1), { proved: true })).toBeNull();
    clock.turn(day);
    expect(await spend(mobile(20, 99))).toBeNull();
  });

  it('gets three percent of a larger project’s limit', async () => {
    const large = await begin({ smsPerDay: 2000 });
    for (let n = 0; n < 60; n++) expect(await spend(mobile(22, n), { project: large })).toBeNull();
    expect(await spend(mobile(22, 60), { project: large })).toEqual(tooMany());
  });
});

describe('a project', () => {
  it('sends up to its daily limit, and audits the rest in one event', async () => {
    const small = await begin({ smsPerDay: 3 });
    project = small;
    clock.turn(day);
    const [first, ...rest] = scattered(10);
    expect(await spend(first as string)).toBeNull();
    clock.turn(3600);
    const outcomes = [];
    for (const number of rest) outcomes.push(await spend(number));
    expect(outcomes.slice(0, 2)).toEqual([null, null]);
    for (const outcome of outcomes.slice(2)) expect(outcome).toEqual(tooMany(day - 3600));
    expect(await events()).toEqual([{ type: 'sms.limit_reached', detail: { smsPerDay: 3 } }]);
    clock.turn(day - 3600);
    expect(await spend(first as string)).toBeNull();
    for (const number of rest) await spend(number);
    expect(await events()).toHaveLength(2);
  });

  it('counts concurrent requests exactly', async () => {
    project = await begin({ smsPerDay: 7 });
    const outcomes = await Promise.all(scattered(20).map((number) => spend(number)));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(7);
    expect((await events()).map(({ type }) => type)).toEqual(['sms.limit_reached']);
  });

  it('reserves a tenth of the daily limit for numbers in use', async () => {
    project = await begin({ smsPerDay: 100 });
    const outcomes = [];
    for (const number of scattered(95)) outcomes.push(await spend(number));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(90);
    for (const number of scattered(10)) expect(await spend(number, { proved: true })).toBeNull();
    expect(await spend(mobile(30, 1), { proved: true })).toEqual(tooMany());
    expect(await events()).toEqual([{ type: 'sms.limit_reached', detail: { smsPerDay: 100 } }]);
  });

  it('with a limit of zero sends none', async () => {
    expect(await spend(mobile(31, 1), { project: await begin({ smsPerDay: 0 }) })).toEqual(tooMany(day));
  });
});

describe('refused numbers', () => {
  it('are one event with a count for each reason and hour, without the number', async () => {
    // Separate ranges: trying them all creates no event for each.
    for (let n = 0; n < 12; n++) await spend(`+88162${String(345 + n)}67890`);
    await spend('+33899123456');
    expect(await events()).toMatchObject([
      { type: 'sms.number_refused', detail: { fault: 'international', prefix: '+88162345', count: 12 } },
      { type: 'sms.number_refused', detail: { fault: 'premium', prefix: '+3389912', count: 1 } },
    ]);
    expect(JSON.stringify(await events())).not.toContain('+8816234567');
    clock.turn(3600);
    await spend('+33899123456');
    expect(await events()).toHaveLength(3);
  });

  it('name the exhausted budget', async () => {
    for (let n = 0; n < 7; n++) await spend(mobile(40, 1));
    for (let n = 0; n < 31; n++) await spend(mobile(40, n + 2));
    expect((await events()).map(({ detail }) => [detail['fault'], detail['count']])).toEqual([
      ['number-limit', 2],
      ['prefix-limit', 6],
    ]);
  });
});
