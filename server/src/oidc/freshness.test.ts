/**
 * Requests that a sign-in completes: decided by their order, regardless of clocks, and by the proofs of the sign-in.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { Session } from '../domain/sessions/session.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  rp = new RelyingParty(app, (await app.make.client(project)).client);
});

async function begin(changes: Record<string, string> = {}): Promise<string> {
  const response = await rp.authorize(changes);
  expect(locationOf(response).pathname).toBe('/signin');
  return locationOf(response).searchParams.get('flow') as string;
}

async function isAnswered(flow: string): Promise<boolean> {
  const resumed = locationOf(await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`));
  if (!resumed.searchParams.has('code')) expect(resumed.pathname).toBe('/signin');
  return resumed.searchParams.has('code');
}

describe('a pending request', () => {
  it('is completed by a later sign-in on a process whose clock is behind', async () => {
    const flow = await begin();
    app.clock.turn(-2);
    await rp.signIn(user);
    expect(await isAnswered(flow)).toBe(true);
    app.clock.turn(2);
  });

  it('is not completed by an earlier sign-in on a process whose clock is ahead', async () => {
    app.clock.turn(2);
    await rp.signIn(user);
    app.clock.turn(-2);
    const flow = await begin({ prompt: 'login' });
    expect(await isAnswered(flow)).toBe(false);
    await rp.signIn(user);
    expect(await isAnswered(flow)).toBe(true);
  });
});

describe('a session', () => {
  it('keeps its authentication time when a device key renews it, and has none if a device key began it', async () => {
    const find = async (id: string) => app.services.db.reader().findOneOrFail(Session, { id });
    const id = await rp.signIn(user, 'device-key');
    expect(await find(id)).toMatchObject({ freshAt: null, freshMoment: null });
    const provedAt = app.clock.now();
    await rp.signIn(user);
    const proved = await find(id);
    expect(proved.freshAt).toEqual(provedAt);
    app.clock.turn(60);
    await rp.signIn(user, 'device-key');
    const renewed = await find(id);
    expect(renewed).toMatchObject({ freshAt: provedAt, freshMoment: proved.freshMoment });
    expect(renewed.authTime).toEqual(app.clock.now());
    expect(renewed.moment).toBeGreaterThan(proved.moment);
  });

  it('applies max_age to the last code or factor, not to a sign-in by a device key', async () => {
    await rp.signIn(user);
    expect((await rp.answer({ max_age: '0', prompt: 'none' })).get('error')).toBe('login_required');
    expect((await rp.answer({ max_age: '1', prompt: 'none' })).has('code')).toBe(true);
    app.clock.turn(120);
    await rp.signIn(user, 'device-key');
    expect((await rp.answer({ max_age: '60', prompt: 'none' })).get('error')).toBe('login_required');
    expect((await rp.answer({ max_age: '120', prompt: 'none' })).has('code')).toBe(true);
    rp.signOut();
    await rp.signIn(user, 'device-key');
    expect((await rp.answer({ max_age: '120', prompt: 'none' })).get('error')).toBe('login_required');
    expect((await rp.answer({ prompt: 'none' })).has('code')).toBe(true);
  });

  it.each(['2147483647', '2147483648', '9'.repeat(30)])('accepts a max_age of %s', async (longest) => {
    await rp.signIn(user);
    expect((await rp.answer({ max_age: longest, prompt: 'none' })).has('code')).toBe(true);
    rp.signOut();
    await rp.signIn(user, 'device-key');
    expect((await rp.answer({ max_age: longest, prompt: 'none' })).get('error')).toBe('login_required');
  });
});

/** A finished sign-in of the request's own ceremony, by a mail code or factor. */
async function signInFor(flow: string): Promise<void> {
  const { db, sessions } = app.services;
  const name = `lk-session-${project.id}`;
  const [request] = await rows<{ moment: string }>(
    db,
    'select moment from authorization_requests where flow_hash = ?',
    [digest(flow)],
  );
  const now = app.clock.now();
  const { secret } = await db.transaction((em) =>
    sessions.signIn(em, {
      ...{ project, userId: user.id, amr: ['swk', 'otp'], authTime: now, freshAt: now, actor: system },
      ...{ requestMoment: Number(request?.moment), currentSecret: rp.browser.cookies.get(name) },
    }),
  );
  rp.browser.cookies.set(name, secret);
}

describe.each<[string, Record<string, string>]>([
  ['prompt=login', { prompt: 'login' }],
  ['a max_age that no session meets', { max_age: '0' }],
])('a request with %s', (_name, changes) => {
  it('is not completed by a device key, in this tab or another, but by a code or factor', async () => {
    await rp.signIn(user);
    app.clock.turn(60);
    const flow = await begin(changes);
    await rp.signIn(user, 'device-key');
    expect(await isAnswered(flow)).toBe(false);
    await rp.signIn(user);
    expect(await isAnswered(flow)).toBe(true);
    rp.signOut();
    const again = await begin(changes);
    await rp.signIn(user, 'device-key');
    expect(await isAnswered(again)).toBe(false);
    await rp.signIn(user);
    expect(await isAnswered(again)).toBe(true);
  });

  it('is not completed by a sign-in for an older request', async () => {
    const [older, flow, younger] = [await begin(), await begin(changes), await begin(changes)];
    await signInFor(older);
    expect(await isAnswered(flow)).toBe(false);
    await signInFor(younger);
    expect(await isAnswered(flow)).toBe(true);
    await signInFor(older);
    expect(await isAnswered(younger)).toBe(true);
  });
});
