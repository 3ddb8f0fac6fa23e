import { describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { expectStatus, newAddress, refusal } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const services = () => world.app.services;

/** Who signs in at the provider. */
function person(values: Record<string, unknown> = {}): string {
  const email = newAddress();
  Object.assign(own.provider.person, { email, ...values });
  return String(own.provider.person['email']);
}

const pageOf = async (browser: HostedBrowser, to: URL) => (await browser.browser.get(to.href)).text();

/** Continues the sign-in that the callback has begun, as the page does. */
async function resume(browser: HostedBrowser, userid: string) {
  const { page } = browser;
  await page.challenge();
  const resumed = await page.post('resume', {});
  page.txn = resumed['txn'];
  expect(resumed).toMatchObject({ status: 'PENDING', userid, remember_device: false });
  return resumed;
}

describe('a user with a linked identity', () => {
  it('signs in as the same user each time, by the subject', async () => {
    const email = person({ given_name: 'Ada', family_name: 'Lovelace', locale: 'de', amr: ['pwd', 'mfa'] });
    const first = await own.signIn();
    expect(first).toMatchObject({ amr: ['fed', 'pwd'] });
    expect(await world.findUser(email)).toMatchObject({
      ...{ givenName: 'Ada', familyName: 'Lovelace', provenance: 'local' },
      attributes: { locale: 'de' },
    });
    // Another address at the provider, also one of another user here, is the same account.
    const other = await world.user();
    own.provider.person['email'] = other.email;
    expect((await own.signIn())['sub']).toBe(first['sub']);
    expect(await own.identities()).toEqual([[first['sub'], own.provider.person['sub']]]);
    expect(await world.events()).toEqual(expect.arrayContaining(['user.created', 'identity.linked', 'user.signed_in']));
  });

  it('keeps the profile of the first sign-in, unless the connection refreshes it', async () => {
    const email = person({ given_name: 'Ada' });
    await own.signIn();
    own.provider.person['given_name'] = 'Augusta';
    await own.signIn();
    expect(await world.findUser(email)).toMatchObject({ givenName: 'Ada' });
    await services().connections.update(own.connection, { refreshesProfile: true }, system);
    await own.signIn();
    expect(await world.findUser(email)).toMatchObject({ givenName: 'Augusta' });
  });

  it('gets a session without a device, and no trusted browser', async () => {
    const email = person();
    const browser = await own.browser();
    const to = await own.through(browser);
    expect(to.pathname).toBe('/authorize/resume');
    const user = await world.findUser(email);
    const devices = await services().devices.list(services().db.reader(), {
      projectId: world.project.id,
      userId: user?.id ?? '',
    });
    expect(devices).toEqual([]);
  });

  it('is asked for the second factor that they have', async () => {
    const email = person();
    await own.signIn();
    await world.set({ mfaPolicy: 'optional' });
    const { secret } = await world.enrolTotp(await world.page(), email);
    const browser = await own.browser();
    const to = await own.through(browser);
    expect(to.pathname).toBe('/signin');
    expect(await own.sessions()).toBe(1);
    await resume(browser, email);
    const { page } = browser;
    const userid = email;
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    const asked = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use');
    const done = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(await browser.claims(expectStatus(done, 'SUCCESS'))).toMatchObject({ amr: ['fed', 'swk', 'otp', 'mfa'] });
    // The browser is not trusted: the next sign-in by address needs a code.
    world.app.clock.turn(60);
    await browser.open({ prompt: 'login' });
    await page.challenge();
    const next = new (page.constructor as typeof import('../../test/signin-browser.ts').SigninPage)(
      world.app.url,
      {
        origin: world.app.url,
        flow: browser.flow,
        cookie: [...browser.browser.cookies].map((one) => one.join('=')).join('; '),
      },
      page.key,
      page.now,
    );
    await next.challenge();
    expectStatus(await next.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('sets up a second factor where the project requires one', async () => {
    await world.set({ mfaPolicy: 'required' });
    const email = person();
    const browser = await own.browser();
    expect((await own.through(browser)).pathname).toBe('/signin');
    expect(await own.sessions()).toBe(0);
    await resume(browser, email);
    expectStatus(await browser.page.step('verify-device', { userid: email }, 'registration'), 'MFA_ENROLLMENT_NEEDED');
  });

  it.each([
    ['disabled', () => services().connections.setState(own.connection, 'disabled', system)],
    ['changed', () => services().connections.update(own.connection, { oidc: { scopes: ['openid'] } }, system)],
    ['deleted', () => services().connections.remove(own.connection, system)],
  ])('is refused after the second factor if the connection was %s in the meantime', async (_, change) => {
    const email = person();
    await own.signIn();
    await world.set({ mfaPolicy: 'optional' });
    const { secret } = await world.enrolTotp(await world.page(), email);
    const browser = await own.browser();
    await own.through(browser);
    await resume(browser, email);
    const { page } = browser;
    const userid = email;
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    const asked = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await page.step('initiate-mfa', { userid, session_id: asked['session_id'] }, 'use');
    await change();
    const done = await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use');
    expect(done).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(await own.sessions()).toBe(1);
  });

  it('creates a passkey where one is required, after a code if the provider does not say when they signed in', async () => {
    await world.set({ passkeyPolicy: 'required' });
    const email = person();
    const browser = await own.browser();
    expect((await own.through(browser)).pathname).toBe('/signin');
    await resume(browser, email);
    const { page } = browser;
    expectStatus(await page.step('verify-device', { userid: email }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await page.step('authenticate', { userid: email }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(email);
    expectStatus(await page.step('verify-email-otp', { userid: email, otp }), 'SUCCESS');
    const next = await page.step('verify-device', { userid: email }, 'registration');
    expectStatus(next, 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await own.sessions()).toBe(0);
  });
});

describe('a fresh sign-in', () => {
  it('is asked of the provider, and counts only by its auth_time', async () => {
    const email = person();
    await own.signIn();
    const browser = await own.browser({ prompt: 'login' });
    const to = await own.start(browser);
    expect(to.searchParams.get('prompt')).toBe('login');
    expect(to.searchParams.get('max_age')).toBe('0');
    // It does not say, or says that the person signed in before.
    const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
    for (const time of [undefined, now() - 300, now() + 3600, String(now())]) {
      own.provider.lies = { claims: { auth_time: time } };
      expect((await own.through(browser)).pathname).toBe('/signin');
    }
    await resume(browser, email);
    expectStatus(await browser.page.step('verify-device', { userid: email }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await browser.page.step('authenticate', { userid: email }, 'use'), 'OTP_NEEDED');
    own.provider.lies = { claims: { auth_time: now() } };
    expect((await own.through(browser)).pathname).toBe('/authorize/resume');
  });

  it('is not asked otherwise, and auth_time is that of the provider', async () => {
    person();
    const browser = await own.browser();
    const to = await own.start(browser);
    expect([to.searchParams.get('prompt'), to.searchParams.get('max_age')]).toEqual([null, null]);
    const earlier = Math.floor(world.app.clock.now().getTime() / 1000) - 7200;
    own.provider.lies = { claims: { auth_time: earlier } };
    expect(await own.signIn()).toMatchObject({ auth_time: earlier });
  });
});

describe('an unknown person', () => {
  it('whose address has an account here proves it by a code, and is linked then', async () => {
    const user = await world.user();
    const email = person({ email: String(user.email).toUpperCase() });
    const browser = await own.browser();
    const to = await own.through(browser);
    expect(to.pathname).toBe('/signin');
    const text = await pageOf(browser, to);
    expect(text).toContain('Connect Upstream');
    expect(text).toContain(`value="${email}"`);
    expect(await own.identities()).toEqual([]);
    const done = await world.register(browser.page, String(user.email));
    expect(await browser.claims(expectStatus(done, 'SUCCESS'))).toMatchObject({ sub: user.id });
    expect(await own.identities()).toEqual([[user.id, own.provider.person['sub']]]);
    expect((await own.signIn())['sub']).toBe(user.id);
  });

  it('is not linked by a trusted browser alone', async () => {
    const browser = await own.browser();
    const email = newAddress();
    await browser.register(email);
    world.app.clock.turn(60);
    person({ email });
    // Signed out; the browser stays trusted.
    for (const name of browser.browser.cookies.keys())
      if (name.includes('session')) browser.browser.cookies.delete(name);
    await browser.open();
    await own.through(browser);
    await browser.page.challenge();
    expectStatus(await browser.page.step('authenticate', { userid: email }, 'use'), 'OTP_NEEDED');
    expect(await own.identities()).toEqual([]);
  });

  it('is not linked once the settings that verified the answer have changed', async () => {
    const user = await world.user();
    person({ email: String(user.email) });
    const browser = await own.browser();
    await own.through(browser);
    await services().connections.update(own.connection, { oidc: { scopes: ['openid'] } }, system);
    const done = expectStatus(await world.register(browser.page, String(user.email)), 'SUCCESS');
    expect(await browser.claims(done)).toMatchObject({ sub: user.id });
    expect(await own.identities()).toEqual([]);
  });

  it('is not linked to an account with another address', async () => {
    person({ email: String((await world.user()).email) });
    const other = await world.user();
    const browser = await own.browser();
    await own.through(browser);
    const done = expectStatus(await world.register(browser.page, String(other.email)), 'SUCCESS');
    expect(await browser.claims(done)).toMatchObject({ sub: other.id });
    expect(await own.identities()).toEqual([]);
  });

  it.each([
    ['that the provider does not verify', { email_verified: false }],
    ['with a text instead of a boolean', { email_verified: 'true' }],
    ['without `email_verified`', { email_verified: undefined }],
  ])('with an address %s proves it here, before there is an account', async (_, values) => {
    const email = person();
    own.provider.lies = { claims: values };
    const browser = await own.browser();
    expect((await own.through(browser)).pathname).toBe('/signin');
    expect(await world.findUser(email)).toBeNull();
    const done = expectStatus(await world.register(browser.page, email), 'SUCCESS');
    expect((await own.identities()).map(([id]) => id)).toEqual([(await browser.claims(done))['sub']]);
  });

  it('without an address proves the one that they type', async () => {
    person({ email: undefined });
    own.provider.lies = { userInfo: { sub: own.provider.person['sub'] } };
    const browser = await own.browser();
    await own.through(browser);
    const email = newAddress();
    expectStatus(await world.register(browser.page, email), 'SUCCESS');
    expect((await own.identities()).map(([id]) => id)).toEqual([(await world.findUser(email))?.id]);
  });

  it.each([
    ['no accounts are created by the connection', {}, { jit: false }],
    ['only directories create users', { signUp: 'provisioned_only' }, {}],
    ['the domain is blocked', { blockedSignUpDomains: ['example.com'] }, {}],
  ] as const)('is refused where %s', async (_, project, connection) => {
    await world.set(project as never);
    await services().connections.update(own.connection, connection, system);
    const email = person();
    const browser = await own.browser();
    const to = await own.through(browser);
    expect(to.searchParams.get('connect')).toBe('no-account');
    expect(await pageOf(browser, to)).toContain('That account is not connected to an account here');
    expect(await world.findUser(email)).toBeNull();
    expect(await own.identities()).toEqual([]);
    expect(await own.sessions()).toBe(0);
  });

  it('waits for an admin where sign-ups need approval', async () => {
    await world.set({ signUp: 'approval' });
    const email = person();
    const browser = await own.browser();
    expect((await own.through(browser)).searchParams.get('connect')).toBe('approval');
    expect(await world.findUser(email)).toBeNull();
    const requests = await services()
      .db.reader()
      .execute('select address from sign_up_requests where project_id = ?', [world.project.id]);
    expect(requests).toEqual([{ address: email }]);
  });

  it('in two windows at once is one user with one identity', async () => {
    person();
    const windows = await Promise.all([own.browser(), own.browser(), own.browser()]);
    const backs: URL[] = [];
    for (const window of windows) backs.push(own.provider.agree(await own.start(window)));
    const ends = await Promise.all(windows.map((window, index) => window.browser.get(String(backs[index]))));
    for (const end of ends) expect(locationOf(end).pathname).toBe('/authorize/resume');
    expect(await own.identities()).toHaveLength(1);
  });
});

it('the page of a change on the account page, and of a setup link, offers no connection', async () => {
  const browser = await own.browser();
  const text = await (await browser.browser.get(`${world.app.url}/signin?flow=${browser.flow}`)).text();
  expect(text).toContain(`href="/connect/${own.connection.id}/start?flow=${browser.flow}"`);
  expect(text).toContain('Continue with Upstream');
});
