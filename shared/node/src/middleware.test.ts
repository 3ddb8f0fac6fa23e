import express, {
  type ErrorRequestHandler,
  type Request as ExpressRequest,
  type Response as ExpressResponse,
} from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, type Listening, listen, textOf } from '../test/listen.ts';
import { startProvider, type TestProvider } from '../test/provider.ts';
import { createLatchkeyHandlers, type OnSignInRequest } from './handlers.ts';
import type { LogoutClaims } from './logout-token.ts';
import { createLatchkeyMiddleware } from './middleware.ts';
import type { RelyingPartyOptions } from './relying-party.ts';
import { MemoryReplayStore } from './replay-store.ts';

let provider: TestProvider;
let app: Listening;
let errors: unknown[];
let logouts: LogoutClaims[];
let onLogout: (logout: LogoutClaims) => unknown;

/** Requests of Node, by Express, or of the Fetch standard: the same routes with the same responses. */
const kinds = ['Express', 'Fetch'] as const;
let kind: (typeof kinds)[number];

const relyingParty = (more: Partial<RelyingPartyOptions> = {}) =>
  kind === 'Express' ? expressParty(more) : fetchParty(more);

const settings = () => ({
  baseUrl: `${provider.url}/`,
  clientId: provider.clientId,
  apiKey: provider.apiKey,
  replayStore: new MemoryReplayStore(),
  redirectUri: 'http://127.0.0.1/callback',
  onError: (error: unknown) => void errors.push(error),
});

/** Handlers behind a server that converts requests, as Hono and Next.js do. */
function fetchParty(more: Partial<RelyingPartyOptions>): Promise<Listening> {
  const latchkey = createLatchkeyHandlers({ ...settings(), ...more });
  const onSignIn: OnSignInRequest = ({ claims }) => new Headers({ 'Set-Cookie': `session=${claims.sub}; HttpOnly` });
  const routes: Record<string, (request: Request) => Promise<Response>> = {
    '/sign-in': latchkey.signIn({ onSignIn }),
    '/begin': latchkey.begin({ returnTo: ({ url }) => new URL(url).searchParams.get('to') ?? undefined }),
    '/callback': latchkey.callback({
      onSignIn,
      onFailure: (error) => Response.json({ code: codeOf(error) }, { status: statusOf(error) }),
    }),
    '/logout': latchkey.backchannelLogout({ onLogout: (logout) => onLogout(logout) }),
  };
  return listen(async (req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    const sent = req.method === 'POST' ? { body: await textOf(req) } : {};
    const headers = new Headers(req.headers as Record<string, string>);
    const request = new Request(url, { ...sent, method: req.method ?? 'GET', headers });
    const response = (await routes[url.pathname]?.(request)) ?? new Response(null, { status: 404 });
    for (const [name, value] of response.headers) res.appendHeader(name, value);
    res.writeHead(response.status).end(await response.text());
  });
}

const codeOf = (error: unknown) => (error as { code: string }).code;
const statusOf = (error: unknown) => (error as { status?: number }).status ?? 500;

/** An Express app as in the README. */
function expressParty(more: Partial<RelyingPartyOptions> = {}, parser?: express.RequestHandler): Promise<Listening> {
  const latchkey = createLatchkeyMiddleware({ ...settings(), ...more });
  const server = express();
  if (parser) server.use(parser);
  const onSignIn = (signIn: { claims: { sub: string } }, _req: ExpressRequest, res: ExpressResponse) => {
    res.cookie('session', signIn.claims.sub, { httpOnly: true });
  };
  server.post('/sign-in', latchkey.signIn({ onSignIn }));
  server.get('/begin', latchkey.begin<ExpressRequest>({ returnTo: (req) => req.query['to'] as string }));
  server.get('/callback', latchkey.callback({ onSignIn }));
  server.all('/logout', latchkey.backchannelLogout({ onLogout: (logout) => onLogout(logout) }));
  const failed: ErrorRequestHandler = (error: { status?: number; code?: string }, _req, res, _next) => {
    res.status(error.status ?? 500).json({ code: error.code });
  };
  server.use(failed);
  return listen(server);
}

