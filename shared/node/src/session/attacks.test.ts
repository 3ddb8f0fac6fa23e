import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { application, origin, secret, settings, type TestApplication, TestBrowser } from '../../test/application.ts';
import { makeKey, startProvider, type TestProvider } from '../../test/provider.ts';
import type { LatchkeyOptions } from '../app/options.ts';
import { MemoryReplayStore } from '../replay-store.ts';
import { MemorySessionRevocations } from './revocations.ts';

/** Attacks on sign-in, session and logout of an application that are not in session-cookie.test.ts. */

let provider: TestProvider;
let errors: unknown[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-07-01T08:00:00Z') });
  provider = await startProvider();
  errors = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await provider.close();
});

const open = (more: Partial<LatchkeyOptions> = {}) => {
  const own = { replayStore: new MemoryReplayStore(), onError: (error: unknown) => void errors.push(error) };
  return application('Fetch', { ...settings(provider), ...own, ...more });
};

async function signedIn(more: Partial<LatchkeyOptions> = {}, claims: Record<string, unknown> = {}) {
  const app = await open(more);
  const browser = new TestBrowser(app);
  const response = await browser.signIn(provider, claims);
  return { app, browser, response };
}

const turn = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const statusOf = async (browser: TestBrowser) => (await browser.script('/account')).status;
const subOf = async (browser: TestBrowser) =>
  ((await (await browser.script('/account')).json()) as { sub?: string }).sub;

/** Begins a sign-in, and returns parameters of its authorization request. */
async function begun(browser: TestBrowser): Promise<{ nonce: string; state: string; code_challenge: string }> {
  const asked = new URL((await browser.visit('/auth/login')).headers.get('location') ?? '').searchParams;
  const { nonce = '', state = '', code_challenge = '' } = Object.fromEntries(asked);
  return { nonce, state, code_challenge };
}

const back = (browser: TestBrowser, response: Record<string, string>) =>
  browser.visit(`/auth/callback?${new URLSearchParams({ code: 'c', iss: provider.url, ...response })}`);

const deliver = async (app: TestApplication, token: string) => {
  const body = new URLSearchParams({ logout_token: token });
  return (await app.send('/auth/backchannel-logout', { method: 'POST', body })).status;
};

describe('the cookie of another application with the same secret', () => {
  it('does not open at another issuer, which has its own users', async () => {
    const { browser } = await signedIn();
    const other = await startProvider();
    const app = await application('Fetch', settings(other));
    const thief = new TestBrowser(app);
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect(await statusOf(thief)).toBe(401);
    await other.close();
  });

  it('does not open under the name of another cookie', async () => {
    const { browser } = await signedIn();
    const local = new TestBrowser(await open({ redirectUri: 'http://localhost:3001/auth/callback' }));
    const [name = '', value = ''] = browser.session ?? [];
    local.cookies.set(name.replace('__Host-', ''), value);
    expect(await statusOf(local)).toBe(401);
  });
});

describe('session fixation', () => {
  it('gives the victim a new session, and ends the planted one', async () => {
    const { app, browser: attacker } = await signedIn({}, { sub: 'attacker' });
    const victim = new TestBrowser(app);
    for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
    await victim.signIn(provider, { sub: 'victim' }, '/auth/login');
    expect([await subOf(victim), await statusOf(attacker)]).toEqual(['victim', 401]);
  });

  it('does not plant the attacker’s sign-in in another browser (login CSRF)', async () => {
    const app = await open();
    const [attacker, victim] = [new TestBrowser(app), new TestBrowser(app)];
    const { nonce, state } = await begun(attacker);
    await begun(victim);
    provider.nextIdToken = await provider.idToken({ nonce, sub: 'attacker' });
    expect((await back(victim, { state })).status).toBe(400);
    expect([victim.session, provider.requests]).toEqual([undefined, []]);
  });
});

