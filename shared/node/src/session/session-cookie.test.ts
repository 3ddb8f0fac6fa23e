import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { application, secret, settings, type TestApplication, TestBrowser } from '../../test/application.ts';
import { startProvider, type TestProvider } from '../../test/provider.ts';
import type { LatchkeyOptions } from '../app/options.ts';
import { MemoryReplayStore } from '../replay-store.ts';
import { MemorySessionRevocations } from './revocations.ts';

/** The session of an application in a sealed cookie. */

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

const open = (more: Partial<LatchkeyOptions> = {}) =>
  application('Fetch', {
    ...settings(provider, { replayStore: new MemoryReplayStore(), onError: (error) => void errors.push(error) }),
    ...more,
  });

async function signedIn(more: Partial<LatchkeyOptions> = {}, claims: Record<string, unknown> = {}) {
  const app = await open(more);
  const browser = new TestBrowser(app);
  const response = await browser.signIn(provider, claims);
  return { app, browser, response };
}

const turn = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const statusOf = async (browser: TestBrowser) => (await browser.script('/account')).status;

/** Another application with the cookies of this browser. */
function at(app: TestApplication, { cookies }: TestBrowser): TestBrowser {
  const browser = new TestBrowser(app);
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  return browser;
}

const logOut = async (app: TestApplication, claims: Record<string, unknown>) =>
  app.send('/auth/backchannel-logout', {
    method: 'POST',
    body: new URLSearchParams({ logout_token: await provider.logoutToken(claims) }),
  });

describe('time', () => {
  it('ends a session that is not used, and renews one that is', async () => {
    const { browser } = await signedIn();
    const idle = browser.copy();
    for (let used = 0; used < 3; used++) {
      turn(1700);
      expect(await statusOf(browser)).toBe(200);
    }
    expect(await statusOf(idle)).toBe(401);
    turn(1800);
    expect(await statusOf(browser)).toBe(401);
  });

  it('ends a session at its lifetime, even if it is used', async () => {
    const { browser } = await signedIn({ session: { secret, lifetimeSeconds: 3600 } });
    const statuses = [];
    for (let used = 0; used < 4; used++) {
      turn(900);
      statuses.push(await statusOf(browser));
    }
    expect(statuses).toEqual([200, 200, 200, 401]);
  });

  it('applies a shortened lifetime to existing sessions', async () => {
    const { browser } = await signedIn();
    turn(600);
    expect(await statusOf(at(await open({ session: { secret, lifetimeSeconds: 300 } }), browser))).toBe(401);
    expect(await statusOf(browser)).toBe(200);
  });

  it('is not set again on each request', async () => {
    const { browser } = await signedIn();
    turn(200);
    expect((await browser.script('/account')).headers.getSetCookie()).toEqual([]);
    turn(200);
    expect((await browser.script('/account')).headers.getSetCookie()).toHaveLength(1);
  });
});

