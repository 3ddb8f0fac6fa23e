import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri } from '../../test/factories.ts';
import { deliverDue } from '../../test/relayed.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
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
  project = await app.make.project({ name: 'Example' });
  user = await app.make.user(project);
  rp = new RelyingParty(
    app,
    (await app.make.client(project, { backchannelLogoutUri: 'http://127.0.0.1:1/logout' })).client,
  );
  await rp.signIn(user);
  await deliver();
  app.logoutTokens.length = 0;
});

async function deliver(): Promise<Record<string, unknown>[]> {
  await deliverDue(app.services.logout.relay);
  return app.logoutTokens.map(({ token }) =>
    JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString()),
  );
}

/** The hidden fields of the confirmation page. */
async function askedForm(response: Response): Promise<Record<string, string>> {
  expect(response.status).toBe(200);
  const html = await response.text();
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name, unescape(value as string)]));
}

function unescape(text: string): string {
  const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] as string);
}

describe('the confirmation page (RP-Initiated Logout 1.0 §2)', () => {
  it('ends the session when its form is submitted, and redirects to the registered URI', async () => {
    const asked = { client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri, state: 'a&"<b>' };
    const page = await rp.endSession(asked);
    // A browser would apply it to the application's redirects after its own URI.
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
    const form = await askedForm(page);
    expect(form).toMatchObject({ ...asked, csrf: expect.stringMatching(/./) });
    const response = await rp.endSession(form, 'post');
    expect(response.headers.get('location')).toBe(
      `${postLogoutRedirectUri}?${new URLSearchParams({ state: 'a&"<b>' })}`,
    );
    expect(await rp.isSignedIn()).toBe(false);
    expect((await rp.endSession(form, 'post')).status).toBe(200);
  });

  it('restricts its form to this site without a registered URI', async () => {
    const page = await rp.endSession({ client_id: rp.client.id, post_logout_redirect_uri: 'https://evil.example.com' });
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self';");
  });

  it('ignores another site’s form, and a CSRF token of another session', async () => {
    const other = new RelyingParty(app, rp.client);
    await other.signIn(await app.make.user(project));
    const { csrf } = await askedForm(await other.endSession({ client_id: rp.client.id }));
    for (const token of [undefined, '', 'x', csrf]) {
      expect((await rp.endSession({ client_id: rp.client.id, csrf: token }, 'post')).status).toBe(200);
      expect(await rp.isSignedIn()).toBe(true);
    }
  });

  it('escapes the request’s parameters', async () => {
    const evil = '"><script>alert(1)</script>';
    const response = await rp.endSession({ client_id: rp.client.id, state: evil, logout_scope: evil });
    expect(await response.text()).not.toContain('<script>alert(1)');
  });

  it('is in the language of ui_locales, and so is the page after it', async () => {
    for (const client of [{ client_id: rp.client.id }, {}]) {
      await rp.signIn(user);
      const asked = await rp.endSession({ ...client, ui_locales: 'xx de-AT fr' });
      expect(await asked.clone().text()).toContain('<html lang="de"');
      const ended = await rp.endSession(await askedForm(asked), 'post');
      expect(await ended.text()).toContain('<html lang="de"');
    }
  });

  it('is shown if the hint is of another user or another client', async () => {
    const { id_token: mine } = await rp.tokens();
    const other = await app.make.user(project);
    await rp.signIn(other);
    expect(await askedForm(await rp.endSession({ client_id: rp.client.id, id_token_hint: mine }))).toHaveProperty(
      'csrf',
    );
    expect(await rp.isSignedIn()).toBe(true);
    await rp.signIn(user);
    const sibling = new RelyingParty(app, (await app.make.client(project)).client);
    await sibling.signIn(user);
    const { id_token: foreign } = await sibling.tokens();
    expect(await askedForm(await rp.endSession({ client_id: rp.client.id, id_token_hint: foreign }))).toHaveProperty(
      'csrf',
    );
    expect(await rp.isSignedIn()).toBe(true);
  });

  it('redirects to the client of the hint, and keeps other projects’ sessions', async () => {
    const { id_token: mine } = await rp.tokens();
    await rp.signIn(await app.make.user(project));
    const elsewhere = await app.make.project();
    const stranger = new RelyingParty(app, (await app.make.client(elsewhere)).client);
    await stranger.signIn(await app.make.user(elsewhere));
    for (const [name, value] of stranger.browser.cookies) rp.browser.cookies.set(name, value);
    const asked = { id_token_hint: mine, post_logout_redirect_uri: postLogoutRedirectUri };
    const confirmed = await rp.endSession(await askedForm(await rp.endSession(asked)), 'post');
    expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, postLogoutRedirectUri]);
    expect(await rp.isSignedIn()).toBe(false);
    expect(await stranger.isSignedIn()).toBe(true);
  });

  it('does not accept an access token as hint', async () => {
    const { access_token: accessToken } = await rp.tokens();
    expect(
      await askedForm(await rp.endSession({ client_id: rp.client.id, id_token_hint: accessToken })),
    ).toHaveProperty('csrf');
  });

  it('shows that you are signed out if there is no session', async () => {
    rp.signOut();
    const response = await rp.endSession({ client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri });
    expect([response.status, response.headers.get('location')]).toEqual([200, null]);
    expect(await response.text()).toContain('You are signed out');
  });

  it('links to the start of the application, by its registration alone', async () => {
    const shown = async (asked: Record<string, string>) => (await rp.endSession(asked)).text();
    const { csrf = '' } = await askedForm(await rp.endSession({ client_id: rp.client.id }));
    const ended = await (await rp.endSession({ client_id: rp.client.id, csrf }, 'post')).text();
    const link = '<a class="main" id="start" href="https://app.example.com/">';
    expect([ended.includes('You are signed out'), ended.includes(link)]).toEqual([true, true]);
    const other = { post_logout_redirect_uri: 'https://evil.example.com', redirect_uri: 'https://evil.example.com' };
    const html = await shown({ client_id: rp.client.id, ...other });
    expect([html.includes(link), html.includes('evil')]).toEqual([true, false]);
    expect(await shown({})).not.toContain('id="start"');
  });
});