describe('mix-up of sign-ins', () => {
  it('sends each code with the verifier of its own sign-in, in any order', async () => {
    const browser = new TestBrowser(await open());
    const [first, second] = [await begun(browser), await begun(browser)];
    for (const { nonce, state } of [second, first]) {
      provider.nextIdToken = await provider.idToken({ nonce });
      expect((await back(browser, { state })).status).toBe(303);
    }
    const challenges = provider.requests.map(({ form }) =>
      createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url'),
    );
    expect(challenges).toEqual([second.code_challenge, first.code_challenge]);
  });

  it('refuses the ID token of another sign-in of the same browser', async () => {
    const browser = new TestBrowser(await open());
    const [first, second] = [await begun(browser), await begun(browser)];
    provider.nextIdToken = await provider.idToken({ nonce: first.nonce });
    expect((await back(browser, { state: second.state })).status).not.toBe(303);
    expect(errors).toMatchObject([{ code: 'NONCE_MISMATCH' }]);
    expect(browser.session).toBeUndefined();
    expect((await back(browser, { state: first.state })).status).toBe(303);
  });

  it('refuses an ID token without a nonce', async () => {
    const browser = new TestBrowser(await open());
    provider.nextIdToken = await provider.idToken();
    expect((await back(browser, { state: (await begun(browser)).state })).status).not.toBe(303);
    expect(browser.session).toBeUndefined();
  });

  it.each([
    ['of another issuer', { iss: 'https://evil.example.com' }],
    ['without an issuer', { iss: '' }],
    ['of another issuer, with an error', { iss: 'https://evil.example.com', error: 'access_denied' }],
  ])('refuses a response %s (RFC 9207), and sends its code nowhere', async (_, response) => {
    const browser = new TestBrowser(await open());
    const { state } = await begun(browser);
    expect((await back(browser, { ...response, state })).status).toBe(400);
    expect(provider.requests).toEqual([]);
  });

  it('refuses the ID token of another client, issuer or key', async () => {
    const other = await makeKey('ES512');
    const browser = new TestBrowser(await open());
    for (const [claims, key] of [
      [{ aud: 'another-client' }, provider.key],
      [{ iss: 'https://evil.example.com' }, provider.key],
      [{}, { ...other, kid: provider.key.kid }],
    ] as const) {
      const { nonce, state } = await begun(browser);
      provider.nextIdToken = await provider.idToken({ nonce, ...claims }, {}, key);
      expect((await back(browser, { state })).status).not.toBe(303);
    }
    expect(browser.session).toBeUndefined();
    expect(errors).toMatchObject([
      { code: 'AUDIENCE_MISMATCH' },
      { code: 'ISSUER_MISMATCH' },
      { code: 'SIGNATURE_INVALID' },
    ]);
  });

  it('returns to this site only, even with an altered cookie of the sign-in', async () => {
    const browser = new TestBrowser(await open());
    const { nonce, state } = await begun(browser);
    const [[name, value] = ['', '']] = [...browser.cookies];
    const altered = JSON.parse(Buffer.from(value, 'base64url').toString()) as object;
    const evil = JSON.stringify({ ...altered, returnTo: '//evil.example.com' });
    browser.cookies.set(name, Buffer.from(evil).toString('base64url'));
    provider.nextIdToken = await provider.idToken({ nonce });
    expect((await back(browser, { state })).headers.get('location')).toBe('/');
  });
});

describe('a step-up of a user who alters the cookie of the sign-in', () => {
  it('ends in a session that does not pass requireSession', async () => {
    const browser = new TestBrowser(await open());
    const asked = (await browser.visit('/auth/login?acr_values=phr&max_age=300')).headers.get('location') ?? '';
    const { nonce, state = '' } = Object.fromEntries(new URL(asked).searchParams);
    const [name = '', value = ''] = [...browser.cookies].find(([one]) => one.includes(state.slice(0, 10))) ?? [];
    const { acrValues, maxAgeSeconds, ...rest } = JSON.parse(Buffer.from(value, 'base64url').toString());
    expect([acrValues, maxAgeSeconds]).toEqual([['phr'], 300]);
    provider.nextIdToken = await provider.idToken({ nonce, acr: 'urn:service:pwdless:v1', auth_time: 1 });
    const honest = browser.copy();
    expect((await back(honest, { state })).status).toBe(401);
    browser.cookies.set(name, Buffer.from(JSON.stringify(rest)).toString('base64url'));
    expect((await back(browser, { state })).status).toBe(303);
    expect([(await browser.script('/account')).status, (await browser.script('/admin')).status]).toEqual([200, 401]);
  });
});