describe('the cookie', () => {
  it('is accepted only unaltered', async () => {
    const { browser } = await signedIn();
    const [name = '', value = ''] = browser.session ?? [];
    const other = value.at(-10) === 'A' ? 'B' : 'A';
    for (const altered of [
      '',
      'x',
      value.slice(0, -4),
      `${value.slice(0, -10)}${other}${value.slice(-9)}`,
      `${value}=`,
    ]) {
      browser.cookies.set(name, altered);
      expect(await statusOf(browser)).toBe(401);
    }
    browser.cookies.set(name, value);
    expect(await statusOf(browser)).toBe(200);
  });

  it('reveals nothing', async () => {
    const { browser } = await signedIn();
    const decoded = Buffer.from(browser.session?.[1] ?? '', 'base64url').toString('latin1');
    expect(decoded).not.toMatch(/user-1|ada@/);
  });

  it('opens with its secret and for its client only', async () => {
    const { browser } = await signedIn();
    const strange = await open({ session: { secret: 'another secret of 32 characters!!' } });
    expect(await statusOf(at(strange, browser))).toBe(401);
    // The same name, so that only the seal can differ.
    const clientId = provider.clientId.replace(/^./, '1');
    expect(await statusOf(at(await open({ clientId }), browser))).toBe(401);
  });

  it('is found after another cookie of the same name', async () => {
    const { browser, app } = await signedIn();
    const [name = '', value = ''] = browser.session ?? [];
    const headers = { cookie: `${name}=planted; ${name}=${value}` };
    expect((await app.send('/account', { headers })).status).toBe(200);
  });

  it('is sealed by the newest secret, and opened by all', async () => {
    const { browser } = await signedIn();
    const newer = 'a newer secret of 32 characters!!';
    const rotated = at(await open({ session: { secret: [newer, secret] } }), browser);
    expect((await rotated.script('/account')).headers.getSetCookie()).toHaveLength(1);
    const after = await open({ session: { secret: newer } });
    expect([await statusOf(at(after, rotated)), await statusOf(at(after, browser))]).toEqual([200, 401]);
  });

  it('has the prefix __Host- with https only', async () => {
    const local = await open({ redirectUri: 'http://localhost:3001/auth/callback' });
    const browser = new TestBrowser(local);
    await browser.signIn(provider);
    expect(browser.session?.[0]).toMatch(/^latchkey-/);
    expect(await statusOf(browser)).toBe(200);
  });

  it('stays below 4 KB: omits the ID token, and refuses larger sessions', async () => {
    const note = 'x'.repeat(1500);
    const { browser } = await signedIn({ onSignIn: () => ({ note }) as never }, { note });
    expect(browser.session?.[1].length).toBeLessThan(4000);
    const { location } = (await (await browser.script('/auth/sign-out', { method: 'POST' })).json()) as {
      location: string;
    };
    expect(location).not.toContain('id_token_hint');
    const { browser: none, response } = await signedIn({ onSignIn: () => ({ note: note.repeat(2) }) as never });
    expect([response.status, none.session]).toEqual([500, undefined]);
    expect(errors).toMatchObject([{ code: 'SESSION_TOO_LARGE' }]);
  });
});

describe('a sign-in', () => {
  it('begins a new session, and ends the earlier one of this browser', async () => {
    const { browser } = await signedIn();
    const earlier = browser.copy();
    await browser.signIn(provider, {}, '/auth/login');
    expect(browser.session?.[1]).not.toBe(earlier.session?.[1]);
    expect([await statusOf(browser), await statusOf(earlier)]).toEqual([200, 401]);
  });

  it.each([
    'https://evil.example.com',
    '//evil.example.com',
    '/\\evil.example.com',
    '/\t/evil.example.com',
    'javascript:alert(1)',
  ])('does not return to another site: %j', async (target) => {
    const app = await open();
    const path = `/auth/login?return_to=${encodeURIComponent(target)}`;
    const back = await new TestBrowser(app).signIn(provider, {}, path);
    expect(back.headers.get('location')).toBe('/');
  });

  it('is refused by onSignIn', async () => {
    const { browser, response } = await signedIn({ onSignIn: () => null, failurePath: '/failed' });
    expect(response.headers.get('location')).toBe('/failed?error=SIGN_IN_REFUSED');
    expect(browser.session).toBeUndefined();
  });

  it('needs the state of this browser, and is used once', async () => {
    const app = await open();
    const [browser, victim] = [new TestBrowser(app), new TestBrowser(app)];
    const begun = new URL((await browser.visit('/account')).headers.get('location') ?? '');
    const { nonce, state = '' } = Object.fromEntries(begun.searchParams);
    provider.nextIdToken = await provider.idToken({ nonce });
    const path = `/auth/callback?${new URLSearchParams({ code: 'c', state, iss: provider.url })}`;
    expect((await victim.visit(path)).status).toBe(400);
    expect((await browser.visit(path)).status).toBe(303);
    expect((await browser.visit(path)).status).toBe(400);
  });

  it('does not keep the cookies of all abandoned ones', async () => {
    const browser = new TestBrowser(await open());
    for (let visit = 0; visit < 30; visit++) await browser.visit(`/account?${'x'.repeat(900)}`);
    expect([...browser.cookies].flat().join('').length).toBeLessThan(12_000);
    expect((await browser.signIn(provider)).status).toBe(303);
  });

  it('does not keep all large cookies of those that another site begins', async () => {
    const { browser } = await signedIn();
    const query = new URLSearchParams({
      return_to: `/${'x'.repeat(999)}`,
      acr_values: Array.from({ length: 10 }, () => 'y'.repeat(100)).join(' '),
    });
    for (let visit = 0; visit < 10; visit++) await browser.visit(`/auth/login?${query}`);
    // Node rejects requests with more than 16 KB of headers, and a session has up to 4 KB.
    expect([...browser.cookies].flat().join('').length).toBeLessThan(12_000);
    expect((await browser.script('/account')).status).toBe(200);
  });
});

