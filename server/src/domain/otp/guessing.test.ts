/** Known requesters, and the codes that count against the budgets of wrong attempts (decisions/0100). */

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
import { User } from '../users/user.entity.ts';
import { Guessing, type Requester } from './guessing.ts';
import { type NewCode, Otp } from './otp.ts';

const clock = adjustableClock();
const vault = new Vault(systemRandom.bytes(32), systemRandom);
const limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
const otp = new Otp({ clock, random: systemRandom, vault, limits });
const guessing = new Guessing({ clock, vault, limits });
const home = '192.0.2.1';
const day = 24 * 3600;
let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let projectId: string;
let userId: string;
const address = 'ada@example.com';

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
  projectId = systemRandom.id();
  const now = clock.now();
  await db.transaction(async (em) => {
    em.create(Project, { id: projectId, name: 'p', createdAt: now, updatedAt: now });
  });
  userId = await newUser();
});

async function newUser(): Promise<string> {
  const id = systemRandom.id();
  const common = { createdAt: clock.now(), updatedAt: clock.now() };
  await db.transaction(async (em) => {
    em.create(User, { id, project: projectId, userName: id, userNameKey: id, attributes: {}, ...common });
  });
  return id;
}

const requester = (over: Partial<Requester> = {}) => ({
  projectId,
  userId,
  address,
  ip: home as string | undefined,
  hasProvenKey: false,
  ...over,
});
const grant = (over: Partial<Requester> = {}) => db.transaction((em) => guessing.grant(em, requester(over)));
const remember = (ip: string | undefined) =>
  db.transaction((em) => guessing.remember(em, { project: { id: projectId }, id: userId }, ip));
const [known, short, long] = [
  { format: 'short', isKnown: true },
  { format: 'short', isKnown: false },
  { format: 'long', isKnown: false },
];

/** Issues an open code and returns its place. */
async function issue(over: Partial<NewCode> = {}): Promise<NewCode> {
  const made: NewCode = {
    projectId,
    clientId: null,
    ceremonyId: systemRandom.id(),
    purpose: 'sign-in',
    userId,
    address,
    sentTo: address,
    jkt: null,
    ...over,
  };
  await db.transaction((em) => otp.issue(em, made));
  return made;
}
const times = async (count: number, work: () => Promise<unknown>) => {
  for (let n = 0; n < count; n += 1) await work();
};

/** Enters wrong codes as this requester, counted as a step counts them. */
const fail = (count: number, code: { requesterKnown: boolean }, over: Partial<Requester> = {}) =>
  db.transaction(async (em) => {
    const budgets = guessing.budgetsOf({ format: 'short', ...code }, requester(over));
    await times(count, async () => {
      for (const { rule, subject } of budgets) await limits.spend(em, rule, subject);
    });
  });

describe('a network', () => {
  it('is known for the user who has signed in from it, for 180 days after the last sign-in', async () => {
    expect(await grant()).toEqual(short);
    await remember(home);
    expect(await grant()).toEqual(known);
    expect(await grant({ ip: '198.51.100.1' })).toEqual(short);
    expect(await grant({ userId: await newUser() })).toEqual(short);
    expect(await grant({ userId: null })).toEqual(short);
    clock.turn(100 * day);
    await remember(home);
    clock.turn(180 * day - 1);
    expect(await grant()).toEqual(known);
    clock.turn(1);
    expect(await grant()).toEqual(short);
  });

  it('is deleted at the next sign-in when it is no longer known', async () => {
    await remember(home);
    await remember('198.51.100.1');
    clock.turn(100 * day);
    await remember('198.51.100.1');
    clock.turn(80 * day);
    await remember('203.0.113.1');
    const kept = await rows(db, 'select from known_networks where user_id = ?', [userId]);
    expect(kept).toHaveLength(2);
    expect(await grant({ ip: '198.51.100.1' })).toEqual(known);
    clock.turn(100 * day);
    await remember('198.51.100.1');
    expect(await grant({ ip: '198.51.100.1' })).toEqual(known);
  });

  it('that is missing from the request is never known', async () => {
    await remember(undefined);
    expect(await grant({ ip: undefined })).toEqual(short);
    expect(await rows(db, 'select from known_networks where user_id = ?', [userId])).toEqual([]);
  });

  it('that is known has a different budget than unknown ones: twenty wrong codes', async () => {
    await remember(home);
    await fail(20, { requesterKnown: false }, { ip: '198.51.100.1' });
    expect(await grant({ ip: '198.51.100.1' })).toEqual(long);
    await fail(15, { requesterKnown: true });
    expect(await grant()).toEqual(known);
    await fail(1, { requesterKnown: true });
    expect(await grant()).toEqual(long);
    expect(await grant({ hasProvenKey: true })).toEqual(known);
    clock.turn(31 * day - 1);
    expect(await grant()).toEqual(long);
    clock.turn(1);
    expect(await grant()).toEqual(known);
  });

  it('shares the budget with all known networks, regardless of the network that enters the code', async () => {
    await remember(home);
    await remember('203.0.113.1');
    for (const ip of ['198.51.100.1', '198.51.100.2', '203.0.113.1', home])
      await fail(5, { requesterKnown: true }, { ip });
    expect(await grant()).toEqual(short);
    expect(await grant({ ip: '203.0.113.1' })).toEqual(short);
  });
});

