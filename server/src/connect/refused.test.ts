import { createHmac } from 'node:crypto';
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { newAddress } from '../../test/signin-world.ts';
import { type Lies, signed, UpstreamProvider } from '../../test/upstream-provider.ts';
import { Connection } from '../domain/connections/connection.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const seconds = () => Math.floor(world.app.clock.now().getTime() / 1000);

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The reasons that the connection counted. */
async function failures(): Promise<string[]> {
  const connection = await world.app.services.db
    .reader()
    .findOneOrFail(Connection, { project: world.project.id, id: own.connection.id });
  return Object.keys(connection.failures);
}

/** Nothing but a counter changed. */
async function isUntouched(): Promise<void> {
  expect(await own.identities()).toEqual([]);
  expect(await own.sessions()).toBe(0);
}

const hs256 = (secret: string) => (header: Record<string, unknown>, claims: Record<string, unknown>) => {
  const input = `${base64url({ ...header, alg: 'HS256' })}.${base64url(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

describe('an answer of the provider is refused', () => {
  it.each<[string, string, () => Lies | Promise<Lies>]>([
    ['alg none', 'response', () => ({ idToken: (h, c) => `${base64url({ ...h, alg: 'none' })}.${base64url(c)}.` })],
    ['HS256 with the client secret', 'response', () => ({ idToken: hs256(own.provider.secret) })],
    ['a foreign kid', 'signature', () => ({ header: { kid: 'another' } })],
    [
      'a foreign key with a known kid',
      'signature',
      async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return { idToken: (header, claims, key) => signed(header, claims, { ...key, privateKey }) };
      },
    ],
    ['jku', 'signature', () => ({ header: { jku: 'https://attacker.example/keys' } })],
    ['x5u', 'signature', () => ({ header: { x5u: 'https://attacker.example/cert' } })],
    ['jwk in the header', 'signature', async () => ({ header: { jwk: await own.provider.publicKey() } })],
    [
      'a changed claim',
      'signature',
      () => ({
        idToken: async (header, claims, key) => {
          const [head, , signature] = (await signed(header, claims, key)).split('.');
          return `${head}.${base64url({ ...claims, sub: 'victim' })}.${signature}`;
        },
      }),
    ],
    ['another issuer', 'issuer', () => ({ claims: { iss: 'https://attacker.example' } })],
    ['no issuer', 'response', () => ({ claims: { iss: undefined } })],
    ['another audience', 'audience', () => ({ claims: { aud: 'another' } })],
    ['strangers in aud without azp', 'audience', () => ({ claims: { aud: ['latchkey', 'another'] } })],
    ['azp of another client', 'audience', () => ({ claims: { azp: 'another' } })],
    ['no audience', 'response', () => ({ claims: { aud: undefined } })],
    ['exp past', 'time', () => ({ claims: { exp: seconds() - 61 } })],
    ['no exp', 'response', () => ({ claims: { exp: undefined } })],
    ['exp as text', 'response', () => ({ claims: { exp: String(seconds() + 300) } })],
    ['iat far ahead', 'time', () => ({ claims: { iat: seconds() + 120 } })],
    ['iat long past', 'time', () => ({ claims: { iat: seconds() - 3600 } })],
    ['no iat', 'response', () => ({ claims: { iat: undefined } })],
    ['nbf ahead', 'time', () => ({ claims: { nbf: seconds() + 120 } })],
    ['another nonce', 'nonce', () => ({ claims: { nonce: 'another' } })],
    ['no nonce', 'response', () => ({ claims: { nonce: undefined } })],
    ['no sub', 'response', () => ({ claims: { sub: undefined } })],
    ['an empty sub', 'subject', () => ({ claims: { sub: '' } })],
    ['sub as a number', 'response', () => ({ claims: { sub: 7 } })],
    ['sub as a list', 'response', () => ({ claims: { sub: ['ada'] } })],
    ['sub of 256 characters', 'subject', () => ({ claims: { sub: 'x'.repeat(256) } })],
    ['sub with a control character', 'subject', () => ({ claims: { sub: 'ada\u0000' } })],
    ['act: an admin of the provider acts as the user', 'subject', () => ({ claims: { act: { sub: 'admin' } } })],
    ['1 MB', 'unreachable', () => ({ claims: { more: 'x'.repeat(1 << 20) } })],
    ['60 KB', 'signature', () => ({ claims: { more: 'x'.repeat(45 << 10) } })],
    ['an encrypted token', 'response', () => ({ idToken: () => 'a.b.c.d.e' })],
    ['no ID token', 'response', () => ({ token: { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } })],
    [
      'an error of the token endpoint',
      'token-endpoint',
      () => ({ token: { status: 400, body: '{"error":"invalid_grant"}' } }),
    ],
    ['a token endpoint without JSON', 'response', () => ({ token: { status: 200, body: '<html>' } })],
    ['UserInfo of another subject', 'userinfo', () => ({ claims: { email: undefined }, userInfo: { sub: 'victim' } })],
    ['UserInfo without sub', 'userinfo', () => ({ claims: { email: undefined }, userInfo: { email: 'a@b.example' } })],
    ['no code', 'response', () => ({ response: (query) => query.delete('code') })],
    [
      'iss of another issuer (RFC 9207)',
      'response',
      () => ({ response: (query) => query.set('iss', 'https://b.example') }),
    ],
    ['a code of its own', 'token-endpoint', () => ({ response: (query) => query.set('code', 'injected') })],
  ])('with %s', async (_, fault, lies) => {
    Object.assign(own.provider.person, { email: newAddress() });
    own.provider.lies = await lies();
    const browser = await own.browser();
    const to = await own.through(browser);
    expect([to.pathname, to.searchParams.get('connect')]).toEqual(['/signin', 'failed']);
    expect(await failures()).toEqual([fault]);
    await isUntouched();
    const text = await (await browser.browser.get(to.href)).text();
    expect(text).toContain('That sign-in did not work.');
    // Honest again: nothing is left behind.
    own.provider.lies = {};
    expect((await own.through(browser)).pathname).toBe('/authorize/resume');
  });

  it('without iss, where it announces it (RFC 9207)', async () => {
    const announcing = await UpstreamProvider.open(() => world.app.clock.now());
    announcing.lies = { discovery: { authorization_response_iss_parameter_supported: true } };
    const connection = await own.connect({ name: 'Announcing' }, announcing.issuer);
    announcing.secret = own.provider.secret;
    announcing.person = { sub: '1', email: newAddress(), email_verified: true };
    const browser = await own.browser();
    const back = announcing.agree(await own.start(browser, connection));
    expect(locationOf(await browser.browser.get(back.href)).searchParams.get('connect')).toBe('failed');
    const right = announcing.agree(await own.start(browser, connection));
    right.searchParams.set('iss', announcing.issuer);
    expect(locationOf(await browser.browser.get(right.href)).pathname).toBe('/authorize/resume');
    await announcing.close();
  });

  it.each([
    ['another issuer', () => ({ issuer: 'https://attacker.example' })],
    ['no token endpoint', () => ({ token_endpoint: undefined })],
    ['an address that is no URL', () => ({ jwks_uri: 'javascript:alert(1)' })],
  ])('whose discovery document names %s', async (_, document) => {
    const lying = await UpstreamProvider.open(() => world.app.clock.now());
    lying.lies = { discovery: document() };
    const connection = await own.connect({ name: 'Lying' }, lying.issuer);
    const to = await own.start(await own.browser(), connection);
    expect([to.pathname, to.searchParams.get('connect')]).toEqual(['/signin', 'failed']);
    await lying.close();
  });

  it('with error, whose description is not shown', async () => {
    own.provider.lies = {
      response(query) {
        query.delete('code');
        query.set('error', 'access_denied');
        query.set('error_description', '<script>alert(1)</script> Call attacker');
        query.set('return_to', 'https://attacker.example');
      },
    };
    const browser = await own.browser();
    const to = await own.through(browser);
    expect(to.origin).toBe(world.app.url);
    expect(to.searchParams.get('connect')).toBe('denied');
    const text = await (await browser.browser.get(to.href)).text();
    expect(text).toContain('The sign-in was canceled.');
    expect(text).not.toContain('Call attacker');
    await isUntouched();
  });
});

describe('a callback is refused', () => {
  const codeFor = async (browser: HostedBrowser) => own.provider.agree(await own.start(browser));

  it('in another browser, in which nothing begins, and which uses nothing up', async () => {
    Object.assign(own.provider.person, { email: newAddress() });
    const browser = await own.browser();
    const back = await codeFor(browser);
    for (const stranger of [new CookieBrowser(), (await own.browser()).browser]) {
      const answer = await stranger.get(back.href);
      expect(answer.status).toBe(400);
      expect([...stranger.cookies.keys()].some((name) => name.includes('session'))).toBe(false);
    }
    await isUntouched();
    expect(locationOf(await browser.browser.get(back.href)).pathname).toBe('/authorize/resume');
  });

  it('of another flow of the same browser, with the state of this one', async () => {
    Object.assign(own.provider.person, { email: newAddress() });
    const browser = await own.browser();
    const first = await codeFor(browser);
    await browser.open();
    const second = await codeFor(browser);
    // The code of one request with the state of the other: PKCE and nonce bind it.
    const mixed = new URL(second.href);
    mixed.searchParams.set('code', first.searchParams.get('code') ?? '');
    expect(locationOf(await browser.browser.get(mixed.href)).searchParams.get('connect')).toBe('failed');
    await isUntouched();
  });

  it('at another connection (mix-up)', async () => {
    const other = await own.connect({ name: 'Other' });
    const browser = await own.browser();
    const back = await codeFor(browser);
    const mixed = back.href.replace(own.connection.id, other.id);
    expect((await browser.browser.get(mixed)).status).toBe(400);
    await isUntouched();
  });

  it('with state unknown, missing, twice or expired', async () => {
    const browser = await own.browser();
    const back = await codeFor(browser);
    const at = (change: (query: URLSearchParams) => void) => {
      const url = new URL(back.href);
      change(url.searchParams);
      return browser.browser.get(url.href);
    };
    expect((await at((query) => query.set('state', 'x'))).status).toBe(400);
    expect((await at((query) => query.delete('state'))).status).toBe(400);
    expect((await browser.browser.get(`${world.app.url}/connect/none/callback?state=x`)).status).toBe(400);
    world.app.clock.turn(31 * 60);
    expect((await browser.browser.get(back.href)).status).toBe(400);
    await isUntouched();
  });

  it('the second time, also of 20 at once', async () => {
    Object.assign(own.provider.person, { email: newAddress() });
    const browser = await own.browser();
    const back = await codeFor(browser);
    const before = own.provider.requests.filter((path) => path === '/token').length;
    const ends = await Promise.all(Array.from({ length: 20 }, () => browser.browser.get(back.href)));
    const paths = ends.map((end) => locationOf(end).pathname).sort();
    expect(paths).toEqual(['/authorize/resume', ...Array<string>(19).fill('/signin')]);
    expect(own.provider.requests.filter((path) => path === '/token')).toHaveLength(before + 1);
    expect(await own.sessions()).toBe(1);
  });

  it('once its connection is disabled, deleted, or has other settings', async () => {
    const { connections } = world.app.services;
    Object.assign(own.provider.person, { email: newAddress() });
    const browser = await own.browser();
    const changed = await codeFor(browser);
    await connections.update(own.connection, { oidc: { scopes: ['openid'] } }, system);
    expect(locationOf(await browser.browser.get(changed.href)).pathname).toBe('/authorize/resume');
    await browser.open({ prompt: 'login' });
    const disabled = await codeFor(browser);
    await connections.setState(own.connection, 'disabled', system);
    expect(locationOf(await browser.browser.get(disabled.href)).searchParams.get('connect')).toBe('off');
    await connections.setState(own.connection, 'enabled', system);
    const deleted = await codeFor(browser);
    await connections.remove(own.connection, system);
    expect((await browser.browser.get(deleted.href)).status).toBe(400);
    expect(await own.sessions()).toBe(1);
  });
});

it('form_post comes by a GET that carries the cookies', async () => {
  Object.assign(own.provider.person, { email: newAddress() });
  const browser = await own.browser();
  const back = own.provider.agree(await own.start(browser));
  const form = { ...Object.fromEntries(back.searchParams), user: '{"name":"x"}' };
  const posted = await new CookieBrowser().post(`${back.origin}${back.pathname}`, form, {
    Origin: own.provider.issuer,
  });
  expect(posted.status).toBe(303);
  expect(locationOf(await browser.browser.get(locationOf(posted).href)).pathname).toBe('/authorize/resume');
});

it('a connection of another project, or of none, is not started', async () => {
  const theirs = await own.connect();
  await world.begin();
  const browser = await own.browser();
  for (const id of [theirs.id, 'none']) {
    const at = `${world.app.url}/connect/${id}/start?flow=${browser.flow}`;
    expect(locationOf(await browser.browser.get(at)).searchParams.get('connect')).toBe('off');
  }
  expect(
    (await new CookieBrowser().get(`${world.app.url}/connect/${theirs.id}/start?flow=${browser.flow}`)).status,
  ).toBe(400);
});