describe('a sign-in by a device key alone, which renews auth_time without the user', () => {
  const byDeviceKey = () => ({ amr: ['swk'], auth_time: Math.floor(Date.now() / 1000) });
  const byCode = () => ({ ...byDeviceKey(), amr: ['swk', 'otp'] });
  const login = '/auth/login?max_age=300';
  const askedBy = (response: Response) => {
    const { searchParams } = new URL(response.headers.get('location') ?? '', origin);
    return [response.status, searchParams.get('max_age'), searchParams.get('prompt')];
  };
  const fresh = async (browser: TestBrowser) => (await browser.script('/fresh')).status;

  it('does not meet maxAgeSeconds', async () => {
    const { browser } = await signedIn({}, byDeviceKey());
    const refused = await browser.script('/fresh');
    expect([refused.status, await refused.json()]).toEqual([401, { error: 'insufficient_user_authentication', login }]);
    expect(askedBy(await browser.visit('/fresh'))).toEqual([303, '300', null]);
    expect(await statusOf(browser)).toBe(200);
  });

  it('of a page with the browser SDK does not either', async () => {
    const browser = new TestBrowser(await open());
    const signIn = async (claims: Record<string, unknown>) => {
      provider.nextIdToken = await provider.idToken(claims);
      const headers = { 'Content-Type': 'application/json' };
      await browser.script('/auth/sign-in', { method: 'POST', headers, body: '{"code":"c"}' });
      return fresh(browser);
    };
    expect([await signIn(byDeviceKey()), await signIn(byCode())]).toEqual([401, 200]);
  });

  it('does not extend an earlier proof', async () => {
    const { browser } = await signedIn({}, byCode());
    expect(await fresh(browser)).toBe(200);
    turn(301);
    await browser.signIn(provider, byDeviceKey(), '/auth/login');
    expect(await fresh(browser)).toBe(401);
  });

  it('asks for the user again if it is the response to max_age, and then passes', async () => {
    const { browser } = await signedIn({}, byDeviceKey());
    const earlier = browser.session;
    const again = await browser.signIn(provider, byDeviceKey(), '/fresh');
    expect(askedBy(again)).toEqual([303, '300', 'login']);
    expect(browser.session).toEqual(earlier);
    const { nonce, state = '' } = Object.fromEntries(new URL(again.headers.get('location') ?? '').searchParams);
    provider.nextIdToken = await provider.idToken({ nonce, ...byCode() });
    expect((await back(browser, { state })).headers.get('location')).toBe('/fresh');
    expect((await browser.visit('/fresh')).status).toBe(200);
  });

  it('asks again in the organization of the sign-in', async () => {
    const { browser } = await signedIn({}, byDeviceKey());
    const again = await browser.signIn(provider, byDeviceKey(), `${login}&organization=globex`);
    expect(askedBy(again)).toEqual([303, '300', 'login']);
    expect(new URL(again.headers.get('location') ?? '').searchParams.get('organization')).toBe('globex');
  });

  it('is refused if it responds to that, too, as with parameters removed from the URL', async () => {
    const { browser } = await signedIn({}, byDeviceKey());
    const again = await browser.signIn(provider, byDeviceKey(), '/fresh');
    const { nonce, state = '' } = Object.fromEntries(new URL(again.headers.get('location') ?? '').searchParams);
    provider.nextIdToken = await provider.idToken({ nonce, ...byDeviceKey() });
    expect((await back(browser, { state })).status).toBe(401);
    expect(errors).toMatchObject([{ code: 'SIGN_IN_REFUSED', error: 'unmet_authentication_requirements' }]);
    expect(await fresh(browser)).toBe(401);
  });

  it.each([
    ['swk', 'otp'],
    ['swk', 'sms', 'mfa'],
    ['hwk', 'user', 'pop', 'mfa'],
  ])('is not one with %s %s', async (...amr) => {
    const { browser } = await signedIn({}, { ...byDeviceKey(), amr });
    expect(await fresh(browser)).toBe(200);
    turn(301);
    expect(await fresh(browser)).toBe(401);
    await browser.signIn(provider, { ...byDeviceKey(), amr }, '/fresh');
    expect(await fresh(browser)).toBe(200);
  });

  it('is one with a passkey that was only touched', async () => {
    const { browser } = await signedIn({}, { ...byDeviceKey(), amr: ['swk', 'user', 'pop'] });
    expect(await fresh(browser)).toBe(401);
  });
});

