import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp } from '../../../test/build-app.ts';
import { adjustableClock } from '../../../test/clock.ts';
import type { StepAnswer } from '../../../test/signin-browser.ts';
import { newAddress, otherCode, SigninWorld } from '../../../test/signin-world.ts';
import { randomOn } from '../../adapters/system/random.ts';
import { type Actor, system } from '../kernel/actor.ts';
import type { AuditEntry } from './audit.ts';
import { type EventGroup, listEventGroups } from './event-groups.ts';
import { type EventFilter, listEvents } from './events.ts';

const world = new SigninWorld();
const clock = adjustableClock();
// The ids of sign-ins and events contain their times.
const random = randomOn(clock);
beforeAll(async () => {
  world.app = await buildTestApp(undefined, { clock, random });
  await world.app.services.seed.create({ demo: false });
});
afterAll(() => world.app.close());
beforeEach(() => world.begin());

const em = () => world.app.services.db.reader();
const typesOf = (groups: readonly EventGroup[]) => groups.map(({ events }) => events.map(({ type }) => type));
const idsOf = (groups: readonly EventGroup[]) => groups.map(({ events }) => events.map(({ id }) => id));

async function signIns(filter: EventFilter = {}): Promise<EventGroup[]> {
  const since = new Date(clock.now().getTime() - 1800_000);
  return (await listEventGroups(em(), world.project.id, { since, ...filter }, { first: 100, after: null })).items;
}

async function pages(filter: EventFilter, first: number): Promise<EventGroup[]> {
  const found: EventGroup[] = [];
  for (let after: string | null = null; ; ) {
    const page = await listEventGroups(em(), world.project.id, filter, { first, after });
    expect(page.items.length).toBeLessThanOrEqual(first);
    if (page.hasNextPage) expect(page.items).toHaveLength(first);
    found.push(...page.items);
    if (!page.hasNextPage) return found;
    after = page.items.at(-1)?.id ?? null;
  }
}

const codeOf = (answer: StepAnswer) => String(answer['code']);
const enters = async (page: Awaited<ReturnType<typeof world.page>>, userid: string, otp: string) =>
  page.step('verify-email-otp', { userid, otp });

describe('a sign-in', () => {
  it('is one group, from the code to the tokens; so is the next one by the trusted device', async () => {
    const userid = newAddress();
    const page = await world.page();
    await world.exchange(codeOf(await world.register(page, userid)));
    clock.turn(60);
    await page.challenge();
    await world.exchange(codeOf(await page.step('authenticate', { userid }, 'use')));
    expect(typesOf(await signIns())).toEqual([
      ['user.signed_in', 'token.issued'],
      [
        ...['otp.requested', 'otp.sent', 'user.created', 'otp.verified', 'device.registered', 'user.signed_in'],
        'token.issued',
      ],
    ]);
  });

  it('is separate from another one of the same person at the same time', async () => {
    const userid = (await world.user()).email ?? '';
    const [one, two] = [await world.page(), await world.page()];
    await one.challenge();
    await one.step('authenticate', { userid });
    const first = await world.codeFor(userid);
    clock.turn(31);
    await two.challenge();
    await two.step('authenticate', { userid });
    const second = await world.codeFor(userid);
    await enters(one, userid, first);
    await enters(two, userid, second);
    await two.step('verify-device', { userid }, 'registration');
    await one.step('verify-device', { userid }, 'registration');
    const whole = ['otp.requested', 'otp.sent', 'otp.verified', 'device.registered', 'user.signed_in'];
    const groups = await signIns();
    expect(typesOf(groups)).toEqual([whole, whole]);
    const keys = groups.map(({ events }) => new Set(events.map(({ detail }) => detail?.['signInId'])).size);
    expect(keys).toEqual([1, 1]);
    expect(groups[0]?.events.at(-1)?.id).toBe(groups[0]?.id);
  });

  it('contains its refusals; an event that counts refusals of several sign-ins is in none', async () => {
    const userid = (await world.user()).email ?? '';
    const begins = async () => {
      const page = await world.page();
      await page.challenge();
      await page.step('authenticate', { userid });
      const otp = await world.codeFor(userid);
      await enters(page, userid, otherCode(otp));
      return { page, otp };
    };
    const { page, otp } = await begins();
    await enters(page, userid, otherCode(otp, 2));
    expect(typesOf(await signIns())).toEqual([['otp.requested', 'otp.sent', 'otp.rejected']]);
    expect(typesOf(await signIns({ result: 'failure' }))).toEqual([['otp.rejected']]);
    clock.turn(31);
    await begins();
    expect(typesOf(await signIns())).toEqual([
      ['otp.requested', 'otp.sent'],
      ['otp.rejected'],
      ['otp.requested', 'otp.sent'],
    ]);
  });

  it('keeps its id if it continues under a new txn', async () => {
    await world.set({ mfaPolicy: 'required', offeredFactors: ['totp'] });
    const userid = (await world.user()).email ?? '';
    const page = await world.page();
    await world.verifyAddress(page, userid);
    await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    await page.challenge();
    const required = await page.step('authenticate', { userid }, 'use');
    const { totp } = await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    await page.step('verify-mfa', { userid, otp: world.totp(totp.secret) }, 'use');
    expect(typesOf(await signIns())[0]).toEqual([
      ...['otp.requested', 'otp.sent', 'otp.verified', 'device.registered', 'mfa.enrolled', 'user.signed_in'],
    ]);
  });

  it('ends: tokens of a later single sign-on are a separate event', async () => {
    const { email } = await world.user();
    const page = await world.page();
    const code = codeOf(await world.register(page, email ?? ''));
    const [signIn] = await signIns({ types: ['user.signed_in'] });
    const subject = { kind: 'user', id: signIn?.events[0]?.subjectId ?? '' };
    await world.exchange(code);
    clock.turn(301);
    await record({ type: 'token.issued', actor: { kind: 'client' }, clientId: world.client.id, subject });
    expect(typesOf(await signIns()).map(({ length }) => length)).toEqual([1, 6]);
    expect(typesOf(await signIns({ types: ['token.issued'] }))).toEqual([['token.issued'], ['token.issued']]);
  });
});

