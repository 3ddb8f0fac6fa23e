/**
 * Modules of the OpenID conformance suite for the FAPI 2.0 Security Profile, by its names without their prefix
 * `fapi2-security-profile-final-`: private_key_jwt, DPoP, pushed requests without request objects. Others are listed with the
 * reason in decisions/0006.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { type DpopKey, dpopKey } from '../../test/dpop.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { Changes, RelyingParty } from '../../test/relying-party.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
let user: User;
let key: DpopKey;
let other: DpopKey;
let own: RelyingParty;
let second: RelyingParty;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

beforeAll(async () => {
  app = await buildTestApp();
  [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
});
afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  [own, second] = [await register(), await register()];
});

async function register(): Promise<RelyingParty> {
  const keys = [
    { ...pair.publicKey.export({ format: 'jwk' }), kid: 'ec' },
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' },
  ];
  const { client } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'private_key_jwt',
    idTokenSignedResponseAlg: 'ES256',
    fapiProfile: true,
    grantTypes: ['refresh_token'],
    jwks: { keys },
  });
  const party = partyAt(app, project, client);
  await party.signIn(user);
  return party;
}

async function credential(
  rp = own,
  alg: 'ES256' | 'RS256' = 'ES256',
  aud: string | string[] = rp.issuer,
): Promise<Record<string, string>> {
  const now = seconds(app.clock.now());
  const claims = { iss: rp.client.id, sub: rp.client.id, aud, jti: randomUUID(), iat: now, exp: now + 60 };
  const header = { alg, kid: alg === 'ES256' ? 'ec' : 'rsa' };
  const signing = alg === 'ES256' ? pair.privateKey : rsa.privateKey;
  const signed = await new SignJWT(claims).setProtectedHeader(header).sign(signing);
  return { client_assertion: signed, client_assertion_type: assertionType };
}

interface Answer {
  status: number;
  body: Record<string, string>;
}

async function post(path: string, fields: Changes, headers: Record<string, string> = {}): Promise<Answer> {
  const form = Object.entries(fields).filter((one): one is [string, string] => one[1] !== undefined);
  const response = await fetch(`${own.issuer}/oauth2/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const push = async (changes: Changes = {}, headers = {}) =>
  post(
    'par',
    { ...authorizationParameters(own.client.id, own.proof.challenge, changes), ...(await credential()) },
    headers,
  );
const pushed = async (changes: Changes = {}, headers = {}) => (await push(changes, headers)).body['request_uri'] ?? '';
const visit = (uri: string, rp = own) =>
  rp.browser.get(`${rp.issuer}/authorize?${new URLSearchParams({ client_id: rp.client.id, request_uri: uri })}`);
const codeOf = async (changes: Changes = {}, headers = {}) =>
  locationOf(await visit(await pushed(changes, headers))).searchParams.get('code') ?? '';
const proofFor = (path: string, by = key, claims: Record<string, unknown> = {}) =>
  by.proof({ url: `${own.issuer}/oauth2/${path}` }, claims);

/** A token request; `proof: null` sends none. */
async function exchange(
  code: string,
  { rp = own, proof, fields = {} }: { rp?: RelyingParty; proof?: string | null; fields?: Changes } = {},
): Promise<Answer> {
  const all: Changes = {
    grant_type: 'authorization_code',
    code,
    code_verifier: own.proof.verifier,
    redirect_uri: 'https://app.example.com/callback',
    ...(await credential(rp)),
    ...fields,
  };
  return post('token', all, proof === null ? {} : { dpop: proof ?? (await proofFor('token')) });
}

const userInfo = async (token: string, scheme = 'DPoP', by = key) => {
  const dpop = await by.proof({ method: 'GET', url: `${own.issuer}/userinfo`, token });
  return (await fetch(`${own.issuer}/userinfo`, { headers: { authorization: `${scheme} ${token}`, dpop } })).status;
};
const refused = (error: string) => ({ status: 400, body: { error } });

