/** A passkey that a session allows for five minutes after its proof, and the page of the sign-ins that confirm a user. */
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser, type Visit } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { locationOf } from '../../test/browser.ts';
import type { TestApp } from '../../test/build-app.ts';
import { changed } from '../../test/rows.ts';
import { newDeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Ceremony } from '../domain/ceremonies/ceremony.entity.ts';
import { Passkey } from '../domain/credentials/passkey.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Session } from '../domain/sessions/session.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const { giveFactor, givePasskey, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();
const passkeysOf = ({ user }: Pick<RegisteredUser, 'user'>) => reader().find(Passkey, { user, revokedAt: null });

/** The hosted page that *Add a passkey* leads to, and the sign-in that it continues. */
async function adding(visit: Visit) {
  const to = locationOf(await visit.change('add-passkey'));
  expect(to.pathname).toBe('/signin');
  const flow = to.searchParams.get('flow') ?? '';
  const key = await newDeviceKey();
  const pageOf = ({ browser }: Visit) => {
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const now = () => Math.floor(app.clock.now().getTime() / 1000);
    return new SigninPage(app.url, { origin: app.url, flow, cookie }, key, now);
  };
  const page = pageOf(visit);
  return { page, resumed: await resume(page), pageOf, address: to.href };
}

async function resume(page: SigninPage) {
  const resumed = await page.post('resume', {});
  if (resumed['txn']) page.txn = resumed['txn'];
  return resumed;
}

async function create(page: SigninPage) {
  const offered = await page.step('passkey-options', { purpose: 'registration' });
  const { options } = offered;
  if (!options) return offered;
  return page.step('register-passkey', { credential: new SoftAuthenticator().create(options, { origin: app.url }) });
}

const expired = refusal('TRANSACTION_EXPIRED', 410);

describe('a passkey', () => {
  it('is added seconds after a full sign-in without another one, and the page leads back to its section', async () => {
    const { address, user, visit } = await registeredUser();
    const { page, resumed } = await adding(visit);
    expect(resumed).toMatchObject({
      status: 'PENDING',
      userid: address,
      jkt: '',
      prompt: { status: 'PASSKEY_OFFERED' },
    });
    const before = await reader().findOneOrFail(Session, { id: visit.sessionId });
    expectStatus(await create(page), 'PASSKEY_REGISTERED');
    expect(await passkeysOf({ user })).toMatchObject([{ userVerified: true }]);
    const back = locationOf(await visit.browser.get(resumed['prompt']['redirect_to']));
    const account = locationOf(await visit.browser.get(back.href));
    expect(`${account.pathname}${account.search}${account.hash}`).toBe(`/account?project=${world.project.id}#passkeys`);
    const after = await reader().findOneOrFail(Session, { id: visit.sessionId });
    expect([after.amr, after.freshAt, after.authTime, after.endedAt]).toEqual([
      before.amr,
      before.freshAt,
      before.authTime,
      null,
    ]);
    expect(await world.subjectsFor(address)).toContain('Passkeys changed for App');
  });

  it('is offered again after a reload, and once', async () => {
    const { user, visit } = await registeredUser();
    const { page, resumed } = await adding(visit);
    const again = await resume(page);
    expect(again['txn']).not.toBe(resumed['txn']);
    expectStatus(await create(page), 'PASSKEY_REGISTERED');
    expect(await resume(page)).toMatchObject({ status: 'NOTHING_PENDING' });
    expect(await create(page)).toMatchObject(expired);
    expect(await passkeysOf({ user })).toHaveLength(1);
  });

  it('needs a sign-in five minutes after the last proof, also if the offer was open before', async () => {
    const { user, visit } = await registeredUser();
    const { page } = await adding(visit);
    app.clock.turn(300);
    expect(await create(page)).toMatchObject(expired);
    const later = await adding(visit);
    expect(later.resumed).toMatchObject({ status: 'NOTHING_PENDING' });
    await later.page.challenge();
    const refused = await later.page.step('passkey-options', { purpose: 'registration' });
    expect(refused).toMatchObject(refusal('OUT_OF_ORDER', 409));
    expect(await passkeysOf({ user })).toEqual([]);
  });

  it.each<[string, (one: RegisteredUser) => Promise<Visit>]>([
    ['by a device key alone', ({ user, device }) => visitOf(user, ['swk'], device.id, 'device-key')],
    [
      'by a mail code, of a user with a factor',
      async ({ user }) => {
        await giveFactor(user);
        return visitOf(user, ['swk', 'otp']);
      },
    ],
    [
      'by the mailbox, of a user with a passkey',
      async ({ user }) => {
        await givePasskey(user);
        await giveFactor(user, 'email');
        return visitOf(user, ['swk', 'otp']);
      },
    ],
  ])('needs a sign-in in a session begun %s', async (_, visiting) => {
    const one = await registeredUser();
    const { page, resumed } = await adding(await visiting(one));
    expect(resumed).toMatchObject({ status: 'NOTHING_PENDING' });
    await page.challenge();
    expect(await page.step('passkey-options', { purpose: 'registration' })).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });

  it.each<[string, (one: RegisteredUser, page: SigninPage) => Promise<unknown>]>([
    ['has ended', ({ visit }) => visit.change('end-session', { id: visit.sessionId })],
    ['was revoked with its device', ({ device, visit }) => visit.change('revoke-device', { id: device.id })],
    [
      'belongs to a deactivated user',
      ({ user }) => app.services.accounts.setActive(world.project.id, user.id, false, system),
    ],
    [
      'is fresh no longer because the user got a factor meanwhile',
      async ({ user }) => {
        await giveFactor(user);
      },
    ],
  ])('is not added under a session that %s', async (_, happens) => {
    const one = await registeredUser();
    const { page } = await adding(one.visit);
    const { options } = await page.step('passkey-options', { purpose: 'registration' });
    await happens(one, page);
    const credential = new SoftAuthenticator().create(options, { origin: app.url });
    expect(await page.step('register-passkey', { credential })).toMatchObject({ status: 'ERROR' });
    expect(await passkeysOf(one)).toEqual([]);
  });

  it('is not added by a browser that holds the flow, but another session: another user’s, a newer one or none', async () => {
    const one = await registeredUser();
    const other = await registeredUser();
    const newer = await visitOf(one.user, ['swk', 'otp']);
    const secrets = [other.visit, newer].map(({ browser }) => browser.cookies.get(`lk-session-${world.project.id}`));
    for (const secret of [...secrets, undefined]) {
      const visit = await visitOf(one.user, ['swk', 'otp']);
      const { page: own, pageOf } = await adding(visit);
      visit.browser.cookies.set(`lk-session-${world.project.id}`, secret ?? '');
      const page = pageOf(visit);
      page.txn = own.txn;
      expect(await page.step('passkey-options', { purpose: 'registration' })).toMatchObject(expired);
      expect(await resume(page)).toMatchObject({ status: 'NOTHING_PENDING' });
    }
    expect(await passkeysOf(one)).toEqual([]);
  });

  it('is not added to the offer after a full sign-in by a later session of the device key alone', async () => {
    const one = await registeredUser();
    app.clock.turn(300);
    const { page, pageOf } = await adding(one.visit);
    await page.challenge();
    await world.verifyAddress(page, one.address);
    const done = await page.step('verify-device', { userid: one.address }, 'registration');
    expect(done).toMatchObject({ status: 'SUCCESS' });
    for (const line of done.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      one.visit.browser.cookies.set(name, value);
    }
    const later = await visitOf(one.user, ['swk'], one.device.id, 'device-key');
    const cookie = `lk-session-${world.project.id}`;
    const own = one.visit.browser.cookies.get(cookie) ?? '';
    one.visit.browser.cookies.set(cookie, later.browser.cookies.get(cookie) ?? '');
    const stranger = pageOf(one.visit);
    stranger.txn = page.txn;
    expect(await create(stranger)).toMatchObject(expired);
    expect(await resume(stranger)).toMatchObject({ status: 'NOTHING_PENDING' });
    one.visit.browser.cookies.set(cookie, own);
    const person = pageOf(one.visit);
    expect(await resume(person)).toMatchObject({ prompt: { status: 'PASSKEY_OFFERED' } });
    expectStatus(await create(person), 'PASSKEY_REGISTERED');
    expect(await passkeysOf(one)).toHaveLength(1);
  });

  it('is added once by two hundred answers to one offer', async () => {
    const one = await registeredUser();
    const { page } = await adding(one.visit);
    const { options } = await page.step('passkey-options', { purpose: 'registration' });
    const { txn } = page;
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => {
        page.txn = txn;
        return page.step('register-passkey', {
          credential: new SoftAuthenticator().create(options, { origin: app.url }),
        });
      }),
    );
    expect(answers.filter(({ status }) => status === 'PASSKEY_REGISTERED')).toHaveLength(1);
    expect(await passkeysOf(one)).toHaveLength(1);
  });

  it('ends no sign-in by the session: its offer allows no other step', async () => {
    const { address, visit } = await registeredUser();
    const { page } = await adding(visit);
    for (const [step, fields, proof] of [
      ['authenticate', { userid: address }, 'use'],
      ['verify-device', { userid: address }, 'registration'],
      ['verify-mfa', { userid: address, otp: '000000' }, 'use'],
      ['change-phone-number', { userid: address, phone_number: '+4917066000001' }, 'use'],
      ['passkey-options', { purpose: 'sign_in' }, undefined],
    ] as const) {
      expect(await page.step(step, fields, proof)).toMatchObject({ status: 'ERROR' });
    }
    expect(await reader().count(Ceremony, { project: world.project.id, finishedAt: { $ne: null } })).toBe(0);
  });

  it('is no longer offered once the session has ended or passkeys are off: the page asks, or continues', async () => {
    const { user, visit, device } = await registeredUser();
    const { resumed, pageOf, address: at } = await adding(visit);
    expect(resumed).toMatchObject({ prompt: { status: 'PASSKEY_OFFERED' } });
    await visit.change('end-session', { id: visit.sessionId });
    const later = pageOf(visit);
    expect(await resume(later)).toMatchObject({ status: 'NOTHING_PENDING' });
    expect((await visit.browser.get(at)).status).toBe(200);
    const another = await visitOf(user, ['swk'], device.id, 'device-key');
    for (const [name, value] of visit.browser.cookies)
      if (name.startsWith('lk-flow-')) another.browser.cookies.set(name, value);
    expect(await resume(pageOf(another))).toMatchObject({ status: 'NOTHING_PENDING' });
    const fresh = await visitOf(user, ['swk', 'otp']);
    const second = await adding(fresh);
    await world.set({ passkeyPolicy: 'off' });
    expect(await resume(second.page)).toMatchObject({ status: 'NOTHING_PENDING' });
    expect(locationOf(await fresh.browser.get(second.address)).pathname).toBe('/authorize/resume');
    expect(await passkeysOf({ user })).toEqual([]);
  });

  it('needs a sign-in where its application accepts only sessions by passkey', async () => {
    const { user } = await registeredUser();
    await changed(app.services.db, 'update clients set passkey_required = true where id = ?', [world.client.id]);
    expect((await adding(await visitOf(user, ['swk', 'otp']))).resumed).toMatchObject({ status: 'NOTHING_PENDING' });
    const { resumed } = await adding(await visitOf(user, ['hwk', 'user', 'pop', 'mfa']));
    expect(resumed).toMatchObject({ prompt: { status: 'PASSKEY_OFFERED' } });
  });
});

