import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Clock } from '../kernel/clock.ts';
import { Database } from '../kernel/database.ts';
import { Vault } from '../keys/vault.ts';
import { Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import { Guessing, type Requester } from './guessing.ts';
import { type NewCode, Otp, type Redemption } from './otp.ts';
import { type Send, type SendOutcome, Sends } from './sends.ts';

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let now: Date;
const clock: Clock = { now: () => now };
const vault = new Vault(systemRandom.bytes(32), systemRandom);
let limits: Limits;
let otp: Otp;
let guessing: Guessing;
let sends: Sends;
let projectId: string;
let made: NewCode;

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};
const issue = (over: Partial<NewCode> = {}) => db.transaction((em) => otp.issue(em, { ...made, ...over }));
const attempt = (code: string, over: Partial<NewCode> = {}): Promise<Redemption> =>
  db.transaction(async (em) => {
    const place = { ...made, ...over };
    return otp.redeem(em, await otp.count(em, place), { ...place, code });
  });
const other = (code: string, plus: number) => String((Number(code) + plus) % 1_000_000).padStart(6, '0');

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
  now = new Date('2027-01-01T00:00:00Z');
  limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
  otp = new Otp({ clock, random: systemRandom, vault, limits });
  guessing = new Guessing({ clock, vault, limits });
  sends = new Sends({ clock, limits });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(async () => {
  projectId = systemRandom.id();
  await db.transaction(async (em) => {
    em.persist(em.create(Project, { id: projectId, name: 'p', createdAt: now, updatedAt: now }));
  });
  const address = `${systemRandom.id()}@example.com`;
  made = {
    projectId,
    clientId: systemRandom.id(),
    ceremonyId: systemRandom.id(),
    purpose: 'sign-in',
    userId: systemRandom.id(),
    address,
    sentTo: `inbox-${address}`,
    jkt: 'key',
  };
});

describe('a one-time code', () => {
  it('has six digits, is accepted once, and names its user, address and mailbox', async () => {
    const code = await issue();
    expect(code).toMatch(/^\d{6}$/);
    const accepted = await attempt(code);
    if (!accepted.accepted) throw new Error(accepted.fault);
    expect(accepted.userId).toBe(made.userId);
    expect([accepted.isFor(made.address), accepted.isFor('other@example.com')]).toEqual([true, false]);
    expect([accepted.wentTo(made.sentTo as string), accepted.wentTo(made.address)]).toEqual([true, false]);
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'used' });
  });

  it('is accepted once in 40 concurrent attempts', async () => {
    const code = await issue();
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => attempt(code)));
    expect(outcomes.filter((outcome) => outcome.accepted)).toHaveLength(1);
  });

  it('is redeemed by one of two attempts that were both counted first', async () => {
    const code = await issue();
    const [first, second] = await db.transaction(async (em) => [await otp.count(em, made), await otp.count(em, made)]);
    const redeem = (counted: typeof first) =>
      db.transaction((em) => otp.redeem(em, counted ?? null, { jkt: made.jkt, clientId: made.clientId, code }));
    expect(await redeem(first)).toMatchObject({ accepted: true });
    expect(await redeem(second)).toEqual({ accepted: false, fault: 'used' });
  });

  it('is valid only for its project, sign-in, purpose, key and client', async () => {
    const code = await issue();
    const none = { accepted: false, fault: 'none-sent' };
    expect(await attempt(code, { projectId: systemRandom.id() })).toEqual(none);
    expect(await attempt(code, { ceremonyId: systemRandom.id() })).toEqual(none);
    expect(await attempt(code, { purpose: 'mfa-email' })).toEqual(none);
    expect(await attempt(code, { jkt: 'other' })).toEqual({ accepted: false, fault: 'other-key' });
    expect(await attempt(code, { jkt: null })).toEqual({ accepted: false, fault: 'other-key' });
    expect(await attempt(code, { clientId: systemRandom.id() })).toEqual({ accepted: false, fault: 'other-key' });
    expect(await attempt(code)).toMatchObject({ accepted: true });
  });

  it('expires after five minutes', async () => {
    const code = await issue();
    later(299);
    const second = await issue({ ceremonyId: systemRandom.id() });
    later(1);
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'expired' });
    expect(second).toMatch(/^\d{6}$/);
  });

  it('is refused after five wrong attempts, even with the right digits', async () => {
    const code = await issue();
    for (let n = 1; n <= 5; n++) expect(await attempt(other(code, n))).toEqual({ accepted: false, fault: 'wrong' });
    expect(await attempt(code)).toEqual({ accepted: false, fault: 'spent' });
  });

  it('is replaced by the next code of its sign-in, for any address', async () => {
    const code = await issue();
    const next = await issue({ userId: systemRandom.id(), address: 'other@example.com' });
    expect(await attempt(code)).toMatchObject({ accepted: false, fault: code === next ? 'none' : 'wrong' });
    const accepted = await attempt(next);
    expect(accepted.accepted && accepted.isFor('other@example.com')).toBe(true);
  });

  it('is not replaced by codes of other sign-ins of the same account', async () => {
    const code = await issue();
    const elsewhere = systemRandom.id();
    const second = await issue({ ceremonyId: elsewhere });
    for (let n = 1; n <= 6; n++) await attempt(other(second, n), { ceremonyId: elsewhere });
    expect(await attempt(code)).toMatchObject({ accepted: true });
  });

  it('is refused if it was not sent', async () => {
    expect(await attempt(await issue({ sentTo: null }))).toEqual({ accepted: false, fault: 'none-sent' });
  });

  it('of ten characters is accepted in any case, with spaces, dashes and look-alike letters', async () => {
    const code = await issue({ format: 'long' });
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    const typed = `${code.slice(0, 5)}- ${code.slice(5)}`.toLowerCase().replace(/0/g, 'o').replace(/1/g, 'l');
    expect(await attempt(typed)).toMatchObject({ accepted: true });
  });

  it('and its addresses are never stored in plain text', async () => {
    const code = await issue();
    const dump = JSON.stringify(await db.reader().execute('select * from one_time_codes'));
    expect(dump).not.toContain(`"${code}"`);
    expect(dump).not.toContain(made.address);
  });
});