describe('fapi2-security-profile-final: flows', () => {
  it('happy-flow, discovery-end-point-verification', async () => {
    const document = (await (await fetch(`${own.issuer}/.well-known/openid-configuration`)).json()) as Record<
      string,
      unknown
    >;
    expect(document).toMatchObject({
      issuer: own.issuer,
      pushed_authorization_request_endpoint: `${own.issuer}/oauth2/par`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    });
    const answer = locationOf(await visit(await pushed({ nonce: 'n' }))).searchParams;
    expect([answer.get('iss'), answer.get('state')]).toEqual([own.issuer, 'a state']);
    const { status, body } = await exchange(answer.get('code') ?? '');
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    expect(decodeProtectedHeader(body['id_token'] ?? '').alg).toBe('ES256');
    expect(await userInfo(body['access_token'] ?? '')).toBe(200);
  });

  it.each<[string, Changes]>([
    ['ensure-authorization-request-without-state-success', { state: undefined }],
    ['ensure-authorization-request-without-nonce-success', { nonce: undefined }],
    ['ensure-authorization-request-with-long-state', { state: 's'.repeat(384) }],
    ['ensure-authorization-request-with-long-nonce', { nonce: 'n'.repeat(384) }],
  ])('%s', async (_module, changes) => {
    const answer = locationOf(await visit(await pushed(changes))).searchParams;
    expect(answer.get('state')).toBe('state' in changes ? (changes['state'] ?? null) : 'a state');
    expect((await exchange(answer.get('code') ?? '')).status).toBe(200);
  });

  it('access-token-type-header-case-sensitivity', async () => {
    const { body } = await exchange(await codeOf());
    for (const scheme of ['dpop', 'DPOP', 'DPoP']) expect(await userInfo(body['access_token'] ?? '', scheme)).toBe(200);
  });

  it('refresh-token', async () => {
    const { body } = await exchange(await codeOf());
    const form = { grant_type: 'refresh_token', refresh_token: body['refresh_token'] };
    const dpop = { dpop: await proofFor('token') };
    const renewed = await post('token', { ...form, ...(await credential()) }, dpop);
    expect(renewed.status).toBe(200);
    expect(await userInfo(renewed.body['access_token'] ?? '')).toBe(200);
    expect(
      (await post('token', { ...form, ...(await credential(second)) }, { dpop: await proofFor('token') })).status,
    ).toBe(400);
  });
});