describe('all known networks of a project', () => {
  it('get long codes after 3,000 wrong attempts in a day, for any account', async () => {
    await remember(home);
    const spend = (uses: number) =>
      db.transaction(async (em) => {
        const rule = { name: 'otp-wrong-project', max: 300, windowSeconds: day };
        for (let n = 0; n < uses; n += 1) await limits.spend(em, rule, projectId);
      });
    await spend(2990);
    expect(await grant()).toEqual(known);
    await issue({ userId: systemRandom.id(), requesterKnown: true });
    expect(await grant()).toEqual(known);
    await fail(1, { requesterKnown: true }, { userId: systemRandom.id() });
    expect(await grant()).toEqual(long);
    clock.turn(day);
    expect(await grant()).toEqual(known);
  });
});

describe('an open code', () => {
  it('counts as five wrong attempts by its kind of requester', async () => {
    await remember(home);
    await times(4, () => issue({ requesterKnown: true }));
    expect(await grant()).toEqual(short);
    await times(4, () => issue());
    expect(await grant()).toEqual(long);
    clock.turn(300);
    expect(await grant()).toEqual(known);
  });

  it('counts for its account only, with its remaining attempts, until it is used or replaced', async () => {
    await times(3, () => issue());
    const tried = await issue();
    await times(4, () => db.transaction((em) => otp.count(em, tried)));
    expect(await grant()).toEqual(long);
    await db.transaction((em) => otp.count(em, tried));
    expect(await grant()).toEqual(short);
    await times(3, () => issue({ userId: null, address: 'nobody@example.com' }));
    await times(3, () => issue({ purpose: 'mfa-email' }));
    await times(3, () => issue({ format: 'long' }));
    expect(await grant()).toEqual(short);
    const again = await issue();
    expect(await grant()).toEqual(long);
    await issue(again);
    expect(await grant()).toEqual(long);
    const newest = 'ceremony_id = ? and replaced_at is null';
    await changed(db, `update one_time_codes set used_at = ? where ${newest}`, [clock.now(), again.ceremonyId]);
    expect(await grant()).toEqual(short);
    // Attempts beyond the limit of a code do not lower the count.
    await times(2, () => db.transaction((em) => otp.count(em, tried)));
    await fail(1, { requesterKnown: false });
    expect(await grant()).toEqual(long);
  });

  it('counts against the project’s budget of three hundred unless its requester is known', async () => {
    await times(59, () => issue({ userId: systemRandom.id() }));
    await times(3, () => issue({ userId: systemRandom.id(), requesterKnown: true }));
    expect(await grant()).toEqual(short);
    await fail(1, { requesterKnown: true }, { userId: systemRandom.id() });
    expect(await grant()).toEqual(long);
    const elsewhere = await newProject();
    expect(await grant({ projectId: elsewhere })).toEqual(short);
  });
});

async function newProject(): Promise<string> {
  const id = systemRandom.id();
  const now = clock.now();
  await db.transaction(async (em) => {
    em.create(Project, { id, name: 'other', createdAt: now, updatedAt: now });
  });
  return id;
}

describe('an account', () => {
  it('is the same for each of its addresses; an unknown address is its own account', async () => {
    await fail(20, { requesterKnown: false }, { address: 'lovelace@example.com' });
    expect(await grant()).toEqual(long);
    const unknown = { userId: null, address: 'nobody@example.com' };
    await fail(20, { requesterKnown: false }, unknown);
    expect(await grant(unknown)).toEqual(long);
    const other = { userId: null, address: 'else@example.com' };
    expect(await grant(other)).toEqual(short);
    await times(4, () => issue(other));
    expect(await grant(other)).toEqual(long);
  });
});

describe('a wrong code', () => {
  it('counts against no budget if it is long, and against the project if it is short', () => {
    expect(guessing.budgetsOf({ format: 'long', requesterKnown: false }, requester())).toEqual([]);
    for (const requesterKnown of [true, false]) {
      const [own, project] = guessing.budgetsOf({ format: 'short', requesterKnown }, requester());
      expect(own?.rule.name).toBe(requesterKnown ? 'otp-wrong-known' : 'otp-wrong-account');
      expect(project).toMatchObject({ rule: { name: 'otp-wrong-project' }, subject: projectId });
    }
  });
});