describe('the format of codes', () => {
  const grant = (over: Partial<Requester> = {}) =>
    db.transaction((em) =>
      guessing.grant(em, {
        projectId,
        userId: made.userId,
        address: made.address,
        ip: '192.0.2.1',
        hasProvenKey: false,
        ...over,
      }),
    );
  const short = { format: 'short', isKnown: false };
  const long = { format: 'long', isKnown: false };
  /** Wrong attempts at short codes of this account, five per code. */
  const fail = async (tries: number, over: Partial<Requester> = {}) => {
    const requester = { projectId, userId: made.userId, address: made.address, ip: '192.0.2.1', ...over };
    const budgets = guessing.budgetsOf({ format: 'short', requesterKnown: false }, requester);
    await db.transaction(async (em) => {
      for (let n = 0; n < tries; n++) for (const { rule, subject } of budgets) await limits.spend(em, rule, subject);
    });
  };

  it('is long after twenty wrong attempts for an account in 31 days, for unknown requesters', async () => {
    await fail(15);
    expect(await grant()).toEqual(short);
    await fail(5);
    expect(await grant()).toEqual(long);
    expect(await grant({ userId: systemRandom.id(), address: 'other@example.com' })).toEqual(short);
    later(31 * 24 * 3600);
    expect(await grant()).toEqual(short);
  });

  it('is long after three hundred wrong attempts in a project in a day', async () => {
    await fail(300, { userId: systemRandom.id() });
    expect(await grant()).toEqual(long);
    later(24 * 3600);
    expect(await grant()).toEqual(short);
  });

  it('counts the remaining attempts of open short codes, so that codes requested in advance stay within the budget', async () => {
    for (let n = 0; n < 4; n++) {
      expect(await grant()).toEqual(short);
      await issue({ ceremonyId: systemRandom.id() });
    }
    expect(await grant()).toEqual(long);
    later(300);
    expect(await grant()).toEqual(short);
  });

  it('is the same for an unknown address', async () => {
    const unknown = { userId: null, address: 'nobody@example.com' };
    await fail(20, unknown);
    expect(await grant(unknown)).toEqual(long);
  });
});

describe('sends', () => {
  let ip: string;
  const send = (over: Partial<Send> = {}): Promise<SendOutcome> =>
    db.transaction((em) =>
      sends.spend(em, {
        projectId,
        purpose: 'sign-in',
        address: made.address,
        ceremonyId: systemRandom.id(),
        ip,
        provenKey: null,
        ...over,
      }),
    );
  const sent = { isFlood: false };
  beforeEach(() => {
    ip = `10.${systemRandom.integer(256)}.${systemRandom.integer(256)}.${systemRandom.integer(256)}`;
    later(24 * 3600);
  });

  it('in one sign-in are limited to one per address in 30 seconds', async () => {
    const { ceremonyId } = made;
    expect(await send({ ceremonyId })).toEqual(sent);
    expect(await send({ ceremonyId })).toEqual({ refused: { code: 'too-many', retryAfterSeconds: 30 } });
    expect(await send({ ceremonyId, address: 'other@example.com' })).toEqual(sent);
    later(30);
    expect(await send({ ceremonyId })).toEqual(sent);
  });

  it('to one address by one requester are limited to five an hour and ten a day, independent of others', async () => {
    const outcomes: SendOutcome[] = [];
    for (let hour = 0; hour < 4; hour++) {
      for (let n = 0; n < 6; n++) outcomes.push(await send());
      later(3600);
    }
    expect(outcomes.filter((outcome) => 'isFlood' in outcome)).toHaveLength(10);
    expect(await send({ ip: '192.0.2.77' })).toEqual(sent);
    expect(await send({ provenKey: 'a registered key' })).toEqual(sent);
  });

  it('from one network (IPv6: a /64) are limited to thirty an hour', async () => {
    const outcomes = [];
    for (let n = 0; n < 40; n++) outcomes.push(await send({ address: `a${n}@example.com`, ip: `2001:db8::${n}` }));
    expect(outcomes.filter((outcome) => 'isFlood' in outcome)).toHaveLength(30);
    expect(await send({ address: 'else@example.com', ip: '2001:db8:0:1::1' })).toEqual(sent);
  });

  it('from many networks become a flood', async () => {
    for (let n = 0; n < 250; n++) expect(await send({ ip: `10.1.${n}.1` })).toEqual(sent);
    expect(await send({ ip: '10.2.0.1' })).toEqual({ isFlood: true });
  });
});
