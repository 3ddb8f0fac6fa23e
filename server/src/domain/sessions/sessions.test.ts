import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { randomOn } from '../../adapters/system/random.ts';
import { system } from '../kernel/actor.ts';
import { newSecret } from '../kernel/random.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import type { Session } from './session.entity.ts';
import type { Sessions, SignIn } from './sessions.ts';

let app: TestApp;
let sessions: Sessions;
let project: Project;
let user: User;
/** Project defaults, in seconds. */
const idle = 30 * 60;
const longest = 8 * 3600;

beforeAll(async () => {
  app = await buildTestApp();
  sessions = app.services.sessions;
  project = await app.make.project({ name: 'Ours' });
  user = await app.make.user(project);
});
afterAll(() => app.close());

const work = <T>(what: Parameters<typeof app.services.db.transaction<T>>[0]) => app.services.db.transaction(what);
const signIn = (some: Partial<SignIn> = {}) =>
  work((em) =>
    sessions.signIn(em, {
      project,
      userId: user.id,
      amr: ['swk'],
      authTime: app.clock.now(),
      freshAt: undefined,
      actor: { ...system, ip: '192.0.2.1', userAgent: 'Firefox' },
      ...some,
    }),
  );
const resume = (secret: string, of = project) => work((em) => sessions.resume(em, of, secret));
const row = async (id: string) => {
  const found = await app.services.db
    .reader()
    .execute<Record<string, unknown>[]>('select * from sessions where id = ?', [id]);
  return found[0] ?? {};
};
const setActive = (one: User, active: boolean) =>
  work((em) => em.execute('update users set active = ? where id = ?', [active, one.id]));
const unknownSecret = () => newSecret(randomOn(app.clock));

describe('a sign-in', () => {
  it('keeps the session of the same user in the same browser, under a new secret', async () => {
    const first = await signIn({ freshAt: app.clock.now() });
    app.clock.turn(60);
    const again = await signIn({ currentSecret: first.secret, amr: ['swk', 'otp'], freshAt: app.clock.now() });
    expect([again.session.id, again.replaced]).toEqual([first.session.id, null]);
    expect(again.secret).not.toBe(first.secret);
    expect(await resume(first.secret)).toBeNull();
    expect(await resume(again.secret)).toMatchObject({ amr: ['swk', 'otp'], authTime: app.clock.now() });
    expect(Number((await row(first.session.id))['moment'])).toBeGreaterThan(Number(first.session.freshMoment));
  });

  it('stores its device, and keeps it if the next sign-in names none', async () => {
    const clientId = (await app.make.client(project)).client.id;
    const register = () =>
      work(async (em) => {
        const jkt = newSecret(randomOn(app.clock));
        const registration = {
          project,
          clientId,
          userId: user.id,
          jkt,
          publicJwk: { kty: 'EC' },
          hosted: false,
          remembered: true,
        };
        return (await app.services.devices.register(em, { ...registration, actor: system })).device.id;
      });
    const [one, other] = [await register(), await register()];
    const first = await signIn({ deviceId: one });
    expect(first.session.deviceId).toBe(one);
    const second = await signIn({ currentSecret: first.secret });
    expect(second.session.deviceId).toBe(one);
    const third = await signIn({ currentSecret: second.secret, deviceId: other });
    expect([third.session.id, third.session.deviceId]).toEqual([first.session.id, other]);
  });

  it('starts a session if the browser has none or its cookie is unknown', async () => {
    const first = await signIn();
    const other = await signIn({ currentSecret: unknownSecret() });
    expect(other.session.id).not.toBe(first.session.id);
    expect(other.replaced).toBeNull();
    expect(await row(first.session.id)).toMatchObject({ ended_at: null, ip: '192.0.2.1', user_agent: 'Firefox' });
  });

  it('of another user ends the browser’s previous session', async () => {
    const first = await signIn();
    const successor = await app.make.user(project);
    const second = await signIn({ userId: successor.id, currentSecret: first.secret });
    expect([second.replaced?.id, second.session.id === first.session.id]).toEqual([first.session.id, false]);
    expect(await row(first.session.id)).toMatchObject({ end_reason: 'replaced' });
    expect(await resume(first.secret)).toBeNull();
    expect((await resume(second.secret))?.user.id).toBe(successor.id);
  });

  it('does not reuse a session of another project', async () => {
    const theirs = await app.make.project({ name: 'Theirs' });
    const stranger = await app.make.user(theirs);
    const foreign = await signIn({ project: theirs, userId: stranger.id });
    const own = await signIn({ currentSecret: foreign.secret });
    expect([own.replaced, await resume(foreign.secret)]).toEqual([null, null]);
    expect(await row(foreign.session.id)).toMatchObject({ ended_at: null });
  });

  it('by a device key alone does not change the freshness of the session', async () => {
    const provedAt = app.clock.now();
    const first = await signIn({ freshAt: provedAt });
    app.clock.turn(60);
    const silent = await signIn({ currentSecret: first.secret });
    expect(silent.session).toMatchObject({ freshAt: provedAt, freshMoment: first.session.freshMoment });
    const fresh = await signIn({ currentSecret: silent.secret, freshAt: app.clock.now() });
    expect(fresh.session.freshAt).toEqual(app.clock.now());
    expect(Number(fresh.session.freshMoment)).toBeGreaterThan(Number(first.session.freshMoment));
    const never = await signIn();
    expect([never.session.freshAt ?? null, never.session.freshMoment ?? null]).toEqual([null, null]);
  });

  it('is as fresh as its request, and never reduces freshness', async () => {
    const first = await signIn({ freshAt: app.clock.now() });
    const moment = Number(first.session.freshMoment);
    const older = await signIn({ currentSecret: first.secret, freshAt: app.clock.now(), requestMoment: moment - 1 });
    expect(Number(older.session.freshMoment)).toBe(moment);
    const answering = await signIn({ freshAt: app.clock.now(), requestMoment: moment - 1 });
    expect(Number(answering.session.freshMoment)).toBe(moment - 1);
  });
});

