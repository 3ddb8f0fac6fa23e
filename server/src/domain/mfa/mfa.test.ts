import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { system } from '../kernel/actor.ts';
import { seconds } from '../kernel/clock.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import { Enrolment, type MfaMethod } from './enrolment.entity.ts';
import type { Mfa } from './mfa.ts';
import { failuresUntilOff, totpStep, waitAfter } from './totp.ts';

let app: TestApp;
let mfa: Mfa;
let project: Project;

beforeAll(async () => {
  app = await buildTestApp();
  mfa = app.services.mfa;
  project = await app.make.project();
});
afterAll(() => app.close());

const work = <T>(what: Parameters<typeof app.services.db.transaction<T>>[0]) => app.services.db.transaction(what);
const firstNumber = '+41790000000';
const begin = (user: User, method: MfaMethod, ceremonyId: string | null = null) =>
  work((em) => {
    const phone = method === 'sms' ? firstNumber : null;
    return mfa.begin(em, { user, ceremonyId, deviceId: null, method, phone });
  });
const verified = async (user: User, method: MfaMethod) => {
  const { id } = await begin(user, method);
  const codes = await work(async (em) => mfa.verify(em, await em.findOneOrFail(Enrolment, { id }), user, system));
  return { id, codes };
};
const read = (id: string) => app.services.db.reader().findOne(Enrolment, { id });
const codeAt = (secret: string, offset = 0) => generateSync({ secret, epoch: seconds(app.clock.now()) + offset });
const newId = () =>
  app.services.db
    .reader()
    .execute<{ id: string }[]>('select gen_random_uuid() as id')
    .then(([row]) => row?.id ?? '');

describe('a factor', () => {
  it('is required once verified, for its user only', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const { id } = await begin(user, 'totp');
    const idsOf = async (one: User) => (await mfa.factors(app.services.db.reader(), one)).map((factor) => factor.id);
    expect(await idsOf(user)).toEqual([]);
    await work(async (em) => mfa.verify(em, await em.findOneOrFail(Enrolment, { id }), user, system));
    expect([await idsOf(user), await idsOf(other)]).toEqual([[id], []]);
  });

  it('used or enrolled most recently comes first', async () => {
    const user = await app.make.user(project);
    const first = await verified(user, 'totp');
    app.clock.turn(60);
    const second = await verified(user, 'sms');
    const order = async () => (await mfa.factors(app.services.db.reader(), user)).map(({ id }) => id);
    expect(await order()).toEqual([second.id, first.id]);
    app.clock.turn(60);
    await work(async (em) => mfa.accepted(await em.findOneOrFail(Enrolment, { id: first.id })));
    expect(await order()).toEqual([first.id, second.id]);
  });

  it('is pending in its own sign-in only, and is replaced by another one there', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const [here, there] = [await newId(), await newId()];
    const first = await begin(user, 'totp', here);
    const elsewhere = await begin(user, 'totp', there);
    const theirs = await begin(other, 'totp', here);
    const pending = async (one: User, ...ids: string[]) => (await mfa.pending(app.services.db.reader(), one, ids))?.id;
    expect(await pending(user, here)).toBe(first.id);
    expect([await pending(user), await pending(user, await newId())]).toEqual([undefined, undefined]);
    const again = await begin(user, 'sms', here);
    expect([await read(first.id), (await read(elsewhere.id))?.id, (await read(theirs.id))?.id]).toEqual([
      null,
      elsewhere.id,
      theirs.id,
    ]);
    expect([await pending(user, here), await pending(other, here)]).toEqual([again.id, theirs.id]);
    await work(async (em) => mfa.verify(em, await em.findOneOrFail(Enrolment, { id: again.id }), user, system));
    expect(await pending(user, here)).toBeUndefined();
    await begin(user, 'email', here);
    expect(await read(again.id)).not.toBeNull();
  });

  it('reveals its secret only until it is verified', async () => {
    const user = await app.make.user(project);
    const { id } = await begin(user, 'totp');
    const enrolment = (await read(id)) as Enrolment;
    const setup = mfa.totpSetup(enrolment, 'Acme', 'ada@example.com');
    expect(setup?.otpauthUri).toContain(setup?.secret ?? '-');
    expect(mfa.totpSetup((await read((await begin(user, 'sms')).id)) as Enrolment, 'Acme', 'a')).toBeNull();
    await work(async (em) => {
      const fresh = em.merge(enrolment);
      await mfa.verify(em, fresh, user, system);
      expect(mfa.totpSetup(fresh, 'Acme', 'ada@example.com')).toBeNull();
    });
  });

  it('is removed by its id once verified, for its own user only', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const mine = await verified(user, 'totp');
    const begun = await begin(user, 'sms');
    const remove = (one: User, id: string) => work((em) => mfa.remove(em, one, id, system));
    await expect(remove(other, mine.id)).rejects.toThrow('not-found');
    await expect(remove(user, begun.id)).rejects.toThrow('not-found');
    await expect(remove(user, 'no-uuid')).rejects.toThrow('not-found');
    await remove(user, mine.id);
    expect([await read(mine.id), await read(begun.id)]).toMatchObject([null, { id: begun.id }]);
  });

  it('by SMS follows its user’s phone; other and pending factors do not', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const [mine, theirs, app2] = [
      await verified(user, 'sms'),
      await verified(other, 'sms'),
      await verified(user, 'totp'),
    ];
    const waiting = await begin(user, 'sms', await newId());
    const move = (to: string) => work((em) => mfa.moveSms(em, user, to));
    expect([await move('+4915112345677'), await move('+4915112345678')]).toEqual([[firstNumber], ['+4915112345677']]);
    expect(await move('+4915112345678')).toEqual([]);
    const phones = [mine, theirs, app2, waiting].map(async ({ id }) => (await read(id))?.phone ?? null);
    expect(await Promise.all(phones)).toEqual(['+4915112345678', firstNumber, null, firstNumber]);
  });
});

