import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  user = await app.make.user(project, {
    givenName: 'Ada',
    familyName: 'Lovelace',
    displayName: 'Ada Lovelace',
    phone: null,
  });
  rp = new RelyingParty(app, client);
});

describe('GET /authorize (OpenID Connect Core §3.1.2)', () => {
  it('asks a stranger to sign in, on a page of its own and with a flow that only this browser can go on with', async () => {
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

  it('gives up the oldest of many flows, so that a browser’s headers never grow too long', async () => {
    for (let count = 0; count < 30; count += 1) expect((await rp.authorize()).status).toBe(303);
    expect(rp.browser.cookies.size).toBe(12);
    const flow = locationOf(await rp.authorize()).searchParams.get('flow');
    await rp.signIn(user);
    expect(locationOf(await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`)).searchParams.has('code')).toBe(
      true,
    );
  });

  it('refuses an address of a megabyte', async () => {
    expect((await fetch(`${app.url}/authorize?state=${'s'.repeat(1_000_000)}`)).status).toBe(431);
    expect((await rp.authorize({ state: 's'.repeat(1_000_000) }, 'post')).status).toBe(413);
  });

  it('answers at once under a live session', async () => {
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
    ['a max_age that is no number', { max_age: '-1' }, 'invalid_request'],
    ['request', { request: 'x.y.z' }, 'request_not_supported'],
    ['request_uri', { request_uri: 'https://app.example.com/r' }, 'request_uri_not_supported'],
    ['a nonce of 10,000 characters', { nonce: 'n'.repeat(10_000) }, 'invalid_request'],
    ['NUL in the nonce', { nonce: 'a\0b' }, 'invalid_request'],
  ])('sends an error back for %s', async (_name, changes, error) => {
    await rp.signIn(user);
    const given = await rp.answer(changes);
    expect(given.get('error')).toBe(error);
    expect(given.get('state')).toBe('a state');
    expect([...given.keys()].sort()).toEqual(['error', 'error_description', 'iss', 'state']);
  });

  it('sends an error back for a repeated parameter', async () => {
    const query = new URLSearchParams(authorizationParameters(client.id, rp.proof.challenge));
    query.append('scope', 'openid');
    const location = locationOf(await rp.browser.get(`${app.url}/authorize?${query}`));
    expect(location.searchParams.get('error')).toBe('invalid_request');
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['no client', { client_id: undefined }],
    ['a client that is none', { client_id: 'nobody' }],
    ['a client that does not exist', { client_id: '00000000-0000-7000-8000-000000000000' }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['an added query', { redirect_uri: `${redirectUri}?x=1` }],
    ['another case', { redirect_uri: redirectUri.toUpperCase() }],
    ['a longer path', { redirect_uri: `${redirectUri}/more` }],
    ['a path that climbs', { redirect_uri: 'https://app.example.com/x/..;/callback' }],
    ['a user name', { redirect_uri: 'https://app.example.com@evil.tld/callback' }],
    ['a longer host', { redirect_uri: 'https://app.example.com.evil.tld/callback' }],
    ['localhost.evil.tld', { redirect_uri: 'http://localhost.evil.tld/callback' }],
    ['a script', { redirect_uri: 'javascript:alert(1)//' }],
    ['data', { redirect_uri: 'data:text/html,x' }],
    ['a state of 10,000 characters', { state: 's'.repeat(10_000) }],
  ])('shows an error page and redirects nowhere for %s', async (_name, changes) => {
    await rp.signIn(user);
    for (const prompt of [undefined, 'none']) {
      const response = await rp.authorize({ ...changes, prompt });
      expect(response.status).toBe(400);
      expect(response.headers.get('location')).toBeNull();
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('lets nothing of the request onto the error page', async () => {
    const evil = '<script>alert(1)</script>';
    const body = await (await rp.authorize({ client_id: evil, state: evil, redirect_uri: evil })).text();
    expect(body).not.toContain('alert(1)');
  });

  it('shows the error page for a client that was switched off', async () => {
    await rp.signIn(user);
    await app.make.disable(client);
    expect((await rp.authorize()).status).toBe(400);
  });

  it('sees the session of its own project only', async () => {
    const other = await app.make.project({ name: 'Other' });
    const stranger = await app.make.user(other);
    const { secret } = await app.make.session(other, stranger);
    rp.browser.cookies.set(`lk-session-${project.id}`, secret);
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
  });

  it('ends a session that was idle for too long, and one that lasted too long', async () => {
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

  it('ends the access of a user who was switched off, at once', async () => {
    await rp.signIn(user);
    const given = await rp.tokens();
    await app.services.db.transaction(async (em) => {
      await em.execute('update users set active = false where id = ?', [user.id]);
    });
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    expect((await rp.userInfo(given.access_token)).status).toBe(401);
  });
});

describe('POST /oauth2/token (RFC 6749 §4.1.3)', () => {
  it('answers with no-store, and with the tokens of service.md 2.2', async () => {
    const sid = await rp.signIn(user);
    const code = await rp.code({ nonce: 'n-1', scope: 'openid email unknown' });
    const response = await rp.exchange(code);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = (await response.json()) as TokenAnswer;
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 300, scope: 'openid email' });
    expect(await rp.claims(body.id_token)).toMatchObject({ sub: user.id, sid, nonce: 'n-1', email: user.email });
  });

  it.each<[string, Record<string, string | undefined>, number, string]>([
    ['no grant_type', { grant_type: undefined }, 400, 'invalid_request'],
    ['another grant_type', { grant_type: 'refresh_token' }, 400, 'unsupported_grant_type'],
    ['no code', { code: undefined }, 400, 'invalid_request'],
    ['no verifier', { code_verifier: undefined }, 400, 'invalid_request'],
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }, 400, 'invalid_grant'],
    ['a short verifier', { code_verifier: 'short' }, 400, 'invalid_grant'],
    ['a long verifier', { code_verifier: 'v'.repeat(129) }, 400, 'invalid_grant'],
    ['a verifier with bad characters', { code_verifier: `${'v'.repeat(42)}!` }, 400, 'invalid_grant'],
    ['no redirect_uri', { redirect_uri: undefined }, 400, 'invalid_request'],
    ['another redirect_uri', { redirect_uri: `${redirectUri}/` }, 400, 'invalid_grant'],
    ['an unknown code', { code: 'x'.repeat(43) }, 400, 'invalid_grant'],
    ['NUL in the code', { code: 'x\0' }, 400, 'invalid_request'],
    ['no client', { client_id: undefined }, 400, 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['a client secret', { client_secret: 'x' }, 401, 'invalid_client'],
    ['an assertion of a public client', assertionOf('x.y.z'), 401, 'invalid_client'],
  ])('refuses %s', async (_name, changes, status, error) => {
    await rp.signIn(user);
    const code = await rp.code();
    const response = await rp.exchange(code, changes);
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ error, error_description: expect.any(String) });
  });

  it('takes lifetimes from the project, and the access token’s from the client where it has one', async () => {
    await rp.signIn(user);
    await app.services.projects.updateSessionPolicy(
      project.id,
      { idTokenTtlSeconds: 120, accessTokenTtlSeconds: 600 },
      system,
    );
    const byProject = await rp.tokens();
    const { exp, iat } = await rp.claims(byProject.id_token);
    expect([Number(exp) - Number(iat), byProject.expires_in]).toEqual([120, 600]);
    await app.services.clients.update(client.id, { accessTokenTtlSeconds: 30 }, system);
    const byClient = await rp.tokens();
    expect(byClient.expires_in).toBe(30);
    app.clock.turn(30);
    expect((await rp.userInfo(byClient.access_token)).status).toBe(401);
    expect((await rp.userInfo(byProject.access_token)).status).toBe(200);
  });

  it('refuses the code of another client, and of another project', async () => {
    await rp.signIn(user);
    const { client: sibling } = await app.make.client(project);
    const { client: stranger } = await app.make.client(await app.make.project());
    for (const other of [sibling, stranger]) {
      const code = await rp.code();
      expect(await (await rp.exchange(code, { client_id: other.id })).json()).toMatchObject({ error: 'invalid_grant' });
    }
  });

  it('refuses HTTP Basic, JSON bodies, repeated parameters, a GET and 100 KB', async () => {
    const url = `${app.url}/oauth2/token`;
    const basic = await fetch(url, {
      method: 'POST',
      headers: { Authorization: 'Basic eDp5' },
      body: new URLSearchParams({ grant_type: 'authorization_code' }),
    });
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toContain('Basic');
    const json = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
    expect([json.status, await json.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    const repeated = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams([
        ['grant_type', 'authorization_code'],
        ['grant_type', 'authorization_code'],
      ]),
    });
    expect(repeated.status).toBe(400);
    expect((await fetch(url)).status).toBe(405);
    const large = await fetch(url, { method: 'POST', body: new URLSearchParams({ code: 'x'.repeat(100_000) }) });
    expect([large.status, await large.json()]).toMatchObject([413, { error: 'invalid_request' }]);
  });

  it('gives a code of the SDK for the client’s secret key, and for no other', async () => {
    const { client: backEnd, secretKey, publishableKey } = await app.make.client(project);
    const { secretKey: foreign } = await app.make.client(project);
    const sdkCode = () =>
      app.services.db.transaction((em) =>
        app.services.tokens.issueCode(em, {
          clientId: backEnd.id,
          userId: user.id,
          scope: 'openid email',
          authTime: app.clock.now(),
          amr: ['swk'],
        }),
      );
    const redeem = async (key: string | undefined) => {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code: await sdkCode(),
        client_id: backEnd.id,
      });
      const response = await fetch(`${app.url}/oauth2/token`, {
        method: 'POST',
        body,
        headers: key === undefined ? {} : { 'X-Api-Key': key },
      });
      return response.status;
    };
    expect(await redeem(secretKey)).toBe(200);
    expect(await redeem(publishableKey)).toBe(401);
    expect(await redeem(foreign)).toBe(401);
    expect(await redeem('lk_sk_wrong')).toBe(401);
    expect(await redeem(undefined)).toBe(400);
  });
});

describe('GET and POST /userinfo (service.md 2.4, 7.4)', () => {
  beforeEach(async () => {
    await rp.signIn(user);
  });

  it('gives the claims of the scopes, and leaves out what is not on record', async () => {
    const { access_token: accessToken } = await rp.tokens({ scope: 'openid profile email phone address' });
    for (const init of [{}, { method: 'POST' }]) {
      const response = await rp.userInfo(accessToken, init);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        sub: user.id,
        name: 'Ada Lovelace',
        given_name: 'Ada',
        family_name: 'Lovelace',
        updated_at: expect.any(Number),
        email: user.email,
        email_verified: true,
      });
    }
  });

  it('takes the token in any case of the scheme, and in a form body', async () => {
    const { access_token: accessToken } = await rp.tokens();
    expect((await rp.userInfo('', { headers: { Authorization: `bearer ${accessToken}` } })).status).toBe(200);
    const body = new URLSearchParams({ access_token: accessToken });
    expect((await fetch(`${app.url}/userinfo`, { method: 'POST', body })).status).toBe(200);
  });

  it('challenges without an error where there is no token', async () => {
    const response = await fetch(`${app.url}/userinfo`);
    expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
      401,
      'Bearer',
      '',
    ]);
  });

  it('refuses a token in the query', async () => {
    const { access_token: accessToken } = await rp.tokens();
    const response = await fetch(`${app.url}/userinfo?access_token=${accessToken}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });

  it('refuses an ID token, an expired token, and one without openid', async () => {
    const given = await rp.tokens();
    const idToken = await rp.userInfo(given.id_token);
    expect([idToken.status, await idToken.json()]).toMatchObject([401, { error: 'invalid_token' }]);
    expect(idToken.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const { jti } = JSON.parse(Buffer.from(given.access_token.split('.')[1] as string, 'base64url').toString());
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const narrow = await app.services.signer.sign('access-token', {
      sub: user.id,
      aud: app.url,
      jti,
      scope: 'email',
      exp: now + 60,
    });
    const refused = await rp.userInfo(narrow);
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: 'insufficient_scope' }]);
    app.clock.turn(300);
    expect((await rp.userInfo(given.access_token)).status).toBe(401);
  });
});

describe('discovery, keys and CORS', () => {
  it('publishes a document whose issuer is its address', async () => {
    const response = await fetch(`${app.url}/.well-known/openid-configuration`);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({ issuer: app.url, token_endpoint: `${app.url}/oauth2/token` });
  });

  it.each(['openid-configuration', 'jwks.json'])('sends %s again only where it has changed', async (document) => {
    const url = `${app.url}/.well-known/${document}`;
    const first = await fetch(url);
    // fetch would ask for no cached answer by itself.
    const ask = (etag: string) => fetch(url, { headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' } });
    const again = await ask(first.headers.get('etag') ?? '');
    expect(again.status).toBe(304);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await ask('"another"')).status).toBe(200);
  });

  it('publishes public keys only, each with its own kid', async () => {
    const { keys } = (await (await fetch(`${app.url}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, unknown>[];
    };
    expect(new Set(keys.map((key) => key['kid'])).size).toBe(keys.length);
    expect(keys.map((key) => key['alg']).sort()).toEqual(['ES512', 'EdDSA']);
    for (const key of keys) expect(key).not.toHaveProperty('d');
    await rp.signIn(user);
    const { id_token: idToken } = await rp.tokens();
    expect(keys.map((key) => key['kid'])).toContain(decodeProtectedHeader(idToken).kid);
  });

  it.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['https://evil.tld', null],
    ['https://app.example.com.evil.tld', null],
    ['null', null],
  ])('lets pages of %s read tokens: %s', async (origin, allowed) => {
    for (const path of ['/oauth2/token', '/userinfo']) {
      const preflight = await fetch(app.url + path, {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, allowed]);
      const response = await fetch(app.url + path, { method: 'POST', headers: { Origin: origin } });
      expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
      expect(response.headers.get('vary')).toContain('Origin');
    }
  });
});

function assertionOf(assertion: string): Record<string, string | undefined> {
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  return { client_assertion: assertion, client_assertion_type: type };
}