describe('fapi2-security-profile-final: requests', () => {
  it('ensure-unsigned-authorization-request-without-using-par-fails', async () => {
    const answer = locationOf(await own.authorize()).searchParams;
    expect([answer.get('error'), answer.has('code')]).toEqual(['invalid_request', false]);
  });

  it.each<[string, Changes, string]>([
    ['par-ensure-pkce-required', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['par-plain-pkce-rejected', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['par-authorization-request-containing-request_uri-form-param', { request_uri: 'urn:x' }, 'invalid_request'],
    ['ensure-redirect-uri-in-authorization-request', { redirect_uri: undefined }, 'invalid_request'],
    ['ensure-response-type-code-idtoken-fails', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['ensure-response-type-token-fails', { response_type: 'token' }, 'unsupported_response_type'],
  ])('%s', async (_module, changes, error) => {
    expect(await push(changes)).toMatchObject(refused(error));
  });

  it('par-attempt-invalid-http-method', async () => {
    expect((await fetch(`${own.issuer}/oauth2/par`, { method: 'PUT' })).status).toBe(405);
  });

  it('par-without-duplicate-parameters', async () => {
    const uri = await pushed();
    expect(locationOf(await visit(uri)).searchParams.has('code')).toBe(true);
  });

  it('par-attempt-reuse-request_uri, par-attempt-to-use-expired-request_uri, …-for-different-client', async () => {
    const used = await pushed();
    await visit(used);
    expect((await visit(used)).headers.get('location')).toBeNull();
    const foreign = await pushed();
    expect((await visit(foreign, second)).headers.get('location')).toBeNull();
    const late = await pushed();
    app.clock.turn(60);
    expect((await visit(late)).headers.get('location')).toBeNull();
  });

  it('ensure-signed-client-assertion-with-RS256-fails', async () => {
    const fields = {
      ...authorizationParameters(own.client.id, own.proof.challenge),
      ...(await credential(own, 'RS256')),
    };
    expect(await post('par', fields)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await exchange(await codeOf(), { fields: await credential(own, 'RS256') })).status).toBe(401);
  });
});

describe('fapi2-security-profile-final: audience of client assertions (section 5.3.2.1)', () => {
  it.each<[string, (issuer: string) => string | string[]]>([
    ['an array with the issuer', (issuer) => [issuer]],
    ['an array with issuer and token endpoint', (issuer) => [issuer, `${issuer}/oauth2/token`]],
    ['the token endpoint', (issuer) => `${issuer}/oauth2/token`],
    ['the PAR endpoint', (issuer) => `${issuer}/oauth2/par`],
  ])('%s is refused', async (_name, aud) => {
    const fields = authorizationParameters(own.client.id, own.proof.challenge);
    const wrong = () => credential(own, 'ES256', aud(own.issuer));
    const denied = { status: 401, body: { error: 'invalid_client' } };
    const push = await post('par', { ...fields, ...(await wrong()) });
    expect(push).toMatchObject(denied);
    expect(push.body['error_description']).toContain(`aud of the client assertion must be ${own.issuer}`);
    expect(await exchange(await codeOf(), { fields: await wrong() })).toMatchObject(denied);
  });
});

describe('fapi2-security-profile-final: token endpoint', () => {
  it('ensure-holder-of-key-required', async () => {
    expect(await exchange(await codeOf(), { proof: null })).toMatchObject(refused('invalid_dpop_proof'));
  });

  it('ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected', async () => {
    const without = await exchange(await codeOf(), { fields: { code_verifier: undefined } });
    expect(without.status).toBe(400);
    const wrong = await exchange(await codeOf(), { fields: { code_verifier: 'x'.repeat(43) } });
    expect(wrong).toMatchObject(refused('invalid_grant'));
  });

  it('ensure-authorization-code-is-bound-to-client, ensure-client-id-in-token-endpoint', async () => {
    expect(await exchange(await codeOf(), { rp: second })).toMatchObject(refused('invalid_grant'));
    const named = await exchange(await codeOf(), { fields: { client_id: second.client.id } });
    expect(named.body['error']).toBe('invalid_client');
  });

  it('attempt-reuse-authorization-code-after-one-second', async () => {
    const code = await codeOf();
    const { body } = await exchange(code);
    app.clock.turn(1);
    expect(await exchange(code)).toMatchObject(refused('invalid_grant'));
    expect(await userInfo(body['access_token'] ?? '')).toBe(401);
  });

  it('ensure-token-endpoint-fails-with-expired-auth-code', async () => {
    const code = await codeOf();
    app.clock.turn(60);
    expect(await exchange(code)).toMatchObject(refused('invalid_grant'));
  });
});

describe('fapi2-security-profile-final: DPoP', () => {
  it.each<[string, number]>([
    ['ensure-dpopproof-with-iat-10seconds-before-succeeds', -10],
    ['ensure-dpopproof-with-iat-10seconds-after-succeeds', 10],
  ])('%s', async (_module, offset) => {
    const proof = await proofFor('token', key, { iat: seconds(app.clock.now()) + offset });
    expect((await exchange(await codeOf(), { proof })).status).toBe(200);
  });

  it('dpop-negative-tests', async () => {
    const code = await codeOf();
    const at = { url: `${own.issuer}/oauth2/token` };
    const once = await proofFor('token');
    const wrong = [
      await key.proof({ ...at, method: 'GET' }),
      await key.proof({ url: `${own.issuer}/oauth2/par` }),
      await key.proof(at, { iat: undefined }),
      await key.proof(at, { jti: undefined }),
      await key.proof(at, {}, { typ: 'jwt' }),
      await key.proof(at, {}, { jwk: key.privateJwk }),
      `${once.slice(0, -4)}AAAA`,
    ];
    for (const proof of wrong) expect(await exchange(code, { proof })).toMatchObject(refused('invalid_dpop_proof'));
    const { body } = await exchange(code, { proof: once });
    expect(await exchange(await codeOf(), { proof: once })).toMatchObject(refused('invalid_dpop_proof'));
    expect(await userInfo(body['access_token'] ?? '', 'DPoP', other)).toBe(401);
    expect((await own.userInfo(body['access_token'] ?? '')).status).toBe(401);
  });

  it('ensure-dpop-auth-code-binding-success, ensure-dpopproof-at-par-endpoint-binding-success', async () => {
    expect((await exchange(await codeOf({ dpop_jkt: key.jkt }))).status).toBe(200);
    expect((await exchange(await codeOf({}, { dpop: await proofFor('par') }))).status).toBe(200);
  });

  it('ensure-mismatched-dpop-jkt-fails, ensure-token-endpoint-fails-with-mismatched-dpop-jkt, …-dpop-proof-jkt', async () => {
    expect((await push({ dpop_jkt: other.jkt }, { dpop: await proofFor('par') })).status).toBe(400);
    expect(await exchange(await codeOf({ dpop_jkt: other.jkt }))).toMatchObject(refused('invalid_grant'));
    const bound = await codeOf({}, { dpop: await proofFor('par', other) });
    expect(await exchange(bound)).toMatchObject(refused('invalid_grant'));
  });
});