function record(entry: Omit<AuditEntry, 'projectId'>): Promise<unknown> {
  const { audit, db } = world.app.services;
  return db.transaction(async (manager) => audit.record(manager, { projectId: world.project.id, ...entry }));
}

describe('pages', () => {
  /** 24 sign-ins of three users, their events mixed with each other and with changes by the system. */
  async function mixed() {
    const users = [0, 1, 2].map(() => ({ kind: 'user', id: random.id() }));
    const open: { actor: Actor; subject: { kind: string; id: string }; left: number }[] = [];
    let drawn = 7;
    const draw = (below: number) => {
      drawn = (drawn * 48_271) % 2_147_483_647;
      return drawn % below;
    };
    for (let begun = 0; begun < 24 || open.length > 0; ) {
      clock.turn(draw(9));
      if (draw(4) === 0) await record({ type: 'user.updated', actor: system, subject: users[draw(3)] as never });
      if (begun < 24 && draw(2) === 0) {
        const actor: Actor = { kind: 'anonymous', signInId: random.id() };
        open.push({ actor, subject: users[begun % 3] as never, left: 1 + draw(12) });
        begun += 1;
      }
      const at = draw(Math.max(1, open.length));
      const signIn = open[at];
      if (!signIn) continue;
      const { actor, subject } = signIn;
      const about = { subject, clientId: world.client.id };
      if (signIn.left > 0) {
        await record({ type: 'otp.requested', result: draw(5) === 0 ? 'failure' : 'success', actor, ...about });
      } else {
        await record({ type: 'user.signed_in', actor, ...about });
        if (draw(2) === 0) await record({ type: 'token.issued', actor: { kind: 'client' }, ...about });
        open.splice(at, 1);
      }
      signIn.left -= 1;
    }
    return users;
  }

  it('contain each event once and each sign-in whole, in one order, for any page size and filter', async () => {
    const [ada] = await mixed();
    const start = { since: new Date(clock.now().getTime() - 1800_000) };
    const filters: EventFilter[] = [
      {},
      { types: ['otp.requested', 'token.issued'] },
      { types: ['user.signed_in'] },
      { result: 'failure' },
      { userId: ada?.id as string },
      { clientId: world.client.id, until: new Date(clock.now().getTime() - 100_000) },
    ];
    for (const narrow of filters) {
      const filter = { ...start, ...narrow };
      const { items } = await listEvents(em(), world.project.id, filter, { first: 5000, after: null });
      const whole = await pages(filter, 5000);
      const events = whole.flatMap((group) => group.events);
      expect(events.map(({ id }) => id).sort()).toEqual(items.map(({ id }) => id).sort());
      expect(whole.map(({ id }) => id)).toEqual(
        whole
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
      const groupsOf = Map.groupBy(
        whole.flatMap((group) => group.events.map(({ detail }) => [detail?.['signInId'], group.id] as const)),
        ([signInId]) => signInId,
      );
      for (const [signInId, found] of groupsOf) {
        if (signInId) expect(new Set(found.map(([, group]) => group)).size).toBe(1);
      }
      for (const first of [1, 3, 10]) expect(idsOf(await pages(filter, first))).toEqual(idsOf(whole));
    }
  });

  it('find the events of one sign-in by its id', async () => {
    await mixed();
    const groups = await signIns({ types: ['user.signed_in'] });
    const signInId = groups[3]?.events[0]?.detail?.['signInId'] as string;
    const found = await signIns({ signInId });
    expect(found).toHaveLength(1);
    expect(found[0]?.events.length).toBeGreaterThan(1);
    expect(await signIns({ signInId: '00000000-0000-4000-8000-000000000000' })).toEqual([]);
  });
});

it('a sign-in of many events has its newest 100, with the number of all', async () => {
  const { audit, db } = world.app.services;
  const signInId = random.id();
  const actor: Actor = { kind: 'anonymous', signInId };
  const subject = { kind: 'address', id: 'a…@example.com' };
  await db.transaction(async (em) => {
    for (let n = 0; n < 250; n += 1)
      audit.record(em, { type: 'otp.rejected', actor, projectId: world.project.id, subject });
  });
  const [group] = await signIns({ types: ['otp.rejected'] } as EventFilter);
  expect([group?.events.length, group?.eventCount]).toEqual([100, 250]);
});