describe('ended sessions', () => {
  it('stay ended, even when the logout comes before the cookie', async () => {
    const app = await open();
    const browser = new TestBrowser(app);
    await logOut(app, { sid: 's-1' });
    await browser.signIn(provider, { sid: 's-1' });
    expect(await statusOf(browser)).toBe(401);
  });

  it('are those that began before the logout of their user', async () => {
    const { app, browser } = await signedIn();
    await logOut(app, {});
    expect(await statusOf(browser)).toBe(401);
    turn(1);
    await browser.signIn(provider);
    expect(await statusOf(browser)).toBe(200);
  });

  it('are known to all processes by a shared storage', async () => {
    const revocations = new MemorySessionRevocations();
    const { browser } = await signedIn({ session: { secret, revocations } }, { sid: 's-1' });
    const other = await open({ session: { secret, revocations } });
    await logOut(other, { sid: 's-1' });
    expect(await statusOf(browser)).toBe(401);
  });

  it('cannot be distinguished while their storage fails, so all sessions are refused', async () => {
    const fail = () => Promise.reject(new Error('down'));
    const memory = new MemorySessionRevocations();
    const revocations = { revoke: memory.revoke.bind(memory), revokedAt: fail as () => Promise<number> };
    const { browser, app } = await signedIn({ session: { secret, revocations } });
    expect(await statusOf(browser)).toBe(503);
    expect((await browser.visit('/account')).status).toBe(503);
    revocations.revoke = fail as never;
    expect((await logOut(app, { sid: 's-1' })).status).toBe(500);
    expect(errors.at(-1)).toMatchObject({ code: 'REVOCATIONS_FAILED' });
  });
});

describe('MemorySessionRevocations', () => {
  it('keeps the latest time of a key, until the entry expires', () => {
    let now = 1_000_000;
    const memory = new MemorySessionRevocations({ now: () => now });
    memory.revoke('a', 7, new Date(2_000_000));
    memory.revoke('a', 5, new Date(1_500_000));
    expect([memory.revokedAt(['a', 'b']), memory.revokedAt(['b'])]).toEqual([7, undefined]);
    now = 2_000_001;
    memory.revoke('b', 9, new Date(3_000_000));
    expect([memory.revokedAt(['a']), memory.revokedAt(['b'])]).toEqual([undefined, 9]);
  });

  it('ends more sessions rather than fewer when it is full', () => {
    let now = 1_000_000;
    const memory = new MemorySessionRevocations({ max: 2, now: () => now });
    for (const key of ['a', 'b', 'c']) {
      memory.revoke(key, 5, new Date(9_000_000));
      now += 10_000;
    }
    expect(memory.revokedAt(['none'])).toBe(1000);
  });
});