describe('an ID token without a session cookie', () => {
  let elsewhere: RelyingParty;

  beforeEach(async () => {
    elsewhere = new RelyingParty(app, rp.client);
    await elsewhere.signIn(user);
  });

  /** An expired ID token of the browser SDK, without a session. */
  async function sdkToken(): Promise<string> {
    const now = seconds(app.clock.now());
    const claims = { sub: user.id, aud: rp.client.id, iat: now, nbf: now, exp: now + 60, jti: 'any' };
    const token = await app.services.signer.sign('id-token', claims);
    app.clock.turn(120);
    return token;
  }

  function endSession(hint: string, changes: Record<string, string> = {}) {
    const asked = { client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri, id_token_hint: hint };
    return rp.endSession({ ...asked, ...changes });
  }

  it('without sid ends nothing, and still redirects', async () => {
    const hint = await sdkToken();
    rp.signOut();
    for (const scope of ['global', 'session']) {
      const response = await endSession(hint, { logout_scope: scope });
      expect([response.status, response.headers.get('location')]).toEqual([303, postLogoutRedirectUri]);
    }
    expect(await elsewhere.isSignedIn()).toBe(true);
    expect(await deliver()).toEqual([]);
  });

  it('without sid ends all sessions if the browser has a session of its user', async () => {
    expect((await endSession(await sdkToken())).headers.get('location')).toBe(postLogoutRedirectUri);
    expect([await rp.isSignedIn(), await elsewhere.isSignedIn()]).toEqual([false, false]);
  });

  it('without sid asks if the browser has a session of another user', async () => {
    const hint = await sdkToken();
    await rp.signIn(await app.make.user(project));
    expect(await askedForm(await endSession(hint))).toHaveProperty('csrf');
    expect([await rp.isSignedIn(), await elsewhere.isSignedIn()]).toEqual([true, true]);
  });

  it('with sid ends all sessions while that session is live, and nothing afterwards', async () => {
    const { id_token: hint } = await rp.tokens();
    const again = new RelyingParty(app, rp.client);
    rp.signOut();
    expect((await endSession(hint)).headers.get('location')).toBe(postLogoutRedirectUri);
    expect(await elsewhere.isSignedIn()).toBe(false);
    await again.signIn(user);
    expect((await endSession(hint)).headers.get('location')).toBe(postLogoutRedirectUri);
    expect(await again.isSignedIn()).toBe(true);
  });

  it.each([
    ['no cookies', ''],
    ['only those of a proxy', '__cf_bm'],
  ])('as another site’s form with %s is redirected to a GET with cookies', async (_name, sent) => {
    const hint = await sdkToken();
    const cookies = [...rp.browser.cookies];
    rp.signOut();
    // SameSite=None, unlike ours.
    if (sent) rp.browser.cookies.set(sent, 'a');
    const asked = { client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri, id_token_hint: hint };
    const again = await rp.endSession(asked, 'post', { 'Sec-Fetch-Site': 'cross-site' });
    expect(again.status).toBe(303);
    for (const [name, value] of cookies) rp.browser.cookies.set(name, value);
    const response = await rp.browser.get(locationOf(again).href);
    expect(response.headers.get('location')).toBe(postLogoutRedirectUri);
    expect(await elsewhere.isSignedIn()).toBe(false);
  });
});