describe('the page of a confirmation', () => {
  it.each([
    ['add-passkey', 'Sign in once more to add a passkey.'],
    ['add-authenticator', 'Sign in once more to add an authenticator app.'],
    ['confirm', 'Sign in once more to change your account.'],
  ])('has a title and a text for its purpose: %s', async (change, text) => {
    const { visit } = await registeredUser();
    app.clock.turn(300);
    const page = await (await visit.browser.get(locationOf(await visit.change(change)).href)).text();
    expect(page).toContain('<title>Confirm it’s you</title>');
    expect(page).toMatch(/<h1 id="address-title"[^>]*>Confirm it’s you<\/h1>/);
    expect(page).toContain(text);
    expect(page).toContain('Continue to your account');
    expect(page).not.toContain('Sign in to ');
  });

  it('leads back to the section that the user came from, and to no other place', async () => {
    const { visit } = await registeredUser();
    for (const [state, to] of [
      [`${world.project.id} email`, `?project=${world.project.id}#email`],
      [`${world.project.id} evil`, `?project=${world.project.id}`],
      [`${world.project.id} email//evil.example`, `?project=${world.project.id}`],
    ]) {
      const query = new URLSearchParams({ state: state ?? '' });
      const back = locationOf(await visit.browser.get(`${app.url}/account/confirmed?${query}`));
      expect(`${back.origin}${back.pathname}${back.search}${back.hash}`).toBe(`${app.url}/account${to}`);
    }
  });
});
