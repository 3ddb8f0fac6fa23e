/** Limits of codes and sends: digits, time, place, attempts and budgets. */

import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { changed, rows } from '../../../test/rows.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Database } from '../kernel/database.ts';
import { Vault } from '../keys/vault.ts';
import { Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { newCode, normalizeCode } from './code.ts';
import { type CountedCode, type NewCode, Otp } from './otp.ts';
import { type Send, Sends } from './sends.ts';

const clock = adjustableClock();
const vault = new Vault(systemRandom.bytes(32), systemRandom);
const limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
const otp = new Otp({ clock, random: systemRandom, vault, limits });
let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let made: NewCode;

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
  clock.turn(24 * 3600);
  const [projectId, now] = [systemRandom.id(), clock.now()];
  await db.transaction(async (em) => {
    em.create(Project, { id: projectId, name: 'p', createdAt: now, updatedAt: now });
  });
  const ids = { clientId: systemRandom.id(), ceremonyId: systemRandom.id(), userId: systemRandom.id() };
  made = { projectId, ...ids, purpose: 'sign-in', address: 'ada@example.com', sentTo: 'ada@example.com', jkt: 'key' };
});

const issue = (over: Partial<NewCode> = {}) => db.transaction((em) => otp.issue(em, { ...made, ...over }));
const count = (over: Partial<NewCode> = {}) => db.transaction((em) => otp.count(em, { ...made, ...over }));
const redeem = (counted: CountedCode | null, code: string) =>
  db.transaction((em) => otp.redeem(em, counted, { jkt: made.jkt, clientId: made.clientId, code }));
const attempt = async (code: string, over: Partial<NewCode> = {}) => redeem(await count(over), code);
const refused = (fault: string) => ({ accepted: false, fault });

describe('a code', () => {
  it('has six digits, from 000000 to 999999', () => {
    expect(newCode({ ...systemRandom, integer: () => 7 }, 'short')).toBe('000007');
    expect(newCode({ ...systemRandom, integer: (below) => below - 1 }, 'short')).toBe('999999');
  });

  it('is normalized: no spaces or dashes, look-alike letters as digits', () => {
    expect(normalizeCode(' 0oO-iI1 lLz\t')).toBe('00011111Z');
  });

  it('is valid for five minutes, and returns its age in seconds', async () => {
    const [one, other] = [await issue(), { ceremonyId: systemRandom.id() }];
    const late = await issue(other);
    clock.turn(299);
    expect(await attempt(one)).toMatchObject({ accepted: true, afterSeconds: 299 });
    clock.turn(1);
    expect(await attempt(late, other)).toEqual(refused('expired'));
  });

  it('is replaced only by a code for the same purpose, also after an attempt was counted', async () => {
    const code = await issue();
    await issue({ purpose: 'phone' });
    const counted = await count();
    await issue();
    expect(await redeem(counted, code)).toEqual(refused('used'));
    const newest = await issue();
    await issue({ purpose: 'phone' });
    expect(await attempt(newest)).toMatchObject({ accepted: true });
  });

  it('from before release 1.0, without an address, is not accepted', async () => {
    const code = await issue();
    await changed(db, 'update one_time_codes set address = null where ceremony_id = ?', [made.ceremonyId]);
    expect(await attempt(code)).toEqual(refused('none-sent'));
  });

  it('is swept after it has expired', async () => {
    await issue();
    const left = () => rows(db, 'select from one_time_codes where project_id = ?', [made.projectId]);
    const sweep = () => otp.sweep(db.alone);
    clock.turn(299);
    await sweep();
    expect(await left()).toHaveLength(1);
    clock.turn(1);
    await sweep();
    expect(await left()).toHaveLength(0);
  });

  it('of a factor allows fifty attempts a day per user, over all sign-ins', async () => {
    const tried = { ...made, purpose: 'mfa-sms' } as const;
    const spend = (over: Partial<NewCode> = {}) =>
      db.transaction((em) =>
        otp.spendTry(em, { ...tried, ...over, ceremonyId: systemRandom.id() }, over.userId ?? (made.userId as string)),
      );
    for (let n = 0; n < 50; n += 1) expect(await spend()).toBeNull();
    clock.turn(3600);
    expect(await spend()).toBe(23 * 3600);
    expect(await spend({ purpose: 'mfa-email' })).toBeNull();
    expect(await spend({ userId: systemRandom.id() })).toBeNull();
    clock.turn(23 * 3600);
    expect(await spend()).toBeNull();
  });
});

describe('a send', () => {
  const sends = new Sends({ clock, limits });
  const send = (over: Partial<Send>) =>
    db.transaction((em) =>
      sends.spend(em, {
        projectId: made.projectId,
        purpose: 'mfa-sms',
        address: made.userId as string,
        ceremonyId: systemRandom.id(),
        ip: '192.0.2.1',
        ...over,
      }),
    );
  const sent = { isFlood: false };

  it('by a back end does not count for a network', async () => {
    for (let n = 0; n < 31; n += 1) expect(await send({ ip: null, address: systemRandom.id() })).toEqual(sent);
  });

  it('after a first factor counts for the account from any network, and is not a flood', async () => {
    for (let n = 0; n < 251; n += 1) await send({ ip: `10.0.0.${n}`, provenKey: null });
    expect(await send({ ip: '10.0.1.1', provenKey: null })).toEqual({ isFlood: true });
    for (let n = 0; n < 5; n += 1) expect(await send({ ip: `10.0.2.${n}` })).toEqual(sent);
    expect(await send({ ip: '10.0.2.9' })).toEqual({ refused: { code: 'too-many', retryAfterSeconds: 3600 } });
  });
});
