/**
 * The applicable modules of the OpenID conformance suite, by its names, at the base issuer and at that of a project. Others
 * are listed with the reason in decisions/0006; those that only a project's issuer can pass are in
 * `openid-modules-of-projects.test.ts`.
 */
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let rp: RelyingParty;
/** The issuer that the modules run against. */
let isProjectIssuer = false;
const partyOf = (client: Client) => (isProjectIssuer ? partyAt(app, project, client) : new RelyingParty(app, client));

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project, {
    displayName: 'Ada Lovelace',
    phone: `+1202${String(Math.trunc(performance.now() * 1000))
      .padStart(7, '0')
      .slice(-7)}`,
    attributes: { addresses: [{ locality: 'London', country: 'GB', primary: true }] },
  });
  rp = partyOf((await app.make.client(project)).client);
  await rp.signIn(user);
});

async function userInfoOf(scope: string): Promise<Record<string, unknown>> {
  const { access_token: accessToken } = await rp.tokens({ scope });
  return (await (await rp.userInfo(accessToken)).json()) as Record<string, unknown>;
}

function signInPage(response: Response): boolean {
  return locationOf(response).pathname === '/signin';
}

/** Signs in again on the hosted page's behalf and follows the flow to its end. */
async function signInAgain(response: Response): Promise<URLSearchParams> {
  expect(signInPage(response)).toBe(true);
  const flow = locationOf(response).searchParams.get('flow');
  await rp.signIn(user);
  return locationOf(await rp.browser.get(`${rp.issuer}/authorize/resume?flow=${flow}`)).searchParams;
}

async function exchanged(code: string | null): Promise<Record<string, unknown>> {
  const { id_token: idToken } = (await (await rp.exchange(code ?? '')).json()) as { id_token: string };
  return rp.claims(idToken);
}