describe('sign-out by another site', () => {
  it.each([
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://evil.example.com' }],
    ['a form of an opaque origin', { 'Content-Type': 'text/plain', Origin: 'null' }],
    ['a form of a sandboxed frame', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
    ['a request without an origin', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sibling without an origin', { 'Sec-Fetch-Site': 'same-site' }],
    ['another port', { Origin: `${origin}:8443` }],
  ])('is refused: %s', async (_, headers) => {
    const { app, browser } = await signedIn();
    const [name, value] = browser.session ?? [];
    const cookie = `${name}=${value}`;
    const sent = await app.send('/auth/sign-out', { method: 'POST', headers: { ...headers, cookie } as never });
    expect([sent.status, sent.headers.getSetCookie()]).toEqual([403, []]);
    expect(await statusOf(browser)).toBe(200);
  });

  it('is refused by GET, such as the request of an image', async () => {
    const { browser } = await signedIn();
    expect((await browser.visit('/auth/sign-out')).status).toBe(405);
    expect(await statusOf(browser)).toBe(200);
  });
});

describe('a WebSocket, which SameSite and CORS leave open to siblings', () => {
  it.each([
    ['of a sibling', { Origin: 'https://evil.app.example.com' }, 403],
    ['without an origin', {}, 403],
    ['of its own page', { Origin: origin }, 200],
  ])('%s', async (_, headers, status) => {
    const { browser } = await signedIn();
    const opened = await browser.script('/account', { headers: { ...headers, Upgrade: 'WebSocket' } as never });
    expect(opened.status).toBe(status);
  });
});

describe('a logout token', () => {
  it('ends no later session when it is replayed, even after the store of used tokens is lost', async () => {
    const revocations = new MemorySessionRevocations();
    const session = { secret, revocations };
    const { app, browser } = await signedIn({ session });
    const token = await provider.logoutToken();
    expect(await deliver(app, token)).toBe(200);
    expect(await statusOf(browser)).toBe(401);
    turn(30);
    await browser.signIn(provider);
    expect(await deliver(app, token)).toBe(200);
    const restarted = await open({ session });
    expect(await deliver(restarted, token)).toBe(200);
    expect(await statusOf(browser)).toBe(200);
  });

  it('is used once by concurrent deliveries', async () => {
    const revocations = new MemorySessionRevocations();
    const revoke = vi.spyOn(revocations, 'revoke');
    const { app, browser } = await signedIn({ session: { secret, revocations } }, { sid: 's-1' });
    const token = await provider.logoutToken({ sid: 's-1' });
    const statuses = await Promise.all(Array.from({ length: 20 }, () => deliver(app, token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(revoke).toHaveBeenCalledTimes(1);
    expect(await statusOf(browser)).toBe(401);
  });

  it('ends nothing if it is not one of this client', async () => {
    const { app, browser } = await signedIn({}, { sid: 's-1' });
    const stranger = await makeKey('ES512');
    const own = provider.key;
    const tokens = [
      await provider.logoutToken({ aud: 'another-client' }),
      await provider.logoutToken({ iss: 'https://evil.example.com' }),
      await provider.logoutToken({ exp: Math.floor(Date.now() / 1000) - 5 }),
      await provider.logoutToken({ nonce: 'n' }),
      await provider.logoutToken({ events: {} }),
      await provider.logoutToken({ sub: undefined }),
      await provider.logoutToken({}, { typ: 'JWT' }),
      // An ID token of this user, which a page could have.
      await provider.idToken({ sid: 's-1' }),
    ];
    provider.key = { ...stranger, kid: own.kid };
    tokens.push(await provider.logoutToken());
    provider.key = own;
    const [, payload] = (await provider.logoutToken()).split('.');
    tokens.push(`${Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url')}.${payload}.`, '', 'a.b.c');
    for (const token of tokens) expect(await deliver(app, token), token).toBe(400);
    expect(await statusOf(browser)).toBe(200);
  });
});

describe('a delayed attempt to deliver a global logout', () => {
  const now = () => Math.floor(Date.now() / 1000);

  it.each<[string, number | undefined, number]>([
    ['keeps sessions that began after its toe', -50, 200],
    ['ends all until its iat without toe', undefined, 401],
    ['ends all until its iat with a toe in the future', 50, 401],
  ])('%s', async (_name, sinceLogout, newer) => {
    const { app, browser } = await signedIn();
    turn(30);
    const again = new TestBrowser(app);
    await again.signIn(provider);
    turn(30);
    const toe = sinceLogout === undefined ? undefined : now() + sinceLogout;
    expect(await deliver(app, await provider.logoutToken({ toe }))).toBe(200);
    expect([await statusOf(browser), await statusOf(again)]).toEqual([401, newer]);
  });
});

describe('clocks that differ', () => {
  it('lose no logout of a service that is half a minute ahead', async () => {
    const { app, browser } = await signedIn();
    const ahead = Math.floor(Date.now() / 1000) + 30;
    expect(await deliver(app, await provider.logoutToken({ iat: ahead, exp: ahead + 120 }))).toBe(200);
    expect(await statusOf(browser)).toBe(401);
  });

  it('let a sign-in pass within the leeway only', async () => {
    const ahead = Math.floor(Date.now() / 1000) + 5;
    const claims = { iat: ahead, nbf: ahead, exp: ahead + 60 };
    expect((await signedIn({ leeway: 4 }, claims)).browser.session).toBeUndefined();
    expect(errors).toMatchObject([{ code: 'NOT_YET_VALID' }]);
    expect((await signedIn({}, claims)).response.status).toBe(303);
    const later = { iat: ahead + 1, nbf: ahead + 1, exp: ahead + 60 };
    expect((await signedIn({}, later)).browser.session).toBeUndefined();
  });

  it('do not extend sessions: a cookie of a process that is hours ahead is refused', async () => {
    turn(4 * 3600);
    const { browser } = await signedIn();
    turn(-4 * 3600);
    expect(await statusOf(browser)).toBe(401);
  });
});

describe('cookies', () => {
  it('are never joined from parts', async () => {
    const { browser } = await signedIn();
    const [name = '', value = ''] = browser.session ?? [];
    const half = value.length / 2;
    browser.cookies.clear();
    for (const [part, text] of [value.slice(0, half), value.slice(half)].entries()) {
      browser.cookies.set(`${name}.${part}`, text);
      browser.cookies.set(`${name}${part}`, text);
    }
    expect(await statusOf(browser)).toBe(401);
  });

  it('of a size that no browser sends are not opened', async () => {
    const { app, browser } = await signedIn();
    const [name = '', value = ''] = browser.session ?? [];
    const many = `${name}=${'A'.repeat(100_000)}; `.repeat(50);
    expect((await app.send('/account', { headers: { cookie: `${many}${name}=${value}` } })).status).toBe(200);
  });
});
