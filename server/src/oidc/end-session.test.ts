import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri } from '../../test/factories.ts';
import { RelyingParty } from '../../test/relying-party.ts';
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
  app.logoutTokens.length = 0;
});

async function deliver(): Promise<Record<string, unknown>[]> {
  for (const id of await app.services.logout.due()) await app.services.logout.deliver(id);
  return app.logoutTokens.map(({ token }) =>
    JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString()),
  );
}

/** The hidden fields of the page that asks. */
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

describe('the page that asks (RP-Initiated Logout 1.0 §2)', () => {
  it('ends the session when its form comes back, and returns to the registered address', async () => {
    const asked = { client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri, state: 'a&"<b>' };
    const page = await rp.endSession(asked);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https://app.example.com");
    const form = await askedForm(page);
    expect(form).toMatchObject({ ...asked, csrf: expect.stringMatching(/./) });
    const response = await rp.endSession(form, 'post');
    expect(response.headers.get('location')).toBe(
      `${postLogoutRedirectUri}?${new URLSearchParams({ state: 'a&"<b>' })}`,
    );
    expect(await rp.isSignedIn()).toBe(false);
    expect((await rp.endSession(form, 'post')).status).toBe(200);
  });

  it('does nothing for another site’s form, nor for a token of another session', async () => {
    const other = new RelyingParty(app, rp.client);
    await other.signIn(await app.make.user(project));
    const { csrf } = await askedForm(await other.endSession({ client_id: rp.client.id }));
    for (const token of [undefined, '', 'x', csrf]) {
      expect((await rp.endSession({ client_id: rp.client.id, csrf: token }, 'post')).status).toBe(200);
      expect(await rp.isSignedIn()).toBe(true);
    }
  });

  it('shows nothing of the request as HTML', async () => {
    const evil = '"><script>alert(1)</script>';
    const response = await rp.endSession({ client_id: rp.client.id, state: evil, logout_scope: evil });
    expect(await response.text()).not.toContain('<script>alert(1)');
  });

  it('asks where the hint is of another user, or of another client', async () => {
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

  it('returns to the client that only the hint had named, and leaves other projects’ sessions alone', async () => {
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

  it('takes no access token for a hint', async () => {
    const { access_token: accessToken } = await rp.tokens();
    expect(
      await askedForm(await rp.endSession({ client_id: rp.client.id, id_token_hint: accessToken })),
    ).toHaveProperty('csrf');
  });

  it('says that nobody is signed in, where nobody is', async () => {
    rp.signOut();
    const response = await rp.endSession({ client_id: rp.client.id, post_logout_redirect_uri: postLogoutRedirectUri });
    expect([response.status, response.headers.get('location')]).toEqual([200, null]);
    expect(await response.text()).toContain('You are signed out');
  });
});

describe('logout_scope (service.md 4.2, 6)', () => {
  it('session: ends this browser’s session alone, and its clients hear of it with sid', async () => {
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
    '%s: ends all of the user’s, and each client hears once without sid',
    async (scope) => {
      const elsewhere = new RelyingParty(app, rp.client);
      await elsewhere.signIn(user);
      await elsewhere.tokens();
      const { id_token: hint } = await rp.tokens();
      await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, logout_scope: scope });
      expect([await rp.isSignedIn(), await elsewhere.isSignedIn()]).toEqual([false, false]);
      const tokens = await deliver();
      expect(tokens).toMatchObject([{ sub: user.id }]);
      expect(tokens[0]).not.toHaveProperty('sid');
    },
  );
});

describe('sessions of one browser', () => {
  it('A out, B in: a new sid, and the session secret is never the old one', async () => {
    const { id_token: hint } = await rp.tokens();
    const before = [...rp.browser.cookies.values()];
    await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, logout_scope: 'session' });
    await rp.signIn(await app.make.user(project));
    const after = await rp.claims((await rp.tokens()).id_token);
    expect(after['sid']).not.toBe((await rp.claims(hint))['sid']);
    expect([...rp.browser.cookies.values()]).not.toEqual(before);
  });

  it('another user takes a session’s place; the same user keeps it, under a new secret', async () => {
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