describe('logout_scope (service.md 4.2, 6)', () => {
  it('session: ends only this browser’s session, and notifies its clients with sid', async () => {
    const elsewhere = new RelyingParty(app, rp.client);
    await elsewhere.signIn(user);
    await elsewhere.tokens();
    const { id_token: hint } = await rp.tokens();
    const { sid } = await rp.claims(hint);
    await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, logout_scope: 'session' });
    expect([await rp.isSignedIn(), await elsewhere.isSignedIn()]).toEqual([false, true]);
    expect(await deliver()).toMatchObject([{ sub: user.id, sid, aud: rp.client.id }]);
  });

  it.each([undefined, 'global'])(
    '%s: ends all sessions of the user; each client is notified first without sid, then for each session that it joined',
    async (scope) => {
      const elsewhere = new RelyingParty(app, rp.client);
      const elsewhereSid = await elsewhere.signIn(user);
      await elsewhere.tokens();
      const { id_token: hint } = await rp.tokens();
      await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, logout_scope: scope });
      expect([await rp.isSignedIn(), await elsewhere.isSignedIn()]).toEqual([false, false]);
      const tokens = await deliver();
      const { sid } = await rp.claims(hint);
      const [first, ...followers] = tokens.map((token) => token['sid']);
      expect([first, ...followers.sort()]).toEqual([undefined, ...[sid, elsewhereSid].sort()]);
      expect(tokens).toMatchObject(Array(3).fill({ sub: user.id, aud: rp.client.id }));
    },
  );
});

describe('sessions of one browser', () => {
  it('A signs out, B signs in: a new sid and a new session secret', async () => {
    const { id_token: hint } = await rp.tokens();
    const before = [...rp.browser.cookies.values()];
    await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, logout_scope: 'session' });
    await rp.signIn(await app.make.user(project));
    const after = await rp.claims((await rp.tokens()).id_token);
    expect(after['sid']).not.toBe((await rp.claims(hint))['sid']);
    expect([...rp.browser.cookies.values()]).not.toEqual(before);
  });

  it('another user replaces the session; the same user keeps it, under a new secret', async () => {
    const first = await rp.claims((await rp.tokens()).id_token);
    const secret = [...rp.browser.cookies.values()][0];
    await rp.signIn(user);
    const again = await rp.claims((await rp.tokens()).id_token);
    expect(again['sid']).toBe(first['sid']);
    expect([...rp.browser.cookies.values()][0]).not.toBe(secret);
    const stale = new RelyingParty(app, rp.client);
    stale.browser.cookies.set(`lk-session-${project.id}`, secret as string);
    expect(await stale.isSignedIn()).toBe(false);
    await rp.signIn(await app.make.user(project));
    const other = await rp.claims((await rp.tokens()).id_token);
    expect(other['sid']).not.toBe(first['sid']);
  });
});