/** An `onLogout` that ends only by `fail`. */
function pending() {
  let fail: (error: Error) => void = () => {};
  let begin: () => void = () => {};
  const outcome = new Promise<void>((_done, failed) => {
    fail = failed;
  });
  const began = new Promise<void>((done) => {
    begin = done;
  });
  const onLogout = () => {
    begin();
    return outcome;
  };
  return { began, fail, onLogout };
}

const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const logout = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/logout`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });

describe.each(kinds)('%s', (given) => {
  beforeEach(async () => {
    kind = given;
    provider = await startProvider();
    errors = [];
    logouts = [];
    onLogout = (logout) => logouts.push(logout);
    app = await relyingParty();
  });
  afterEach(() => Promise.all([app.close(), provider.close()]));

  describe('signIn', () => {
    it('exchanges the page’s code and calls onSignIn', async () => {
      const response = await signIn({ code: 'the-code', code_verifier: 'v'.repeat(43) });
      expect(response.status).toBe(204);
      expect(response.headers.get('set-cookie')).toContain('session=user-1');
      expect(provider.requests[0]?.form.get('code_verifier')).toBe('v'.repeat(43));
    });

    it('works behind a body parser', async () => {
      await app.close();
      app = await expressParty({}, express.json());
      expect((await signIn({ code: 'the-code' })).status).toBe(204);
    });

    it.each([
      ['no JSON', '{', {}, 400],
      ['a list', '[]', {}, 400],
      ['no code', '{}', {}, 400],
      ['a code that is not a string', '{"code":{"$ne":""}}', {}, 400],
      ['a verifier that is not a string', '{"code":"c","code_verifier":7}', {}, 400],
      ['a form, as other sites can send', 'code=c', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
      ['a request from another site', '{"code":"c"}', { 'Sec-Fetch-Site': 'cross-site' }, 400],
      ['far too much', `{"code":"${'x'.repeat(70_000)}"}`, {}, 413],
    ])('rejects %s without a request to the service', async (_, body, headers, status) => {
      expect((await signIn(body, headers as Record<string, string>)).status).toBe(status);
      expect(provider.requests).toEqual([]);
    });

    it.each([
      [400, 'invalid_grant', 401, 'INVALID_GRANT'],
      [503, 'temporarily_unavailable', 503, 'TEMPORARILY_UNAVAILABLE'],
      [401, 'invalid_client', 500, 'INVALID_CLIENT'],
    ])('maps %i %s of the service to %i', async (theirs, error, ours, code) => {
      provider.override['/oauth2/token'] = (_req, res) => json(res, theirs, { error });
      const response = await signIn({ code: 'c' });
      expect(response.status).toBe(ours);
      expect(await response.json()).toEqual({ error: 'sign_in_failed', code });
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(errors).toHaveLength(1);
    });
  });

  describe('hosted page', () => {
    async function begin(to = '/cart') {
      const response = await fetch(`${app.url}/begin?to=${encodeURIComponent(to)}`, { redirect: 'manual' });
      const location = new URL(response.headers.get('location') ?? '');
      const cookie = response.headers.get('set-cookie') ?? '';
      return { response, query: location.searchParams, location, cookie, sent: cookie.split(';')[0] ?? '' };
    }
    const back = (query: Record<string, string>, cookie: string) =>
      fetch(`${app.url}/callback?${new URLSearchParams(query)}`, { headers: { cookie }, redirect: 'manual' });

    it('is opened with state, nonce and challenge, stored in a cookie', async () => {
      const { response, location, query, cookie } = await begin();
      expect(response.status).toBe(303);
      expect(`${location.origin}${location.pathname}`).toBe(`${provider.url}/authorize`);
      expect(Object.fromEntries(query)).toMatchObject({
        response_type: 'code',
        client_id: provider.clientId,
        redirect_uri: 'http://127.0.0.1/callback',
        scope: 'openid profile email phone',
        code_challenge_method: 'S256',
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(cookie).toMatch(/HttpOnly; SameSite=Lax$/);
    });

    it('returns a code, exchanged with verifier, redirect URI and nonce', async () => {
      const { query, sent } = await begin();
      provider.nextIdToken = await provider.idToken({ nonce: query.get('nonce') });
      const response = await back({ code: 'c', state: query.get('state') ?? '', iss: provider.url }, sent);
      expect([response.status, response.headers.get('location')]).toEqual([303, '/cart']);
      const cookies = response.headers.getSetCookie();
      expect(cookies).toHaveLength(2);
      expect(cookies.join()).toMatch(/latchkey-sign-in-[^,]*Max-Age=0/);
      expect(cookies.join()).toContain('session=user-1');
      expect(provider.requests[0]?.form.get('redirect_uri')).toBe('http://127.0.0.1/callback');
      expect(provider.requests[0]?.form.get('code_verifier')).toMatch(/^[\w-]{43}$/);
    });

    it('response with another nonce in the ID token is rejected', async () => {
      const { query, sent } = await begin();
      const response = await back({ code: 'c', state: query.get('state') ?? '', iss: provider.url }, sent);
      expect(await response.json()).toEqual({ code: 'NONCE_MISMATCH' });
    });

    it('response with an unknown state or another issuer is rejected', async () => {
      const { query, sent } = await begin();
      const state = query.get('state') ?? '';
      const stranger = await begin();
      const answers: [Record<string, string>, string][] = [
        [{ code: 'c', state, iss: provider.url }, ''],
        [{ code: 'c', state, iss: provider.url }, stranger.sent],
        [{ code: 'c', state, iss: provider.url }, `${sent.split('=')[0]}=nonsense`],
        [{ code: 'c', state: 'other', iss: provider.url }, sent],
        [{ code: 'c', iss: provider.url }, sent],
        [{ code: 'c', state, iss: 'https://evil.example' }, sent],
        [{ code: 'c', state }, sent],
        [{ state, iss: provider.url }, sent],
      ];
      for (const [query, cookie] of answers) {
        const response = await back(query, cookie);
        expect([response.status, await response.json()]).toEqual([400, { code: 'CALLBACK_REJECTED' }]);
      }
      expect(provider.requests).toEqual([]);
    });

    it('error response is passed on', async () => {
      const { query, sent } = await begin();
      const response = await back({ error: 'access_denied', state: query.get('state') ?? '', iss: provider.url }, sent);
      expect([response.status, await response.json()]).toEqual([401, { code: 'SIGN_IN_REFUSED' }]);
    });

    it('returns to this site only', async () => {
      for (const to of [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        'javascript:alert(1)',
        '/\t/evil.example',
      ]) {
        const { query, sent } = await begin(to);
        provider.nextIdToken = await provider.idToken({ nonce: query.get('nonce') });
        const response = await back({ code: 'c', state: query.get('state') ?? '', iss: provider.url }, sent);
        expect(response.headers.get('location')).toBe('/');
      }
    });

    it('does not keep the cookies of all abandoned ones', async () => {
      const jar = new Map<string, string>();
      for (let tries = 0; tries < 10; tries++) {
        const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
        const response = await fetch(`${app.url}/begin`, { headers: { cookie }, redirect: 'manual' });
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (line.includes('Max-Age=0')) jar.delete(name);
          else jar.set(name, value);
        }
      }
      expect(jar.size).toBe(6);
    });

    it('uses a __Host- cookie on https', async () => {
      await app.close();
      app = await relyingParty({ redirectUri: 'https://app.example.com/callback' });
      expect((await begin()).cookie).toMatch(/^__Host-.*; Path=\/;.*; Secure$/);
    });
  });

  describe('backchannelLogout', () => {
    it('ends the sessions of the token and responds 200', async () => {
      const response = await logout(`logout_token=${await provider.logoutToken({ sid: 's-1' })}`);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(logouts).toMatchObject([{ sub: 'user-1', sid: 's-1' }]);
    });

    it('works behind a body parser', async () => {
      await app.close();
      app = await expressParty({}, express.urlencoded({ extended: true }));
      expect((await logout(`logout_token=${await provider.logoutToken()}`)).status).toBe(200);
      expect(logouts).toHaveLength(1);
    });

    it('responds 200 to a repeated token without ending sessions again', async () => {
      const token = await provider.logoutToken();
      const statuses = await Promise.all([1, 2, 3].map(async () => (await logout(`logout_token=${token}`)).status));
      expect(statuses).toEqual([200, 200, 200]);
      expect(logouts).toHaveLength(1);
    });

    it('responds 500 if onLogout fails, and accepts a retry', async () => {
      const token = await provider.logoutToken();
      onLogout = () => Promise.reject(new Error('the session store is down'));
      expect((await logout(`logout_token=${token}`)).status).toBe(500);
      onLogout = (claims) => logouts.push(claims);
      expect((await logout(`logout_token=${token}`)).status).toBe(200);
      expect(logouts).toHaveLength(1);
    });

    it('responds to a repeat during onLogout as to the first, and accepts a retry after a failure', async () => {
      const token = await provider.logoutToken();
      const { began, fail, onLogout: slow } = pending();
      onLogout = slow;
      const first = logout(`logout_token=${token}`);
      await began;
      const repeat = logout(`logout_token=${token}`);
      // Verified after the repeat.
      await logout(`logout_token=${await provider.logoutToken({ aud: 'x' })}`);
      fail(new Error('the session store is down'));
      expect([(await first).status, (await repeat).status]).toEqual([500, 500]);
      onLogout = (claims) => logouts.push(claims);
      for (const _ of [1, 2]) expect((await logout(`logout_token=${token}`)).status).toBe(200);
      expect(logouts).toHaveLength(1);
    });

    it('calls onLogout for a repeat in another process, until one has succeeded', async () => {
      const replayStore = new MemoryReplayStore();
      const token = await provider.logoutToken();
      const { began, onLogout: slow } = pending();
      const crashed = await relyingParty({ replayStore });
      onLogout = slow;
      const body = new URLSearchParams({ logout_token: token });
      void fetch(`${crashed.url}/logout`, { method: 'POST', body }).catch(() => undefined);
      await began;
      onLogout = (claims) => logouts.push(claims);
      for (const _ of [1, 2]) {
        await app.close();
        app = await relyingParty({ replayStore });
        expect((await logout(`logout_token=${token}`)).status).toBe(200);
      }
      expect(logouts).toHaveLength(1);
      await crashed.close();
    });

    it('responds 503 if the keys are unreachable, so that the service retries', async () => {
      provider.override['/.well-known/jwks.json'] = (_req, res) => json(res, 500, {});
      expect((await logout(`logout_token=${await provider.logoutToken()}`)).status).toBe(503);
    });

    it('responds 400 to an invalid token', async () => {
      for (const token of ['', 'nonsense', await provider.idToken(), await provider.logoutToken({ aud: 'x' })]) {
        const response = await logout(`logout_token=${token}`);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: 'invalid_request' });
      }
      const token = await provider.logoutToken();
      expect((await logout(`logout_token=${token}&logout_token=${token}`)).status).toBe(400);
      expect(
        (await logout(JSON.stringify({ logout_token: token }), { 'Content-Type': 'application/json' })).status,
      ).toBe(415);
      expect((await fetch(`${app.url}/logout?logout_token=${token}`)).status).toBe(405);
      expect(logouts).toEqual([]);
    });
  });
});
