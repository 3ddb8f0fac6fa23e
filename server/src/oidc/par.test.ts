/** Pushed authorization requests (RFC 9126) and the FAPI 2.0 Security Profile, at the project's issuer. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { type DpopKey, dpopKey } from '../../test/dpop.ts';
import { redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let there: TestApp;
let project: Project;
let user: User;
let client: Client;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
  there = await buildSibling(app);
});
afterAll(async () => {
  await there.close();
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  await use((await app.make.client(project)).client);
});

async function use(one: Client): Promise<void> {
  client = one;
  party = partyAt(app, project, client);
  await party.signIn(user);
}
const change = (input: Parameters<TestApp['services']['clients']['update']>[1]) =>
  app.services.clients.update({ project: { id: project.id }, id: client.id }, input, system);

interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, string>;
}

async function post(path: string, fields: Changes, headers: Record<string, string> = {}): Promise<Answer> {
  const form = Object.entries(fields).filter((one): one is [string, string] => one[1] !== undefined);
  const response = await fetch(`${party.issuer}/oauth2/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : {} };
}
const push = (changes: Changes = {}, headers: Record<string, string> = {}) =>
  post('par', authorizationParameters(client.id, party.proof.challenge, changes), headers);
const pushed = async (changes: Changes = {}, headers = {}) =>
  String((await push(changes, headers)).body['request_uri']);
const visit = (request_uri: string, more: Changes = {}, rp = party, to = app) => {
  const query = Object.entries({ client_id: client.id, request_uri, ...more }).filter(
    (one): one is [string, string] => one[1] !== undefined,
  );
  return rp.browser.get(`${rp.issuer.replace(app.url, to.url)}/authorize?${new URLSearchParams(query)}`);
};
const codeOf = (response: Response) => locationOf(response).searchParams.get('code') ?? '';

describe('POST {issuer}/oauth2/par', () => {
  it('stores a request for 60 seconds, which /authorize accepts once, ignoring other parameters', async () => {
    const { status, headers, body } = await push({ state: 'pushed', nonce: 'n' });
    expect([status, headers.get('cache-control'), body['expires_in']]).toEqual([201, 'no-store', 60]);
    const uri = String(body['request_uri']);
    expect(uri).toMatch(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/);
    const answer = await visit(uri, {
      state: 'beside',
      redirect_uri: 'https://evil.example/',
      scope: 'openid email',
      nonce: 'other',
    });
    expect(answer.status).toBe(303);
    const location = locationOf(answer);
    expect([location.origin + location.pathname, location.searchParams.get('state')]).toEqual([redirectUri, 'pushed']);
    const tokens = (await (await party.exchange(codeOf(answer))).json()) as { id_token: string; scope: string };
    expect([decodeJwt(tokens.id_token)['nonce'], tokens.scope]).toEqual(['n', 'openid']);
    const again = await visit(uri);
    expect([again.status, again.headers.get('location')]).toEqual([400, null]);
    expect(again.headers.get('content-type')).toContain('html');
  });

  it('is not used up by HEAD, which neither issues a code nor ends a session', async () => {
    const uri = await pushed();
    const query = new URLSearchParams({ client_id: client.id, request_uri: uri });
    for (const path of [`/authorize?${query}`, '/authorize/resume', '/oauth2/end_session']) {
      const answer = await party.browser.send(`${party.issuer}${path}`, { method: 'HEAD' });
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([
        path,
        405,
        path.includes('resume') ? 'GET' : 'GET, POST',
      ]);
    }
    expect(codeOf(await visit(uri))).not.toBe('');
  });

  it('is accepted once, in a race of 40 requests to two processes', async () => {
    const uri = await pushed();
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => visit(uri, {}, party, n % 2 ? there : app)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('continues with a sign-in', async () => {
    party.signOut();
    const begun = await visit(await pushed({ login_hint: 'a@example.com' }));
    const flow = locationOf(begun).searchParams.get('flow') ?? '';
    await party.signIn(user);
    const resumed = await party.browser.get(`${party.issuer}/authorize/resume?flow=${flow}`);
    expect((await party.exchange(codeOf(resumed))).status).toBe(200);
  });

  it('works for its client and issuer only, until it expires', async () => {
    const uri = await pushed();
    const { client: sibling } = await app.make.client(project);
    expect((await visit(uri, { client_id: sibling.id })).status).toBe(400);
    expect((await visit(uri, { client_id: undefined })).status).toBe(400);
    const base = new RelyingParty(app, client);
    await base.signIn(user);
    const elsewhere = await base.authorize({ request_uri: uri });
    expect(locationOf(elsewhere).searchParams.get('error')).toBe('request_uri_not_supported');
    const other = await app.make.project();
    expect(
      (
        await party.browser.get(
          `${app.url}/p/${other.slug}/authorize?${new URLSearchParams({ client_id: client.id, request_uri: uri })}`,
        )
      ).status,
    ).toBe(400);
    expect((await visit(uri)).status).toBe(303);
    const late = await pushed();
    app.clock.turn(60);
    expect((await visit(late)).status).toBe(400);
    app.clock.turn(60);
    await app.services.retention.sweep();
    expect(await rows(app.services.db, `select from pushed_requests where client_id = '${client.id}'`)).toHaveLength(0);
  });

  it('is checked against the settings at the time of its use', async () => {
    const [first, second] = [await pushed(), await pushed()];
    await change({ redirectUris: ['https://elsewhere.example.com/cb'] });
    expect((await visit(first, {}, party, there)).headers.get('location')).toBeNull();
    await change({ disabled: true });
    expect((await visit(second, {}, party, there)).status).toBe(400);
  });

  it('has no endpoint at the base issuer', async () => {
    expect((await fetch(`${app.url}/oauth2/par`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${party.issuer}/oauth2/par`)).status).toBe(405);
  });

  it.each<[string, number, string, Changes]>([
    ['an unknown client', 401, 'invalid_client', { client_id: 'nobody' }],
    ['no client', 400, 'invalid_request', { client_id: undefined }],
    ['a secret of a public client', 401, 'invalid_client', { client_secret: 'lk_cs_x' }],
    ['another redirect_uri', 400, 'invalid_request', { redirect_uri: 'https://evil.example/' }],
    ['no redirect_uri', 400, 'invalid_request', { redirect_uri: undefined }],
    ['a pushed request_uri', 400, 'invalid_request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
    ['a request object', 400, 'request_not_supported', { request: 'x' }],
    ['another response_type', 400, 'unsupported_response_type', { response_type: 'token' }],
    ['no openid', 400, 'invalid_scope', { scope: 'email' }],
    ['no code_challenge', 400, 'invalid_request', { code_challenge: undefined }],
    ['an unknown prompt', 400, 'invalid_request', { prompt: 'x' }],
    ['a malformed dpop_jkt', 400, 'invalid_request', { dpop_jkt: 'x' }],
    ['a long state', 400, 'invalid_request', { state: 'x'.repeat(2049) }],
    ['20,000 characters', 413, 'invalid_request', { login_hint: 'x'.repeat(20_000) }],
    ['NUL', 400, 'invalid_request', { login_hint: 'a\0b' }],
  ])('refuses %s as JSON, and stores nothing', async (_what, status, error, changes) => {
    const { body, ...answer } = await push(changes);
    expect([answer.status, body['error']]).toEqual([status, error]);
    expect(body['error_description']).toBeTruthy();
    expect(await rows(app.services.db, `select from pushed_requests where client_id = '${client.id}'`)).toHaveLength(0);
  });

  it('is refused for another content type, and for a repeated parameter', async () => {
    const url = `${party.issuer}/oauth2/par`;
    const json = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    expect(await json.json()).toMatchObject({ error: 'invalid_request' });
    const twice = `${new URLSearchParams(authorizationParameters(client.id, party.proof.challenge))}&scope=openid`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await (await fetch(url, { method: 'POST', body: twice, headers })).json()).toMatchObject({
      error: 'invalid_request',
    });
  });

  it('requires the client secret, and does not store it', async () => {
    const { client: confidential, clientSecret } = await app.make.client(project, {
      tokenEndpointAuthMethod: 'client_secret_post',
    });
    await use(confidential);
    expect((await push()).body['error']).toBe('invalid_client');
    expect((await push({ client_secret: String(clientSecret) })).status).toBe(201);
    const basic = Buffer.from(`${client.id}:${clientSecret}`).toString('base64');
    const uri = await pushed({ client_id: undefined }, { authorization: `Basic ${basic}` });
    const stored = await rows<{ parameters: string }>(
      app.services.db,
      `select parameters from pushed_requests where client_id = '${client.id}'`,
    );
    expect(stored.filter(({ parameters }) => parameters.includes(String(clientSecret)))).toEqual([]);
    expect((await visit(uri)).status).toBe(303);
  });

  it('is limited', async () => {
    app.clock.turn(60);
    const limited = await buildSibling(app, app.url, { authorizationsPerMinute: 3 });
    const url = `${party.issuer.replace(app.url, limited.url)}/oauth2/par`;
    const body = new URLSearchParams(authorizationParameters(client.id, party.proof.challenge));
    const answers = [];
    for (let n = 0; n < 5; n += 1) answers.push(await fetch(url, { method: 'POST', body }));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429, 429]);
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answers[3]?.json()).toMatchObject({ error: 'temporarily_unavailable' });
    await limited.close();
  });

  it('with a DPoP proof binds the code to its key', async () => {
    const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
    const proof = () => key.proof({ url: `${party.issuer}/oauth2/par` });
    const differing = await push({ dpop_jkt: other.jkt }, { dpop: await proof() });
    expect([differing.status, differing.body['error']]).toEqual([400, 'invalid_request']);
    const elsewhere = { dpop: await key.proof({ url: `${party.issuer}/oauth2/token` }) };
    expect((await push({}, elsewhere)).body['error']).toBe('invalid_dpop_proof');
    const once = { dpop: await proof() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => push({}, once)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const uri = String(answers.find(({ status }) => status === 201)?.body['request_uri']);
    const code = codeOf(await visit(uri));
    const exchange = async (by?: DpopKey) =>
      (await party.exchange(code, {}, by ? { dpop: await by.proof({ url: `${party.issuer}/oauth2/token` }) } : {}))
        .status;
    expect([await exchange(), await exchange(other), await exchange(key)]).toEqual([400, 400, 200]);
  });

  it('is required of a client with pushedRequestsRequired, at both issuers and in a process that has cached the client', async () => {
    const base = new RelyingParty(app, client);
    await base.signIn(user);
    await visit(await pushed(), {}, party, there);
    await change({ pushedRequestsRequired: true });
    for (const rp of [party, base, new RelyingParty(there, client, party.issuer.replace(app.url, there.url))]) {
      const query = new URLSearchParams(authorizationParameters(client.id, party.proof.challenge));
      const response = await rp.browser.get(`${rp.issuer}/authorize?${query}`);
      expect(locationOf(response).searchParams.get('error')).toBe('invalid_request');
      expect(locationOf(response).searchParams.get('error_description')).toContain('push');
    }
    expect((await visit(await pushed())).status).toBe(303);
  });
});

describe('the FAPI 2.0 Security Profile', () => {
  let key: DpopKey;
  let pair: { privateKey: KeyObject; publicKey: KeyObject };
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const settings = {
    tokenEndpointAuthMethod: 'private_key_jwt',
    idTokenSignedResponseAlg: 'ES256',
    fapiProfile: true,
  } as const;

  beforeEach(async () => {
    key = await dpopKey(app.clock);
    pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = {
      keys: [
        { ...pair.publicKey.export({ format: 'jwk' }), kid: 'ec' },
        { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' },
      ],
    };
    const grantTypes = ['refresh_token' as const];
    await use((await app.make.client(project, { ...settings, grantTypes, jwks, pkceOptional: true })).client);
  });

  async function credential(alg = 'ES256', aud = party.issuer): Promise<Changes> {
    const now = seconds(app.clock.now());
    const claims = { iss: client.id, sub: client.id, aud, jti: randomUUID(), iat: now, exp: now + 60 };
    const header = alg === 'ES256' ? { alg, kid: 'ec' } : { alg, kid: 'rsa' };
    const signed = await new SignJWT(claims)
      .setProtectedHeader(header)
      .sign(alg === 'ES256' ? pair.privateKey : rsa.privateKey);
    return { client_id: undefined, client_assertion: signed, client_assertion_type: assertionType };
  }
  const proof = (by = key) => by.proof({ url: `${party.issuer}/oauth2/token` });
  const newCode = async () => codeOf(await visit(await pushed(await credential())));
  const exchange = async (code: string, changes: Changes, headers: Record<string, string>) => {
    const response = await party.exchange(code, changes, headers);
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };

  it('is met by a client that pushes, signs and proves', async () => {
    const { status, body } = await exchange(await newCode(), await credential('PS256'), { dpop: await proof() });
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    const form = { grant_type: 'refresh_token', refresh_token: body['refresh_token'] };
    for (let n = 0; n < 3; n += 1) {
      const renewed = await post('token', { ...form, ...(await credential()) }, { dpop: await proof() });
      expect([renewed.status, renewed.body['refresh_token']]).toEqual([200, body['refresh_token']]);
      app.clock.turn(60);
    }
  });

  it('refuses a client that omits any of these', async () => {
    const plain = await party.authorize();
    expect(locationOf(plain).searchParams.get('error')).toBe('invalid_request');
    const withoutPkce = await push({
      ...(await credential()),
      code_challenge: undefined,
      code_challenge_method: undefined,
    });
    expect(withoutPkce.body['error']).toBe('invalid_request');
    const code = await newCode();
    const dpop = { dpop: await proof() };
    expect((await exchange(code, await credential(), {})).body['error']).toBe('invalid_dpop_proof');
    const rs256 = await dpopKey(app.clock, 'RS256');
    expect((await exchange(code, await credential(), { dpop: await proof(rs256) })).body['error']).toBe(
      'invalid_dpop_proof',
    );
    const weak = await exchange(code, await credential('RS256'), dpop);
    expect([weak.status, weak.body['error_description']?.includes('PS256')]).toEqual([401, true]);
    expect((await exchange(code, {}, dpop)).status).toBe(401);
    expect((await exchange(code, await credential('ES256', `${party.issuer}/oauth2/token`), dpop)).status).toBe(401);
    expect((await exchange(code, await credential(), dpop)).status).toBe(200);
    await expect(
      exchange(code, { ...(await credential()), redirect_uri: undefined }, { dpop: await proof() }),
    ).resolves.toMatchObject({ status: 400 });
  });

  it('lets a client push despite replays of its used assertions', async () => {
    app.clock.turn(60);
    const limited = await buildSibling(app, app.url, { authorizationsPerMinute: 1 });
    const url = `${party.issuer.replace(app.url, limited.url)}/oauth2/par`;
    const to = async (proved: Changes) => {
      const fields = authorizationParameters(client.id, party.proof.challenge, proved);
      return (await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })).status;
    };
    const used = await credential();
    expect(await to(used)).toBe(201);
    // More than one client may push per minute.
    const repeated = new Set(await Promise.all(Array.from({ length: 50 }, () => to(used))));
    expect([...repeated]).toEqual([401]);
    expect(await to(await credential())).toBe(201);
    await limited.close();
  });

  it.each<[string, Parameters<typeof change>[0]]>([
    ['tokenEndpointAuthMethod', { tokenEndpointAuthMethod: 'client_secret_basic' }],
    ['idTokenSignedResponseAlg', { idTokenSignedResponseAlg: 'RS256' }],
    ['redirectUris', { redirectUris: ['http://127.0.0.1/cb'] }],
  ])('refuses a setting of %s that contradicts it', async (field, input) => {
    await expect(change(input)).rejects.toMatchObject({ problem: { code: 'invalid', field } });
    await change({ ...input, fapiProfile: false });
  });
});