describe('a code of an authenticator app', () => {
  const withSecret = async () => {
    const user = await app.make.user(project);
    const { id } = await begin(user, 'totp');
    const secret = mfa.totpSetup((await read(id)) as Enrolment, 'Acme', 'a')?.secret ?? '';
    const accept = (code: string) =>
      work(async (em) => mfa.acceptTotp(em, (await mfa.locked(em, { project, id })) as Enrolment, code));
    return { user, id, secret, accept };
  };

  it('is accepted once, for its time-step and the adjacent ones', async () => {
    const { accept, secret } = await withSecret();
    expect(await accept(codeAt(secret, -90))).toBe(false);
    expect(await accept(codeAt(secret, 90))).toBe(false);
    expect(await accept(codeAt(secret))).toBe(true);
    expect(await accept(codeAt(secret))).toBe(false);
    expect(await accept(codeAt(secret, -30))).toBe(false);
    expect(await accept(codeAt(secret, 30))).toBe(true);
    const step = Math.floor(seconds(app.clock.now()) / 30);
    expect(totpStep(secret, codeAt(secret), seconds(app.clock.now()), null)).toBe(step);
    expect(totpStep(secret, codeAt(secret), seconds(app.clock.now()), step)).toBeNull();
    expect(totpStep(secret, codeAt(secret), seconds(app.clock.now()), step - 1)).toBe(step);
    for (const typed of [` ${codeAt(secret)}`, `${codeAt(secret)}\n`])
      expect(totpStep(secret, typed, seconds(app.clock.now()), null)).toBe(step);
    for (const typed of [codeAt(secret).slice(1), `${codeAt(secret)}0`, `${codeAt(secret)}x`])
      expect(totpStep(secret, typed, seconds(app.clock.now()), null)).toBeNull();
  });

  it('is accepted for one of two concurrent attempts', async () => {
    const { accept, secret } = await withSecret();
    const code = codeAt(secret);
    expect((await Promise.all([accept(code), accept(code)])).sort()).toEqual([false, true]);
  });

  it('locks its own factor longer with every fifth wrong attempt, up to an hour', async () => {
    const { accept, id, secret } = await withSecret();
    const other = await withSecret();
    const count = () => work(async (em) => mfa.countTry(em, (await mfa.locked(em, { project, id })) as Enrolment));
    const waits: number[] = [];
    for (let tries = 0; tries < 10; tries += 1) {
      await count();
      waits.push(mfa.lockedForSeconds((await read(id)) as Enrolment));
    }
    expect(waits).toEqual([0, 0, 0, 0, 30, 0, 0, 0, 0, 60]);
    app.clock.turn(59);
    expect(mfa.lockedForSeconds((await read(id)) as Enrolment)).toBe(1);
    app.clock.turn(1);
    expect(mfa.lockedForSeconds((await read(id)) as Enrolment)).toBe(0);
    expect((await read(other.id))?.failures).toBe(0);
    expect(await accept(codeAt(secret))).toBe(true);
    expect(await read(id)).toMatchObject({ failures: 0, lockedUntil: null, lastUsedAt: app.clock.now() });
    expect([5, 6, 10, 15, 35, 40, 45].map(waitAfter)).toEqual([30, 0, 60, 120, 1920, 3600, 3600]);
  });

  it('does not stay locked by a clock that was ahead', async () => {
    const { id } = await withSecret();
    const count = () => work(async (em) => mfa.countTry(em, (await mfa.locked(em, { project, id })) as Enrolment));
    const year = 365 * 24 * 3600;
    app.clock.turn(year);
    for (let tries = 0; tries < 5; tries += 1) await count();
    expect(mfa.lockedForSeconds((await read(id)) as Enrolment)).toBe(30);
    app.clock.turn(-year);
    expect(mfa.lockedForSeconds((await read(id)) as Enrolment)).toBe(0);
    expect((await read(id))?.failures).toBe(5);
  });

  it('is refused after too many wrong codes', async () => {
    const { id } = await withSecret();
    const enrolment = (await read(id)) as Enrolment;
    const after = (failures: number) => mfa.isOff(Object.assign(enrolment, { failures }));
    expect([after(failuresUntilOff - 1), after(failuresUntilOff)]).toEqual([false, true]);
    expect(failuresUntilOff).toBe(50);
  });
});

