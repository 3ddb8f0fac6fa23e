/** Details that strict clients check: methods, headers, bodies and parameters at every endpoint of a project's issuer. */
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationParameters } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { apiOf, basic, type Machine } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';

let app: TestApp;
let project: Project;
let party: RelyingParty;
let machine: Machine;
let issuer: string;

beforeAll(async () => {
  app = await buildTestApp();
  project = await app.make.project();
  const made = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    pkceRequired: true,
    grantTypes: ['refresh_token', 'device_code', 'client_credentials'],
  });
  machine = { app, client: made.client, secret: made.clientSecret ?? '', issuer: '' };
  const api = await apiOf(app, project);
  await app.services.apis.grant(made.client, api.id, { scopes: ['read'], introspects: false }, system);
  party = partyAt(app, project, made.client);
  issuer = party.issuer;
  machine.issuer = issuer;
  await party.signIn(await app.make.user(project));
});
afterAll(() => app.close());

const form = 'application/x-www-form-urlencoded';

/** Endpoints that accept a form from clients, with a valid one. */
const forms: Record<string, () => Record<string, string>> = {
  token: () => ({ grant_type: 'client_credentials' }),
  introspect: () => ({ token: 'x' }),
  revoke: () => ({ token: 'x' }),
  par: () => authorizationParameters(machine.client.id, party.proof.challenge),
  device_authorization: () => ({ scope: 'openid' }),
};
const endpoints = Object.keys(forms);