describe('a session', () => {
  const isLive = async (one: { session: Session; secret: string }) =>
    Promise.all([
      work((em) => sessions.peek(em, project, one.secret)).then((found) => found !== null),
      work((em) => sessions.findLive(em, one.session)).then((found) => found !== null),
      work((em) => sessions.listLive(em, project, user.id)).then((all) => all.some(({ id }) => id === one.session.id)),
    ]);

  it('expires when idle, and is extended by use', async () => {
    const one = await signIn();
    app.clock.turn(idle - 1);
    expect(await isLive(one)).toEqual([true, true, true]);
    expect((await resume(one.secret))?.lastSeenAt).toEqual(app.clock.now());
    app.clock.turn(idle - 1);
    expect(await isLive(one)).toEqual([true, true, true]);
    app.clock.turn(1);
    expect(await isLive(one)).toEqual([false, false, false]);
    expect(await resume(one.secret)).toBeNull();
  });

  it('expires at its absolute limit despite use', async () => {
    const one = await signIn();
    for (let age = 1600; age < longest; age += 1600) {
      app.clock.turn(1600);
      expect(await resume(one.secret)).not.toBeNull();
    }
    app.clock.turn(1599);
    expect(await isLive(one)).toEqual([true, true, true]);
    app.clock.turn(1);
    expect(await isLive(one)).toEqual([false, false, false]);
  });

  it('expires immediately when its project shortens the limits', async () => {
    const one = await signIn();
    app.clock.turn(120);
    const shorter = { ...project, idleTimeoutSeconds: 120 } as Project;
    const younger = { ...project, maxSessionSeconds: 120 } as Project;
    for (const policy of [shorter, younger]) expect(await resume(one.secret, policy)).toBeNull();
    expect(await resume(one.secret, { ...project, idleTimeoutSeconds: 121 } as Project)).not.toBeNull();
  });

  it('is not live while its user is deactivated', async () => {
    const one = await signIn();
    await setActive(user, false);
    expect((await isLive(one)).slice(0, 2)).toEqual([false, false]);
    expect(await resume(one.secret)).toBeNull();
    await setActive(user, true);
    expect(await isLive(one)).toEqual([true, true, true]);
  });

  it('is ended once, with one audit event', async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect((await work((em) => sessions.end(em, one.session, 'revoked', system)))?.id).toBe(one.session.id);
    expect(await work((em) => sessions.end(em, one.session, 'revoked', system))).toBeNull();
    expect(await row(one.session.id)).toMatchObject({ end_reason: 'revoked' });
    expect([await isLive(one), await isLive(other)]).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
    const sql = "select subject_id, detail from audit_log where type = 'session.ended' and subject_id = ?";
    expect(await app.services.db.reader().execute(sql, [one.session.id])).toMatchObject([
      { detail: { reason: 'revoked', userId: user.id } },
    ]);
  });

  it('ends with all sessions of its user, and no others', async () => {
    const other = await app.make.user(project);
    const [one, theirs] = [await signIn(), await signIn({ userId: other.id })];
    const ended = await work((em) => sessions.endAllOfUser(em, user, 'revoked', system));
    expect(ended.map(({ id }) => id)).toContain(one.session.id);
    expect(await isLive(one)).toEqual([false, false, false]);
    expect(await resume(theirs.secret)).not.toBeNull();
    expect(await work((em) => sessions.listLive(em, project, user.id))).toEqual([]);
  });

  it('is found by its id only', async () => {
    expect(await work((em) => sessions.findLive(em, { project, id: 'no-uuid' }))).toBeNull();
    expect(await work((em) => sessions.peek(em, project, unknownSecret()))).toBeNull();
  });
});

describe('a session in a project that requires a second factor', () => {
  const required = (emailFactor: boolean) => ({ ...project, mfaPolicy: 'required', emailFactor }) as Project;
  const enrol = (one: User, method: 'email' | 'totp', isVerified: boolean) =>
    work(async (em) => {
      const begun = { user: one, deviceId: null, method, phone: null };
      const enrolment = await app.services.mfa.begin(em, begun);
      if (isVerified) enrolment.verifiedAt = app.clock.now();
    });

  it('is live only for a user with a sufficient verified factor', async () => {
    const counts = async (method: 'email' | 'totp', isVerified: boolean, emailFactor: boolean) => {
      const one = await app.make.user(project);
      const { secret } = await signIn({ userId: one.id });
      await enrol(one, method, isVerified);
      const found = await resume(secret, required(emailFactor));
      expect(await work((em) => sessions.held(em, project, secret))).not.toBeNull();
      return found !== null;
    };
    expect([await counts('totp', true, false), await counts('totp', false, false)]).toEqual([true, false]);
    expect([await counts('email', true, true), await counts('email', true, false)]).toEqual([true, false]);
    const bare = await signIn();
    expect([await resume(bare.secret, required(true)), (await resume(bare.secret)) !== null]).toEqual([null, true]);
  });
});
