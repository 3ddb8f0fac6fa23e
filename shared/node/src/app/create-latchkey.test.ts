import { generateKeyPairSync } from 'node:crypto';
import { Hono } from 'hono';
import { type CryptoKey, importSPKI, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { origin, settings } from '../../test/application.ts';
import { json } from '../../test/listen.ts';
import { makeKey, startProvider, type TestProvider } from '../../test/provider.ts';
import { honoAdapter } from './adapters.ts';
import { createLatchkey, type Latchkey } from './create-latchkey.ts';
import type { LatchkeyOptions } from './options.ts';

let provider: TestProvider;

beforeEach(async () => {
  provider = await startProvider();
});
afterEach(async () => {
  vi.useRealTimers();
  await provider.close();
});

/** A new private key. */
const pemOf = (type: 'ed25519' | 'x25519') =>
  generateKeyPairSync(type as 'ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

const latchkey = (more: Partial<LatchkeyOptions> = {}) => createLatchkey(settings(provider, more));

describe('createLatchkey', () => {
  it.each([
    [{ issuer: '' }, 'issuer is required.'],
    [{ issuer: 'https://id.example.com/' }, 'slash'],
    [{ issuer: 'http://id.example.com' }, 'Use https'],
    [
      { clientId: undefined },
      'clientId is undefined: check its environment variable. Fix the options: no request was sent.',
    ],
    [{ apiKey: undefined }, 'one of apiKey, clientSecret and privateKey is required, and apiKey is undefined: check'],
    [{ apiKey: undefined, clientSecret: undefined, privateKey: undefined }, 'and apiKey is undefined'],
    [{ clientSecret: 'lk_cs_x' }, 'one of apiKey, clientSecret and privateKey is required'],
    [{ tokenEndpointAuthMethod: 'client_secret_post' }, 'with clientSecret'],
    [{ apiKey: undefined, clientSecret: 'x', tokenEndpointAuthMethod: 'client_secret_jwt' }, 'client_secret_basic or'],
    [{ apiKey: undefined, privateKey: '' }, 'privateKey must be a PEM'],
    [{ apiKey: undefined, privateKey: '/nowhere.pem' }, 'privateKey is neither a PEM nor a readable file'],
    [
      { apiKey: undefined, privateKey: '-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----' },
      'privateKey is not',
    ],
    [{ apiKey: undefined, privateKey: pemOf('x25519') }, 'a key of type x25519'],
    [{ apiKey: 'lk_pk_x' }, 'publishable key'],
    [{ apiKey: 'lk_cs_x' }, 'clientSecret'],
    [{ redirectUri: undefined }, 'redirectUri is undefined: check'],
    [{ redirectUri: 'http://app.example.com/callback' }, 'Use https'],
    [{ session: { secret: 'short' } }, '32 characters'],
    [{ session: { secret: [] } }, 'session.secret is required.'],
    [{ session: { secret: process.env['UNSET'] } }, 'session.secret is undefined: check its environment variable.'],
    [{ session: { secret: 'x'.repeat(32), idleSeconds: 1 } }, 'session.idleSeconds'],
    [{ basePath: 'auth' }, 'basePath'],
    [{ algorithms: ['HS256'] }, 'HS256'],
  ])('refuses %j immediately', (change, problem) => {
    expect(() => latchkey(change as Partial<LatchkeyOptions>)).toThrow(problem);
  });

  it('needs three values for operations without sessions', async () => {
    const { apiKey, clientId, url: issuer } = provider;
    const bare = createLatchkey({ issuer, clientId, apiKey });
    expect((await bare.exchange('c')).claims.sub).toBe('user-1');
    await expect(bare.handle(new Request('https://app.example.com/auth/login'))).rejects.toThrow('redirectUri');
  });
});

describe('discovery', () => {
  it('is read once for many operations', async () => {
    const { discovery, exchange } = latchkey();
    await Promise.all([discovery(), discovery(), exchange('c'), exchange('d')]);
    expect(provider.discoveries).toBe(1);
  });

  it.each([
    [{ issuer: 'https://evil.example.com' }, 'another issuer'],
    [{ token_endpoint: undefined }, 'token_endpoint'],
    [{ jwks_uri: 'http://evil.example.com/keys' }, 'jwks_uri'],
    [{ userinfo_endpoint: 'javascript:0' }, 'userinfo_endpoint'],
    [{ id_token_signing_alg_values_supported: 'none' }, 'id_token_signing_alg_values_supported'],
  ])('refuses a document with %j', async (change, problem) => {
    const { discovery } = provider;
    provider.discovery = () => ({ ...discovery(), ...change });
    await expect(latchkey().discovery()).rejects.toMatchObject({
      code: 'DISCOVERY_INVALID',
      message: expect.stringContaining(problem),
    });
  });

  it('uses the last document during an outage, for a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { discovery } = latchkey();
    await discovery();
    provider.override['/.well-known/openid-configuration'] = (_req, res) => json(res, 503, {});
    vi.setSystemTime(Date.now() + 2 * 3600_000);
    expect(await discovery()).toMatchObject({ issuer: provider.url });
    vi.setSystemTime(Date.now() + 23 * 3600_000);
    await expect(discovery()).rejects.toMatchObject({ code: 'DISCOVERY_UNAVAILABLE', status: 503 });
  });
});

describe('exchange', () => {
  it('sends a secret key, and the verifier', async () => {
    await latchkey().exchange('c', { codeVerifier: 'v'.repeat(43) });
    const [{ form, headers } = { form: new URLSearchParams(), headers: {} }] = provider.requests;
    expect([headers['x-api-key'], form.get('code_verifier')]).toEqual([provider.apiKey, 'v'.repeat(43)]);
  });

  it('sends a client secret by HTTP Basic, form-encoded (RFC 6749 §2.3.1)', async () => {
    await latchkey({ apiKey: undefined, clientSecret: 'lk_cs_ä %+' } as never).exchange('c');
    const [, basic = ''] = provider.requests[0]?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(basic, 'base64').toString()).toBe(`${provider.clientId}:lk_cs_%C3%A4+%25%2B`);
    expect(provider.requests[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('sends a client secret in the body, and only there', async () => {
    const clientSecret = 'lk_cs_ä %+';
    const options = { apiKey: undefined, clientSecret, tokenEndpointAuthMethod: 'client_secret_post' };
    await latchkey(options as never).exchange('c');
    const [{ form, headers } = { form: new URLSearchParams(), headers: {} }] = provider.requests;
    expect([form.get('client_secret'), headers.authorization]).toEqual([clientSecret, undefined]);
  });

  it.each([
    ['EdDSA', () => generateKeyPairSync('ed25519')],
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])('sends a client assertion with %s, another one each time', async (alg, make) => {
    const { privateKey, publicKey } = make();
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const app = latchkey({ apiKey: undefined, privateKey: pem.replaceAll('\n', '\\n'), keyId: 'k1' } as never);
    await app.exchange('c');
    await app.exchange('d');
    const key: CryptoKey = await importSPKI(publicKey.export({ type: 'spki', format: 'pem' }).toString(), alg);
    const [one, other] = await Promise.all(
      provider.requests.map(({ form }) =>
        jwtVerify(form.get('client_assertion') ?? '', key, { audience: provider.url }),
      ),
    );
    expect(one?.protectedHeader).toEqual({ alg, kid: 'k1' });
    const { exp = 0, iat = 0, ...claims } = one?.payload ?? {};
    const { clientId, url } = provider;
    expect(claims).toEqual({ iss: clientId, sub: clientId, aud: url, jti: expect.stringMatching(/^[\w-]{22}$/) });
    expect(exp - iat).toBe(60);
    expect(other?.payload.jti).not.toBe(claims.jti);
  });
});

describe('verifyIdToken', () => {
  it('accepts the algorithms of the issuer, and none that is symmetric', async () => {
    provider.key = await makeKey('RS256');
    await expect(latchkey().verifyIdToken(await provider.idToken())).rejects.toMatchObject({
      code: 'ALGORITHM_NOT_ALLOWED',
    });
    const { discovery } = provider;
    provider.discovery = () => ({ ...discovery(), id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] });
    expect(await latchkey().verifyIdToken(await provider.idToken({ nonce: 'n' }), { nonce: 'n' })).toMatchObject({
      sub: 'user-1',
    });
  });

  it.each([
    [{ aud: 'other' }, 'AUDIENCE_MISMATCH'],
    [{ azp: 'other' }, 'AUDIENCE_MISMATCH'],
    [{ iss: 'https://evil.example.com' }, 'ISSUER_MISMATCH'],
    [{ exp: 1 }, 'EXPIRED'],
    [{ nonce: 'other' }, 'NONCE_MISMATCH'],
  ])('refuses %j', async (claims, code) => {
    const refused = latchkey().verifyIdToken(await provider.idToken({ nonce: 'n', ...claims }), { nonce: 'n' });
    await expect(refused).rejects.toMatchObject({ code });
  });
});

describe('getUserInfo', () => {
  it('returns the claims of this user only', async () => {
    expect(await latchkey().getUserInfo('opens-userinfo', 'user-1')).toEqual({ sub: 'user-1', name: 'Ada' });
    await expect(latchkey().getUserInfo('opens-userinfo', 'user-2')).rejects.toMatchObject({
      code: 'USERINFO_INVALID',
    });
  });

  it.each([
    [401, 'ACCESS_TOKEN_REJECTED'],
    [500, 'USERINFO_UNAVAILABLE'],
  ])('maps status %i to %s', async (status, code) => {
    provider.override['/userinfo'] = (_req, res) => json(res, status, {});
    await expect(latchkey().getUserInfo('t', 'user-1')).rejects.toMatchObject({ code, status });
  });

  it('sends no header that was injected', async () => {
    await expect(latchkey().getUserInfo('t\r\nX: 1', 'user-1')).rejects.toMatchObject({
      code: 'ACCESS_TOKEN_REJECTED',
    });
  });
});

describe('logoutUrl', () => {
  it('names client, session and return address', async () => {
    const url = new URL(
      await latchkey({ postLogoutRedirectUri: 'https://app.example.com/bye' }).logoutUrl({ idToken: 't' }),
    );
    expect(url.origin + url.pathname).toBe(`${provider.url}/oauth2/end_session`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: provider.clientId,
      id_token_hint: 't',
      post_logout_redirect_uri: 'https://app.example.com/bye',
    });
  });
});

describe('the routes', () => {
  it('leave OPTIONS of the whole server (RFC 9110 §9.3.7) to the application', async () => {
    const incoming = { method: 'OPTIONS', url: '*', header: () => undefined, body: async () => '' };
    expect(await latchkey().routes.handle(incoming)).toBeUndefined();
  });
});

describe('requireSession', () => {
  /** The cookie of a session that is due to be renewed. */
  async function dueSession(app: Latchkey): Promise<string> {
    vi.useFakeTimers({ toFake: ['Date'] });
    const signIn = await app.handle(
      new Request(`${origin}/auth/sign-in`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin },
        body: '{"code":"c"}',
      }),
    );
    vi.setSystemTime(Date.now() + 600_000);
    return signIn?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  }

  it('keeps the response that opens a WebSocket, of which Deno and Cloudflare accept no copy', async () => {
    const app = latchkey();
    const headers = { cookie: await dueSession(app), Origin: origin, Upgrade: 'websocket' };
    const request = () => new Request(`${origin}/socket`, { headers });
    const opening = Object.defineProperty(new Response(), 'status', { value: 101 });
    expect(await app.requireSession(() => opening)(request())).toBe(opening);
    const server = new Hono().get('/socket', honoAdapter(app).requireSession(), () => opening);
    expect(await server.request(request())).toBe(opening);
  });

  it('works on responses whose headers are immutable, as middleware of Next.js returns them', async () => {
    const app = latchkey();
    const request = (cookie: string) => new Request(`${origin}/account`, { headers: { cookie } });
    const cookie = await dueSession(app);
    const guarded = app.requireSession(() => Response.redirect(`${origin}/next`));
    const response = await guarded(request(cookie));
    expect([response.status, response.headers.getSetCookie().length]).toEqual([302, 1]);
    expect(await app.getSession(request(cookie))).toMatchObject({ sub: 'user-1' });
    expect(await app.getSession(request(''))).toBeNull();
  });
});