describe('recovery codes', () => {
  const left = (user: User) => mfa.recoveryCodes.left(app.services.db.reader(), user);
  const use = (user: User, code: string) => work((em) => mfa.recoveryCodes.use(em, user, code));

  it('are issued with the first factor, and not again while one is left', async () => {
    const user = await app.make.user(project);
    const { codes } = await verified(user, 'totp');
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes ?? []) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
    for (const code of codes?.slice(0, 9) ?? []) expect(await use(user, code)).toBe(true);
    expect((await verified(user, 'sms')).codes).toBeNull();
    expect(await use(user, codes?.[9] ?? '')).toBe(true);
    expect(await left(user)).toBe(0);
    expect((await verified(user, 'email')).codes).toHaveLength(10);
  });

  it('are each accepted once, for their user only, in any spelling', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const [first = '', second = ''] = (await verified(user, 'totp')).codes ?? [];
    await verified(other, 'totp');
    expect(await use(other, first)).toBe(false);
    expect(
      await use(user, ` ${first.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'L')}`),
    ).toBe(true);
    expect(await use(user, first)).toBe(false);
    expect([await left(user), await left(other)]).toEqual([9, 10]);
    expect((await Promise.all([use(user, second), use(user, second)])).sort()).toEqual([false, true]);
  });

  it('are all replaced together, for their user only', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const [old = ''] = (await verified(user, 'totp')).codes ?? [];
    await verified(other, 'totp');
    await work((em) => mfa.recoveryCodes.issue(em, user));
    expect([await use(user, old), await left(user), await left(other)]).toEqual([false, 10, 10]);
  });
});
