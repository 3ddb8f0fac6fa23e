/** The end of a sign-in on the hosted page: facts, and one statement that writes the session (decisions/0085). */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { givenNow, onceRead, outcomeOf } from '../../test/endings.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { changed, rows } from '../../test/rows.ts';
import type { StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';
import { digest } from '../domain/kernel/secret.ts';

const world = SigninWorld.ofTests();
let hosted: HostedBrowser;
let userid: string;
let release = () => {};

/** A browser with a trusted device and a passkey, long after their registration, and its session has ended by its idle limit. */
async function begin(): Promise<void> {
  userid = newAddress();
  hosted = new HostedBrowser(world, new SoftAuthenticator());
  await hosted.open();
  hosted.keep(expectStatus(await hosted.register(userid), 'SUCCESS'));
  expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  world.app.clock.turn(45 * 60);
}
beforeEach(begin);
afterEach(() => release());

async function challenged(over: Record<string, string> = {}): Promise<void> {
  await hosted.open(over);
  await hosted.page.challenge();
}

const byDevice = (fields: Record<string, unknown> = {}): Promise<StepAnswer> =>
  hosted.page.step('authenticate', { userid, ...fields }, 'use');
const change = (sql: string, ...params: unknown[]) => changed(world.app.services.db, sql, params);
const ofDevice = (set: string) => () => change(`update credentials set ${set} where jkt = ?`, hosted.page.key.jkt);
const ofSignIn = (set: string) => () =>
  change(`update ceremonies set ${set} where txn_hash = ?`, digest(hosted.page.txn));

/** The user's sessions, newest first. */
async function sessionsOf(who = userid) {
  return rows<{ id: string; ended: string | null; device: string | null; fresh: string | null }>(
    world.app.services.db,
    `select s.id, s.end_reason as ended, s.device_id as device, s.fresh_at as fresh
     from sessions s join users u on u.id = s.user_id where u.email_key = ? order by s.created_at desc, s.id desc`,
    [who],
  );
}

const changes: readonly (readonly [what: string, change: () => Promise<unknown>, answer: object])[] = [
  [
    'its user is deactivated',
    () => change('update users set active = false where email_key = ?', userid),
    { status: 'OTP_NEEDED' },
  ],
  [
    'its user has a factor',
    () =>
      change(
        `insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
         select project_id, gen_random_uuid(), id, 'email', now(), now() from users where email_key = ?`,
        userid,
      ),
    { status: 'MFA_REQUIRED' },
  ],
  ['the device is revoked', ofDevice('revoked_at = now()'), { status: 'OTP_NEEDED' }],
  ['it is not trusted', ofDevice('trusted_until = null'), { status: 'OTP_NEEDED' }],
  ['it is an application’s', ofDevice('hosted = null, last_used_at = now()'), { status: 'OTP_NEEDED' }],
  [
    'it is of a custom domain',
    ofDevice(`domain = 'login.example.com', last_used_at = now()`),
    { status: 'OTP_NEEDED' },
  ],
  ['the nonce was used', ofSignIn(`nonce_hash = 'another'`), refusal('NONCE_REJECTED', 401)],
  ['the sign-in is finished', ofSignIn('finished_at = now()'), refusal('TRANSACTION_EXPIRED', 410)],
  ['the sign-in is an application’s', ofSignIn('request_id = null'), refusal('TRANSACTION_EXPIRED', 410)],
];

describe('a trusted device on the hosted page gets no session', () => {
  it.each(changes)('if %s', async (_, what, answer) => {
    await challenged();
    await what();
    expect(await byDevice()).toMatchObject(answer);
    expect(await givenNow(world)).toEqual([]);
  });

  it.each(changes)('if, between the two statements, %s', async (_, what, answer) => {
    await challenged();
    const seen = onceRead(world.app, 'trusted-device.facts', what);
    ({ release } = seen);
    expect(await byDevice()).toMatchObject(answer);
    expect(seen.count).toBe(1);
    expect(await givenNow(world)).toEqual([]);
  });

  it('alone if the request requires the person, a passkey or an account change', async () => {
    for (const [over, status] of [
      [{ prompt: 'login' }, 'OTP_NEEDED'],
      [{ acr_values: 'phr' }, 'OTP_NEEDED'],
    ] as const) {
      await challenged(over);
      expectStatus(await byDevice(), status);
    }
    await challenged();
    await change('update authorization_requests set adds_passkey = true where finished_at is null');
    expectStatus(await byDevice(), 'MFA_REQUIRED');
    expect(await givenNow(world)).toEqual([]);
  });
});

/** Changes a fact that decides nothing. */
const harmless: [what: string, facts: string, step: () => Promise<StepAnswer>, change: () => Promise<unknown>][] = [
  ['trusted device', 'trusted-device.facts', byDevice, ofDevice(`last_used_at = last_used_at - interval '1 ms'`)],
  [
    'passkey',
    'verified-passkey.facts',
    async () => {
      const { passkey_options: options } = await hosted.page.challenge({ passkey: true });
      const credential = hosted.authenticator.get(options, { origin: world.app.url });
      return hosted.page.step('verify-passkey', { credential });
    },
    ofSignIn(`nonce_hash = 'another'`),
  ],
];

it.each(harmless)('a sign-in by %s ends the same if the facts change meanwhile', async (_, facts, step, what) => {
  const outcomes = [];
  for (const when of ['never', 'between']) {
    await world.begin();
    await begin();
    await challenged();
    const seen = onceRead(world.app, facts, async () => when === 'between' && what());
    ({ release } = seen);
    const answer = await step();
    expectStatus(answer, 'SUCCESS');
    expect(seen.count).toBe(1);
    seen.release();
    const [status, body, left] = (await outcomeOf(world, answer)) as [number, { redirect_to: string }, unknown];
    outcomes.push([status, { ...body, redirect_to: '' }, left]);
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
});

describe('a trusted device on the hosted page', () => {
  it('gets one session for one proof in 40 concurrent requests', async () => {
    await challenged();
    const body = JSON.stringify({ txn: hosted.page.txn, userid });
    const headers = { 'Device-Proof': hosted.page.prove('authenticate', body, { kind: 'use' }) };
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => hosted.page.post('authenticate', body, headers)),
    );
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(await sessionsOf()).toHaveLength(2);
  });

  it('gets a new session after one that has expired, without freshness, and signs in at the application', async () => {
    await challenged();
    const statements = await statementsDuring(async () => {
      const done = expectStatus(await byDevice(), 'SUCCESS');
      hosted.keep(done);
    });
    expect(statements).toHaveLength(3);
    const [begun, expired] = await sessionsOf();
    expect(begun).toMatchObject({ ended: null, fresh: null, device: expired?.device });
    const back = await hosted.open().catch((error: unknown) => error);
    expect(String(back)).not.toContain('/signin');
  });

  it('replaces a live session of another user, whose end is recorded', async () => {
    const other = newAddress();
    const user = await world.user({ userName: other, userNameKey: other, email: other, emailKey: other });
    const to = await hosted.open();
    const { services, clock } = world.app;
    const [authTime, actor] = [clock.now(), { kind: 'anonymous' } as const];
    const live = { project: world.project, userId: user.id, amr: ['swk'], authTime, freshAt: authTime, actor };
    const { secret } = await services.db.transaction((em) => services.sessions.signIn(em, live));
    hosted.browser.cookies.set(`lk-session-${world.project.id}`, secret);
    await hosted.show(to);
    await hosted.page.challenge();
    expectStatus(await byDevice(), 'SUCCESS');
    expect(await sessionsOf(other)).toMatchObject([{ ended: 'replaced' }]);
    const ended = await rows(services.db, `select detail from audit_log where type = 'session.ended' and at = ?`, [
      authTime,
    ]);
    expect(ended).toEqual([{ detail: expect.objectContaining({ reason: 'replaced', userId: user.id }) }]);
    expect(await sessionsOf()).toHaveLength(2);
  });
});

it('a passkey renews the live session of its user, and proves it', async () => {
  await challenged();
  hosted.keep(expectStatus(await byDevice(), 'SUCCESS'));
  const [before] = await sessionsOf();
  world.app.clock.turn(60);
  await challenged({ prompt: 'login' });
  expectStatus(await hosted.usePasskey(), 'SUCCESS');
  const [after] = await sessionsOf();
  expect([after?.id, before?.fresh, new Date(after?.fresh ?? 0)]).toEqual([before?.id, null, world.app.clock.now()]);
});
