import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let rp: RelyingParty;

const acrOf = (values: string[]) => JSON.stringify({ id_token: { acr: { values } } });

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  ({ client } = await app.make.client(project));
  rp = new RelyingParty(app, client);
});

describe('GET /authorize (OpenID Connect Core §3.1.2)', () => {
  it('redirects a new browser to the sign-in page with a flow bound to this browser', async () => {
    const response = await rp.authorize();
    expect(response.status).toBe(303);
    expect(locationOf(response).pathname).toBe('/signin');
    const flow = locationOf(response).searchParams.get('flow') as string;
    await rp.signIn(user);
    const elsewhere = await new CookieBrowser().get(`${app.url}/authorize/resume?flow=${flow}`);
    expect(elsewhere.status).toBe(400);
    const resumed = await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`);
    expect(locationOf(resumed).searchParams.get('code')).toEqual(expect.any(String));
    expect((await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`)).status).toBe(400);
  });

  it('drops the oldest of many flows, to limit the size of cookies', async () => {
    for (let count = 0; count < 30; count += 1) expect((await rp.authorize()).status).toBe(303);
    expect(rp.browser.cookies.size).toBe(12);
    const flow = locationOf(await rp.authorize()).searchParams.get('flow');
    await rp.signIn(user);
    expect(locationOf(await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`)).searchParams.has('code')).toBe(
      true,
    );
  });

  it('refuses a URL of a megabyte', async () => {
    expect((await fetch(`${app.url}/authorize?state=${'s'.repeat(1_000_000)}`)).status).toBe(431);
    expect((await rp.authorize({ state: 's'.repeat(1_000_000) }, 'post')).status).toBe(413);
  });

  it('responds without a sign-in under a live session', async () => {
    await rp.signIn(user);
    const given = await rp.answer();
    expect([...given.keys()].sort()).toEqual(['code', 'iss', 'state']);
    expect(given.get('state')).toBe('a state');
    expect((given.get('code') as string).length).toBeGreaterThanOrEqual(43);
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['response_type token', { response_type: 'token' }, 'unsupported_response_type'],
    ['response_mode fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    ['a scope without openid', { scope: 'profile' }, 'invalid_scope'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'x' }, 'invalid_request'],
    ['method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'dance' }, 'invalid_request'],
    ['prompt none with another', { prompt: 'none login' }, 'invalid_request'],
    ['an invalid max_age', { max_age: '-1' }, 'invalid_request'],
    ['request', { request: 'x.y.z' }, 'request_not_supported'],
    ['request_uri', { request_uri: 'https://app.example.com/r' }, 'request_uri_not_supported'],
    ['a nonce of 10,000 characters', { nonce: 'n'.repeat(10_000) }, 'invalid_request'],
    ['NUL in the nonce', { nonce: 'a\0b' }, 'invalid_request'],
    ['NUL in acr of claims', { claims: acrOf(['a\0b', 'phr']) }, 'invalid_request'],
    ['a lone surrogate in acr of claims', { claims: acrOf(['\ud800', 'phr']) }, 'invalid_request'],
  ])('sends an error back for %s', async (_name, changes, error) => {
    await rp.signIn(user);
    const given = await rp.answer(changes);
    expect(given.get('error')).toBe(error);
    expect(given.get('state')).toBe('a state');
    expect([...given.keys()].sort()).toEqual(['error', 'error_description', 'iss', 'state']);
  });

  it.each([
    ['scope', 'scope'],
    ['state', 'state'],
    ['max_age', 'max_age'],
    ['made_up', 'A parameter'],
  ])('sends an error back for a repeated %s, which names %s', async (name, named) => {
    const query = new URLSearchParams(authorizationParameters(client.id, rp.proof.challenge));
    for (const value of name === 'scope' || name === 'state' ? ['openid'] : ['1', '1']) query.append(name, value);
    const location = locationOf(await rp.browser.get(`${app.url}/authorize?${query}`));
    expect(location.searchParams.get('error')).toBe('invalid_request');
    expect(location.searchParams.get('error_description')).toBe(`${named} is repeated or malformed.`);
    expect(location.searchParams.get('state')).toBe(name === 'state' ? null : 'a state');
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['no client', { client_id: undefined }],
    ['an invalid client id', { client_id: 'nobody' }],
    ['a client that does not exist', { client_id: '00000000-0000-7000-8000-000000000000' }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['an added query', { redirect_uri: `${redirectUri}?x=1` }],
    ['another case', { redirect_uri: redirectUri.toUpperCase() }],
    ['a longer path', { redirect_uri: `${redirectUri}/more` }],
    ['a path traversal', { redirect_uri: 'https://app.example.com/x/..;/callback' }],
    ['a user name', { redirect_uri: 'https://app.example.com@evil.tld/callback' }],
    ['a longer host', { redirect_uri: 'https://app.example.com.evil.tld/callback' }],
    ['localhost.evil.tld', { redirect_uri: 'http://localhost.evil.tld/callback' }],
    ['a script', { redirect_uri: 'javascript:alert(1)//' }],
    ['data', { redirect_uri: 'data:text/html,x' }],
    ['a state of 10,000 characters', { state: 's'.repeat(10_000) }],
  ])('shows an error page and does not redirect for %s', async (_name, changes) => {
    await rp.signIn(user);
    for (const prompt of [undefined, 'none']) {
      const response = await rp.authorize({ ...changes, prompt });
      expect(response.status).toBe(400);
      expect(response.headers.get('location')).toBeNull();
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('shows no request parameters on the error page', async () => {
    const evil = '<script>alert(1)</script>';
    const body = await (await rp.authorize({ client_id: evil, state: evil, redirect_uri: evil })).text();
    expect(body).not.toContain('alert(1)');
  });

  it('names the application whose address was refused, and logs the refusal without the request', async () => {
    const from = app.logLines.length;
    const response = await rp.authorize({ redirect_uri: 'https://app.example.com/a-secret', state: 'a-secret' });
    const body = await response.text();
    expect(body).toContain(`is not registered for ${client.name}. Admins can look up the code below`);
    expect(body).toContain(response.headers.get('x-request-id'));
    expect(body).not.toContain('a-secret');
    const lines = app.logLines.slice(from).filter((line) => line.includes('request refused'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { error: 'redirect-uri', route: '/authorize', requestId: response.headers.get('x-request-id') },
    ]);
    expect(lines.join()).not.toContain('a-secret');
    expect(await (await rp.authorize({ client_id: 'nobody' })).text()).not.toContain(client.name);
  });

  it('shows the error page for a disabled client', async () => {
    await rp.signIn(user);
    await app.make.disable(client);
    expect((await rp.authorize()).status).toBe(400);
  });

  it('uses only the session of its own project', async () => {
    const other = await app.make.project({ name: 'Other' });
    const stranger = await app.make.user(other);
    const { secret } = await app.make.session(other, stranger);
    rp.browser.cookies.set(`lk-session-${project.id}`, secret);
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
  });

  it('ends a session past its idle timeout, and one past its maximum age', async () => {
    await rp.signIn(user);
    app.clock.turn(29 * 60);
    expect((await rp.answer({ prompt: 'none' })).get('code')).not.toBeNull();
    app.clock.turn(29 * 60);
    expect((await rp.answer({ prompt: 'none' })).get('code')).not.toBeNull();
    app.clock.turn(30 * 60);
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    await rp.signIn(user);
    for (let half = 0; half < 17; half += 1) {
      app.clock.turn(28 * 60);
      expect((await rp.answer({ prompt: 'none' })).get('code')).not.toBeNull();
    }
    app.clock.turn(10 * 60);
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
  });

  it('ends the access of a deactivated user immediately', async () => {
    await rp.signIn(user);
    const given = await rp.tokens();
    await app.services.db.transaction(async (em) => {
      await em.execute('update users set active = false where id = ?', [user.id]);
    });
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    expect((await rp.userInfo(given.access_token)).status).toBe(401);
  });
});

describe('requests without a session from one network', () => {
  it('are limited per minute; beyond the limit, nothing is written and the client gets Retry-After', async () => {
    const waiting = async () => {
      const [row] = await rows<{ n: number }>(app.services.db, 'select count(*)::int as n from authorization_requests');
      return row?.n;
    };
    expect((await rp.authorize()).status).toBe(303);
    await changed(app.services.db, "update budgets set spent = 1000 where id like 'authorize-network:%'");
    const before = await waiting();
    const refused = await rp.authorize();
    expect(locationOf(refused).href.startsWith(redirectUri)).toBe(true);
    expect(locationOf(refused).searchParams.get('error')).toBe('temporarily_unavailable');
    expect(locationOf(refused).searchParams.get('state')).toBe('a state');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await waiting()).toBe(before);
    await rp.signIn(user);
    expect((await rp.answer()).has('code')).toBe(true);
    rp.signOut();
    const elsewhere = `${app.url}/authorize?${new URLSearchParams(authorizationParameters(client.id, rp.proof.challenge))}`;
    const other = await rp.browser.get(elsewhere, { 'X-Forwarded-For': '192.0.2.77' });
    expect(locationOf(other).pathname).toBe('/signin');
    app.clock.turn(60);
    expect(locationOf(await rp.authorize()).pathname).toBe('/signin');
  });
});
