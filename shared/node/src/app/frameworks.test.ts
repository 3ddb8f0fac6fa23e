import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { application, kinds, origin, settings, type TestApplication, TestBrowser } from '../../test/application.ts';
import { startProvider, type TestProvider } from '../../test/provider.ts';
import { MemoryReplayStore } from '../replay-store.ts';

let provider: TestProvider;
let app: TestApplication;
let browser: TestBrowser;
let errors: unknown[];

const logOut = async (claims: Record<string, unknown>) =>
  app.send('/auth/backchannel-logout', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `logout_token=${await provider.logoutToken(claims)}`,
  });

const status = async (response: Promise<Response>) => (await response).status;

describe.each(kinds)('%s', (kind) => {
  beforeEach(async () => {
    provider = await startProvider();
    errors = [];
    const onError = (error: unknown) => void errors.push(error);
    app = await application(kind, settings(provider, { onError, replayStore: new MemoryReplayStore() }));
    browser = new TestBrowser(app);
  });
  afterEach(() => Promise.all([app.close(), provider.close()]));

  it('sends visitors to the hosted page, and back to their page', async () => {
    const response = await browser.visit('/account?tab=2');
    const asked = new URL(response.headers.get('location') ?? '');
    expect([response.status, asked.origin + asked.pathname]).toEqual([303, `${provider.url}/authorize`]);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      redirect_uri: `${origin}/auth/callback`,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    const back = await browser.signIn(provider, {}, '/account?tab=2');
    expect([back.status, back.headers.get('location')]).toEqual([303, '/account?tab=2']);
    expect(back.headers.getSetCookie().at(-1)).toMatch(
      /^__Host-latchkey-\w+=[\w-]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure$/,
    );
    const account = await browser.visit('/account');
    expect(account.headers.get('cache-control')).toContain('no-store');
    expect(await account.json()).toMatchObject({ sub: 'user-1', user: { email: 'ada@example.com' } });
  });

  it('returns 401 and the path of the sign-in to scripts without a session', async () => {
    const response = await browser.script('/account');
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'login_required', login: '/auth/login' });
  });

  it('signs in with the code of its own page', async () => {
    const body = JSON.stringify({ code: 'c', code_verifier: 'v'.repeat(43) });
    const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    expect(await status(browser.script('/auth/sign-in', post))).toBe(204);
    expect(await (await browser.script('/auth/session')).json()).toMatchObject({ sub: 'user-1' });
    const foreign = { ...post, headers: { ...post.headers, Origin: 'https://evil.example.com' } };
    expect(await status(new TestBrowser(app).script('/auth/sign-in', foreign))).toBe(403);
  });

  it('lets only its own pages write', async () => {
    await browser.signIn(provider);
    const write = (headers: Record<string, string>) =>
      status(browser.copy().script('/write', { method: 'POST', headers }));
    expect(await write({})).toBe(200);
    expect(await write({ Origin: 'https://evil.example.com' })).toBe(403);
    expect(await write({ Origin: 'https://sibling.app.example.com' })).toBe(403);
    expect(await write({ Origin: 'null' })).toBe(403);
    expect(await write({ Origin: 'null', 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    // A form of a page with `Referrer-Policy: no-referrer`.
    expect(await write({ Origin: 'null', 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
    const bare = { method: 'POST', headers: { cookie: (browser.session ?? []).join('=') } };
    expect(await status(app.send('/write', bare))).toBe(403);
  });

  it('ends a session by back-channel logout, with all copies of its cookie', async () => {
    await browser.signIn(provider, { sid: 's-1' });
    const [thief, other] = [browser.copy(), new TestBrowser(app)];
    await other.signIn(provider, { sid: 's-2' });
    expect(await status(logOut({ sid: 's-1' }))).toBe(200);
    const statuses = await Promise.all([browser, thief, other].map((one) => status(one.script('/account'))));
    expect(statuses).toEqual([401, 401, 200]);
    expect(await status(logOut({}))).toBe(200);
    expect(await status(other.script('/account'))).toBe(401);
  });

  it('ends a session by sign-out, with all copies of its cookie, and returns the logout page of the service', async () => {
    await browser.signIn(provider);
    const thief = browser.copy();
    const foreign = { method: 'POST', headers: { Origin: 'https://evil.example.com' } };
    expect(await status(browser.copy().script('/auth/sign-out', foreign))).toBe(403);
    expect(await status(browser.script('/account'))).toBe(200);
    const { location } = (await (await browser.script('/auth/sign-out', { method: 'POST' })).json()) as {
      location: string;
    };
    expect(location).toContain(`${provider.url}/oauth2/end_session?`);
    expect(new URL(location).searchParams.get('id_token_hint')).toBe(provider.nextIdToken);
    expect(browser.session).toBeUndefined();
    expect(await status(thief.script('/account'))).toBe(401);
  });

  it('signs in to the organization that the path of the sign-in names', async () => {
    const asked = async (organization: string) => {
      const response = await browser.visit(`/auth/login?${new URLSearchParams({ organization })}`);
      return new URL(response.headers.get('location') ?? '').searchParams.get('organization');
    };
    expect([await asked('globex'), await asked('no slug')]).toEqual(['globex', null]);
  });

  it('asks for a stronger sign-in, and accepts no weaker one', async () => {
    await browser.signIn(provider);
    const refused = await browser.script('/admin');
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: 'insufficient_user_authentication', login: '/auth/login?acr_values=phr&max_age=300' },
    ]);
    const asked = new URL((await browser.visit('/admin')).headers.get('location') ?? '').searchParams;
    expect([asked.get('acr_values'), asked.get('max_age')]).toEqual(['phr', '300']);
    const now = Math.floor(Date.now() / 1000);
    const before = browser.session;
    for (const weak of [{ auth_time: now }, { acr: 'phr' }, { acr: 'phr', auth_time: now - 400 }]) {
      expect(await status(browser.signIn(provider, weak, '/admin'))).toBe(401);
    }
    expect(browser.session).toEqual(before);
    expect(errors).toMatchObject([1, 2, 3].map(() => ({ error: 'unmet_authentication_requirements' })));
    const back = await browser.signIn(
      provider,
      { acr: 'phr', amr: ['hwk', 'user', 'pop', 'mfa'], auth_time: now },
      '/admin',
    );
    expect(back.headers.get('location')).toBe('/admin');
    expect(await status(browser.visit('/admin'))).toBe(200);
  });

  it('returns an error for other methods of its routes, and does not handle other paths', async () => {
    expect([404, 405]).toContain(await status(app.send('/auth/sign-out')));
    expect(await status(app.send('/other'))).toBe(404);
    expect(await status(app.send('//'))).toBe(404);
  });
});