describe.each([
  ['the base issuer', false],
  ['an issuer of a project', true],
])('%s', (_issuer, ofProject) => {
  beforeAll(() => {
    isProjectIssuer = ofProject;
  });

  describe('oidcc-basic-certification', () => {
    it('oidcc-server', async () => {
      const nonce = 'n-0S6_WzA2Mj';
      const answer = await rp.answer({ nonce });
      expect(answer.get('state')).toBe('a state');
      const claims = await exchanged(answer.get('code'));
      expect(claims).toMatchObject({
        iss: rp.issuer,
        aud: rp.client.id,
        sub: user.id,
        nonce,
        acr: expect.stringMatching(/./),
      });
      expect(claims['exp']).toBeGreaterThan(claims['iat'] as number);
    });

    it('oidcc-response-type-missing', async () => {
      expect((await rp.answer({ response_type: undefined })).get('error')).toBe('invalid_request');
    });

    it('oidcc-idtoken-signature', async () => {
      const { id_token: idToken } = await rp.tokens();
      expect(decodeProtectedHeader(idToken)).toMatchObject({ alg: 'ES512', kid: expect.stringMatching(/./) });
      await rp.claims(idToken);
    });

    it('oidcc-userinfo-get, -post-header, -post-body', async () => {
      const { access_token: accessToken } = await rp.tokens();
      expect((await rp.userInfo(accessToken)).status).toBe(200);
      expect((await rp.userInfo(accessToken, { method: 'POST' })).status).toBe(200);
      const body = new URLSearchParams({ access_token: accessToken });
      expect((await fetch(`${rp.issuer}/userinfo`, { method: 'POST', body })).status).toBe(200);
    });

    it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
      expect(await exchanged(await rp.code({ nonce: undefined }))).not.toHaveProperty('nonce');
    });

    it.each([
      ['oidcc-scope-profile', 'openid profile', ['name', 'sub', 'updated_at']],
      ['oidcc-scope-email', 'openid email', ['email', 'email_verified', 'sub']],
      ['oidcc-scope-address', 'openid address', ['address', 'sub']],
      ['oidcc-scope-phone', 'openid phone', ['phone_number', 'sub']],
      [
        'oidcc-scope-all',
        'openid profile email address phone',
        ['address', 'email', 'email_verified', 'name', 'phone_number', 'sub', 'updated_at'],
      ],
    ])('%s', async (_module, scope, names) => {
      const further = isProjectIssuer && names.includes('name') ? ['preferred_username'] : [];
      expect(Object.keys(await userInfoOf(scope)).sort()).toEqual([...names, ...further].sort());
    });

    it('oidcc-alternate-happy-flow', async () => {
      expect(Object.keys(await userInfoOf('phone email openid'))).toEqual(
        expect.arrayContaining(['email', 'phone_number']),
      );
    });

    it.each([
      ['oidcc-display-page', { display: 'page' }],
      ['oidcc-display-popup', { display: 'popup' }],
      ['oidcc-ui-locales', { ui_locales: 'se de-AT xx-invalid-' }],
      ['oidcc-claims-locales', { claims_locales: 'se' }],
      ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 urn:service:pwdless:v1' }],
      ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
      ['oidcc-claims-essential', { claims: '{"userinfo":{"name":{"essential":true}}}' }],
      ['oidcc-ensure-request-with-valid-pkce-succeeds', {}],
    ])('%s', async (_module, changes) => {
      expect(await exchanged(await rp.code(changes))).toMatchObject({ sub: user.id, acr: 'urn:service:pwdless:v1' });
    });

    it('oidcc-login-hint', async () => {
      const changes = { login_hint: 'somebody@example.com' };
      // Of another user than the one who is signed in: the issuer of a project asks.
      const answer = isProjectIssuer ? await signInAgain(await rp.authorize(changes)) : await rp.answer(changes);
      expect(await exchanged(answer.get('code'))).toMatchObject({ sub: user.id });
    });

    it('oidcc-prompt-login', async () => {
      const before = await exchanged(await rp.code());
      app.clock.turn(2);
      const answer = await signInAgain(await rp.authorize({ prompt: 'login' }));
      const after = await exchanged(answer.get('code'));
      expect(after['auth_time']).toBeGreaterThan(before['auth_time'] as number);
      expect(after).toMatchObject({ sub: before['sub'], sid: before['sid'] });
    });

    it('oidcc-prompt-login cannot be skipped by resuming without a sign-in', async () => {
      app.clock.turn(1);
      const flow = locationOf(await rp.authorize({ prompt: 'login' })).searchParams.get('flow');
      expect(signInPage(await rp.browser.get(`${rp.issuer}/authorize/resume?flow=${flow}`))).toBe(true);
    });

    it('oidcc-prompt-none-not-logged-in', async () => {
      rp.signOut();
      const answer = await rp.answer({ prompt: 'none' });
      expect(answer.get('error')).toBe('login_required');
      expect(answer.has('code')).toBe(false);
    });

    it('oidcc-prompt-none-logged-in', async () => {
      const before = await exchanged(await rp.code());
      app.clock.turn(5);
      const after = await exchanged(await rp.code({ prompt: 'none' }));
      expect(after).toMatchObject({ sub: before['sub'], auth_time: before['auth_time'] });
    });

    it('oidcc-max-age-1', async () => {
      const before = await exchanged(await rp.code());
      app.clock.turn(2);
      const answer = await signInAgain(await rp.authorize({ max_age: '1' }));
      const after = await exchanged(answer.get('code'));
      expect(after['auth_time']).toBeGreaterThan(before['auth_time'] as number);
    });

    it('oidcc-max-age-10000', async () => {
      const before = await exchanged(await rp.code());
      app.clock.turn(2);
      expect(await exchanged(await rp.code({ max_age: '10000' }))).toMatchObject({ auth_time: before['auth_time'] });
    });

    it('oidcc-max-age-0 asks immediately', async () => {
      expect(signInPage(await rp.authorize({ max_age: '0' }))).toBe(true);
    });

    it('oidcc-id-token-hint', async () => {
      const { id_token: hint } = await rp.tokens();
      app.clock.turn(120);
      expect(await exchanged(await rp.code({ prompt: 'none', id_token_hint: hint }))).toMatchObject({ sub: user.id });
    });

    it('oidcc-id-token-hint of another user requires a sign-in, and refuses the wrong user', async () => {
      const { id_token: hint } = await rp.tokens();
      const other = await app.make.user(project);
      await rp.signIn(other);
      expect((await rp.answer({ prompt: 'none', id_token_hint: hint })).get('error')).toBe('login_required');
      const response = await rp.authorize({ id_token_hint: hint });
      expect(signInPage(response)).toBe(true);
      const flow = locationOf(response).searchParams.get('flow');
      await rp.signIn(other);
      const answer = locationOf(await rp.browser.get(`${rp.issuer}/authorize/resume?flow=${flow}`)).searchParams;
      expect([answer.get('error'), answer.has('code')]).toEqual(['login_required', false]);
    });

    it.each(['access token', 'nonsense'])(
      'oidcc-id-token-hint that is not an ID token (%s) matches no session',
      async (kind) => {
        const { access_token: accessToken } = await rp.tokens();
        const hint = kind === 'nonsense' ? 'x.y.z' : accessToken;
        expect((await rp.answer({ prompt: 'none', id_token_hint: hint })).get('error')).toBe('login_required');
      },
    );

    it.each([0, 1, 30])('oidcc-codereuse after %s seconds', async (pause) => {
      const code = await rp.code();
      const { access_token: accessToken } = (await (await rp.exchange(code)).json()) as { access_token: string };
      app.clock.turn(pause);
      const reused = await rp.exchange(code);
      expect([reused.status, await reused.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
      expect((await rp.userInfo(accessToken)).status).toBe(401);
    });

    it('oidcc-ensure-registered-redirect-uri', async () => {
      const response = await rp.authorize({ redirect_uri: 'https://app.example.com/other' });
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    });

    it('oidcc-ensure-post-request-succeeds', async () => {
      const location = locationOf(await rp.authorize({}, 'post'));
      expect(await exchanged(location.searchParams.get('code'))).toMatchObject({ sub: user.id });
    });

    it.each([
      ['no cookies', ''],
      ['only those of a proxy', '__cf_bm'],
    ])('oidcc-ensure-post-request-succeeds from a form of another site, which sends %s', async (_name, sent) => {
      const held = new Map(rp.browser.cookies);
      rp.signOut();
      // SameSite=None, unlike ours.
      if (sent) rp.browser.cookies.set(sent, 'a');
      const again = locationOf(await rp.authorize({ prompt: 'none' }, 'post'));
      expect(again.pathname).toBe(new URL(`${rp.issuer}/authorize`).pathname);
      for (const [name, value] of held) rp.browser.cookies.set(name, value);
      const location = locationOf(await rp.browser.get(again.href));
      expect(await exchanged(location.searchParams.get('code'))).toMatchObject({ sub: user.id });
    });

    it.each([
      ['oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', 'request_uri'],
      ['oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', 'request'],
    ])('%s', async (_module, parameter) => {
      expect((await rp.answer({ [parameter]: 'https://app.example.com/x' })).get('error')).toBe(
        `${parameter}_not_supported`,
      );
    });

    it('oidcc-redirect-uri-query-OK, -added, -mismatch', async () => {
      const withQuery = `${redirectUri}?tenant=1`;
      const { client } = await app.make.client(project, { redirectUris: [withQuery] });
      const other = partyOf(client);
      await other.signIn(user);
      const answer = await other.answer({ redirect_uri: withQuery });
      expect([answer.get('tenant'), answer.has('code')]).toEqual(['1', true]);
      for (const wrong of [redirectUri, `${withQuery}&x=1`, `${redirectUri}?tenant=2`]) {
        expect((await other.authorize({ redirect_uri: wrong })).status).toBe(400);
      }
    });

    it('oidcc-server-rotate-keys', async () => {
      const kids = async () => {
        const { keys } = (await (await fetch(`${rp.issuer}/.well-known/jwks.json`)).json()) as {
          keys: { kid: string }[];
        };
        return keys.map(({ kid }) => kid);
      };
      const [before, { id_token: old }] = [await kids(), await rp.tokens()];
      await app.services.keys.rotate(system);
      app.clock.turn(24 * 3600);
      await rp.signIn(user);
      const { id_token: fresh } = await rp.tokens();
      expect(decodeProtectedHeader(fresh).kid).not.toBe(decodeProtectedHeader(old).kid);
      expect(await kids()).toEqual(expect.arrayContaining(before));
    });
  });

  describe('codes and values (FAPI 2)', () => {
    it('fapi2-security-profile: a code is useless after 60 seconds', async () => {
      const code = await rp.code();
      app.clock.turn(60);
      expect(await (await rp.exchange(code)).json()).toMatchObject({ error: 'invalid_grant' });
    });

    it('codes have at least 96 bits of measured entropy and never repeat', async () => {
      const codes = new Set<string>();
      for (let count = 0; count < 50; count += 1) codes.add(await rp.code());
      expect(codes.size).toBe(50);
      const bits = [...codes].map((code) => shannonBits(code));
      expect(Math.min(...bits)).toBeGreaterThan(96);
    });

    it('a long state and nonce are returned unchanged', async () => {
      const [state, nonce] = ['s'.repeat(2000), 'n'.repeat(2000)];
      const answer = await rp.answer({ state, nonce });
      expect(answer.get('state')).toBe(state);
      expect(await exchanged(answer.get('code'))).toMatchObject({ nonce });
    });

    it('a state of any characters is returned unchanged', async () => {
      const state = 'ü &=+%"<script>\' ☃';
      expect((await rp.answer({ state })).get('state')).toBe(state);
    });
  });

  describe('oidcc-rp-initiated-logout', () => {
    it('oidcc-rp-initiated-logout', async () => {
      const { id_token: hint } = await rp.tokens();
      app.clock.turn(120);
      const parameters = {
        client_id: rp.client.id,
        id_token_hint: hint,
        post_logout_redirect_uri: postLogoutRedirectUri,
      };
      const location = locationOf(await rp.endSession({ ...parameters, state: 'bye' }));
      expect(location.href).toBe(`${postLogoutRedirectUri}?state=bye`);
      expect(await rp.isSignedIn()).toBe(false);
      expect(locationOf(await rp.endSession({ ...parameters, state: 'bye' })).href).toBe(location.href);
    });

    it('-no-state', async () => {
      const { id_token: hint } = await rp.tokens();
      const parameters = {
        client_id: rp.client.id,
        id_token_hint: hint,
        post_logout_redirect_uri: postLogoutRedirectUri,
      };
      expect(locationOf(await rp.endSession(parameters)).href).toBe(postLogoutRedirectUri);
    });

    it.each<[string, (hint: string) => Record<string, string | undefined>]>([
      ['-bad-post-logout-redirect-uri', () => ({ post_logout_redirect_uri: 'https://evil.tld/' })],
      [
        '-query-added-to-post-logout-redirect-uri',
        () => ({ post_logout_redirect_uri: `${postLogoutRedirectUri}?x=1` }),
      ],
      ['-modified-id-token-hint', (hint) => ({ id_token_hint: `${hint.slice(0, -6)}AAAAAA` })],
      ['-bad-id-token-hint', () => ({ id_token_hint: 'bad' })],
      ['-no-id-token-hint', () => ({ id_token_hint: undefined })],
      ['-no-params besides the client', () => ({ id_token_hint: undefined, post_logout_redirect_uri: undefined })],
      [
        '-only-state besides the client',
        () => ({ id_token_hint: undefined, post_logout_redirect_uri: undefined, state: 's' }),
      ],
    ])('%s', async (_module, alter) => {
      const { id_token: hint } = await rp.tokens();
      const good = { client_id: rp.client.id, id_token_hint: hint, post_logout_redirect_uri: postLogoutRedirectUri };
      const response = await rp.endSession({ ...good, ...alter(hint) });
      expect([response.status, response.headers.get('location')]).toEqual([200, null]);
      expect(await rp.isSignedIn()).toBe(true);
    });

    it('-no-post-logout-redirect-uri', async () => {
      const { id_token: hint } = await rp.tokens();
      const response = await rp.endSession({ id_token_hint: hint });
      expect([response.status, response.headers.get('location')]).toEqual([200, null]);
      expect(await rp.isSignedIn()).toBe(false);
    });

    it.each<[string, Record<string, string>]>([
      ['-no-params', {}],
      ['-only-state', { state: 's' }],
    ])('%s asks, ends this browser’s sessions, and confirms', async (_module, parameters) => {
      const asked = await rp.endSession(parameters);
      expect(await rp.isSignedIn()).toBe(true);
      const csrf = /name="csrf" value="([^"]+)"/.exec(await asked.text())?.[1];
      const ended = await rp.endSession({ csrf }, 'post');
      expect([ended.status, ended.headers.get('location')]).toEqual([200, null]);
      expect(await ended.text()).toContain('You are signed out');
      expect(await rp.isSignedIn()).toBe(false);
    });
  });
});

function shannonBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const perCharacter = [...counts.values()].reduce((sum, count) => {
    const share = count / text.length;
    return sum - share * Math.log2(share);
  }, 0);
  return perCharacter * text.length;
}