const send = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
  fetch(`${issuer}/oauth2/${path}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': form, ...basic(machine), ...headers },
  });

const encoded = (path: string) => new URLSearchParams(forms[path]?.()).toString();

/** An error of RFC 6749 §5.2, with its headers, its media type and only the characters that it allows. */
async function refusal(response: Response): Promise<[number, string]> {
  const { headers } = response;
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  const body = (await response.json()) as { error: string; error_description: string };
  expect(Object.keys(body)).toEqual(['error', 'error_description']);
  for (const text of Object.values(body)) expect(text).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  return [response.status, body.error];
}

describe.each(endpoints)('POST {issuer}/oauth2/%s', (path) => {
  it('accepts a form with any charset parameter and any Accept header', async () => {
    const variants: Record<string, string>[] = [
      { 'Content-Type': `${form}; charset=UTF-8` },
      { 'Content-Type': form.toUpperCase() },
      { Accept: 'text/html' },
      { Accept: 'application/json;q=0.1, */*;q=0' },
    ];
    for (const headers of variants) {
      const answer = await send(path, encoded(path), headers);
      expect([headers, answer.ok]).toEqual([headers, true]);
      expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
      if (path !== 'revoke') expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  it('refuses any other body', async () => {
    const json = JSON.stringify(forms[path]?.());
    for (const [type, body] of [
      ['application/json', json],
      ['text/plain', encoded(path)],
      ['multipart/form-data; boundary=x', '--x--'],
      ['', encoded(path)],
    ] as const) {
      const answer = await send(path, body, { 'Content-Type': type });
      expect([type, ...(await refusal(answer))]).toEqual([type, 400, 'invalid_request']);
    }
    const unknown = await send(path, encoded(path), { 'Content-Type': `${form}; charset=x-unknown` });
    expect(await refusal(unknown)).toEqual([415, 'invalid_request']);
    const long = await send(path, `${encoded(path)}&x=${'x'.repeat(70_000)}`);
    expect([long.status, ((await long.json()) as { error: string }).error]).toEqual([413, 'invalid_request']);
  });

  it('refuses a repeated parameter, known or not, and one that is not text', async () => {
    const all = [...Object.keys(forms[path]?.() ?? {}), 'unknown'];
    for (const name of all) {
      const twice = await send(path, `${encoded(path)}&${name}=x&${name}=y`);
      expect([name, ...(await refusal(twice))]).toEqual([name, 400, 'invalid_request']);
      const zero = await send(path, `${encoded(path)}&other=a%00b`);
      expect([name, ...(await refusal(zero))]).toEqual([name, 400, 'invalid_request']);
    }
    // Bytes that are not UTF-8 are replaced, as in every form: the value is unknown, and nothing breaks.
    const bytes = await send(path, `${encoded(path)}&other=%FF%FE`);
    expect(bytes.ok).toBe(true);
    expect((await send(path, `${encoded(path)}&unknown=${'x'.repeat(10_000)}`)).ok).toBe(true);
  });

  it('accepts only POST: any other method gets 405 with Allow', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fetch(`${issuer}/oauth2/${path}`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  it('challenges a client without a valid credential (RFC 6749 §5.2)', async () => {
    const wrong = { ...machine, secret: `lk_cs_${'x'.repeat(43)}` };
    const ways: Record<string, string>[] = [
      basic(wrong),
      { Authorization: 'Basic %%%' },
      { Authorization: 'Bearer x' },
    ];
    for (const headers of ways) {
      const answer = await send(path, encoded(path), headers);
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="Latchkey"');
      expect(await refusal(answer)).toEqual([401, 'invalid_client']);
    }
  });

  it('is open to pages of redirect URIs, unless it is only for servers', async () => {
    const preflight = (origin: string) =>
      fetch(`${issuer}/oauth2/${path}`, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization,dpop',
        },
      });
    const ours = await preflight('https://app.example.com');
    if (path === 'introspect') {
      expect([ours.status, ours.headers.get('access-control-allow-origin')]).toEqual([405, null]);
      return;
    }
    expect(ours.status).toBe(204);
    expect(Object.fromEntries(ours.headers)).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': expect.stringContaining('POST'),
      // Libraries and interceptors add headers of their own.
      'access-control-allow-headers': expect.stringMatching(/Authorization.*DPoP, \*$/),
      vary: expect.stringContaining('Origin'),
    });
    expect(ours.headers.get('access-control-allow-credentials')).toBeNull();
    const refused = await send(path, 'x=1&x=2', { Origin: 'https://app.example.com' });
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a missing parameter', () => {
  const code = 'authorization_code';
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  it.each<[path: string, fields: Record<string, string>, error: string]>([
    ['token', {}, 'invalid_request'],
    ['token', { grant_type: '' }, 'invalid_request'],
    ['token', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['token', { grant_type: code }, 'invalid_request'],
    ['token', { grant_type: code, code: 'x', redirect_uri: 'https://app.example.com/callback' }, 'invalid_request'],
    ['token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['token', { grant_type: device }, 'invalid_request'],
    ['token', { grant_type: 'client_credentials', scope: ' ' }, 'invalid_scope'],
    ['token', { grant_type: code, code: 'x', code_verifier: 'short', redirect_uri: 'x' }, 'invalid_grant'],
    ['introspect', {}, 'invalid_request'],
    ['revoke', {}, 'invalid_request'],
    ['par', {}, 'invalid_request'],
    ['device_authorization', { scope: 'email' }, 'invalid_scope'],
  ])('at %s with %j is %s', async (path, fields, error) => {
    expect(await refusal(await send(path, new URLSearchParams(fields)))).toEqual([400, error]);
  });

  it.each(['response_type', 'redirect_uri', 'code_challenge', 'code_challenge_method', 'scope'])(
    'at par, %s, is invalid_request or invalid_scope',
    async (name) => {
      const fields = authorizationParameters(machine.client.id, party.proof.challenge, { [name]: undefined });
      const expected = name === 'scope' ? 'invalid_scope' : 'invalid_request';
      expect(await refusal(await send('par', new URLSearchParams(fields)))).toEqual([400, expected]);
    },
  );
});

describe('documents and UserInfo', () => {
  const documents = () => [
    `${issuer}/.well-known/openid-configuration`,
    `${issuer}/.well-known/jwks.json`,
    `${app.url}/.well-known/oauth-authorization-server/p/${project.slug}`,
  ];

  it('are public: any origin, GET and HEAD, cacheable', async () => {
    for (const url of documents()) {
      const [get, head] = [await fetch(url), await fetch(url, { method: 'HEAD' })];
      for (const { status, headers } of [get, head]) {
        expect([url, status, headers.get('content-type')]).toEqual([url, 200, 'application/json; charset=utf-8']);
        expect(headers.get('access-control-allow-origin')).toBe('*');
        expect(headers.get('cache-control')).toBe('public, max-age=300');
      }
      expect(await head.text()).toBe('');
      expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
      const preflight = await fetch(url, { method: 'OPTIONS', headers: { Origin: 'https://any.example' } });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      expect(preflight.headers.get('access-control-allow-headers')).toBe('Authorization, *');
      const post = await fetch(url, { method: 'POST' });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET']);
    }
  });

  it('name the authentication of each endpoint (RFC 8414 §2)', async () => {
    const document = (await (await fetch(documents()[0] ?? '')).json()) as Record<string, string[]>;
    const methods = ['none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'];
    expect(document['token_endpoint_auth_methods_supported']).toEqual(methods);
    expect(document['revocation_endpoint_auth_methods_supported']).toEqual(methods);
    expect(document['introspection_endpoint_auth_methods_supported']).toEqual(methods.slice(1));
    // OpenID Connect Discovery §3: must be included.
    expect(document['id_token_signing_alg_values_supported']).toContain('RS256');
    for (const name of ['token', 'revocation', 'introspection']) {
      expect(document[`${name}_endpoint_auth_signing_alg_values_supported`]).toEqual([
        'EdDSA',
        'ES256',
        'PS256',
        'RS256',
      ]);
    }
  });

  it('let a remote key set verify ID tokens', async () => {
    const keys = createRemoteJWKSet(new URL(documents()[1] ?? ''), { [customFetch]: fetch });
    const { id_token: idToken } = (await (await party.exchange(await party.code(), {}, basic(machine))).json()) as {
      id_token: string;
    };
    const options = { issuer, audience: machine.client.id, currentDate: app.clock.now() };
    expect((await jwtVerify(idToken, keys, options)).payload.iss).toBe(issuer);
  });

  it('challenge by the Bearer scheme, never cached, and open to pages of redirect URIs', async () => {
    const url = `${issuer}/userinfo`;
    const origin = { Origin: 'https://app.example.com' };
    for (const [init, status, challenge] of [
      [{}, 401, /^Bearer$/],
      [{ headers: { Authorization: 'Bearer x' } }, 401, /^Bearer error="invalid_token", error_description="[^"]+"$/],
      [{ headers: { Authorization: 'Bearer' } }, 400, /^Bearer error="invalid_request"/],
      [
        {
          method: 'POST',
          body: new URLSearchParams([
            ['access_token', 'x'],
            ['access_token', 'y'],
          ]),
        },
        400,
        /^Bearer error="invalid_request"/,
      ],
      [
        { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"access_token":"x"}' },
        401,
        /^Bearer$/,
      ],
    ] as [RequestInit, number, RegExp][]) {
      const answer = await fetch(url, { ...init, headers: { ...origin, ...(init.headers as object) } });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('www-authenticate')).toMatch(challenge);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin.Origin);
      expect(answer.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    }
    const put = await fetch(url, { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });
});

describe('GET {issuer}/authorize', () => {
  it('sends back errors that have only the characters of RFC 6749 §4.1.2.1, with state and iss', async () => {
    const changes: Record<string, string | undefined>[] = [
      { response_type: undefined },
      { response_type: 'id_token' },
      { response_mode: 'fragment' },
      { scope: undefined },
      { code_challenge: undefined },
      { code_challenge_method: 'plain' },
      { prompt: 'none login' },
      { max_age: '-1' },
      { claims: '[]' },
      { request: 'x' },
      { request_uri: 'https://app.example.com/r' },
      { registration: '{}' },
      { dpop_jkt: 'short' },
      { nonce: 'x'.repeat(2049) },
      { resource: 'https://nowhere.example' },
    ];
    for (const change of changes) {
      const answer = await party.answer(change);
      expect([change, answer.has('code'), answer.get('state')]).toEqual([change, false, 'a state']);
      expect(answer.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
    const pushed = await app.make.client(project, { pushedRequestsRequired: true });
    const demanding = partyAt(app, project, pushed.client);
    expect((await demanding.answer()).get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it('ignores unknown parameters, and rejects other methods', async () => {
    expect((await party.answer({ unknown: 'x', display: 'popup', ui_locales: 'xx' })).has('code')).toBe(true);
    for (const [method, status] of [
      ['PUT', 405],
      ['DELETE', 405],
      ['OPTIONS', 204],
    ] as const) {
      const answer = await fetch(`${issuer}/authorize`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, status, 'GET, POST']);
    }
  });
});
