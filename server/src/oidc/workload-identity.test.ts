/** Clients that authenticate by tokens of another issuer (RFC 7523, decisions/0411): CI jobs, Kubernetes service accounts. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { administer, apiOf, orders } from '../../test/machine.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { adminApiUrl } from '../domain/kernel/admin-api.ts';
import { seconds } from '../domain/kernel/clock.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { assertionType } from './client-credential.ts';

const subject = 'repo:acme/app:ref:refs/heads/main';
let app: TestApp;
let project: Project;
let client: Client;
let ci: Server;
/** The issuer of the tokens of CI jobs, and what it serves. */
let issuer: string;
let documents: Record<string, object>;
let key: CryptoKey;
let count = 0;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
  ci = createServer((req, res) => {
    const found = documents[req.url ?? ''];
    res.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((done) => ci.listen(0, '127.0.0.1', done));
  const pair = await generateKeyPair('RS256');
  key = pair.privateKey;
  documents = { '/keys': { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'a', alg: 'RS256' }] } };
});
afterAll(async () => {
  await app.close();
  await new Promise((done) => ci.close(done));
});
beforeEach(async () => {
  project = await app.make.project();
  // Each test has an issuer of its own: discovery is cached.
  count += 1;
  issuer = `http://127.0.0.1:${(ci.address() as AddressInfo).port}/${count}`;
  documents[`/${count}/.well-known/openid-configuration`] = { issuer, jwks_uri: new URL('/keys', issuer).href };
  client = await workload();
  const api = await apiOf(app, project);
  await app.services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
});

const rule = () => ({ workloadIssuer: issuer, workloadSubject: subject, workloadAudience: 'latchkey' });
const set = async (settings: object) => app.services.clients.update(client, settings, system);

async function workload(settings: object = {}): Promise<Client> {
  const all = { tokenEndpointAuthMethod: 'private_key_jwt' as const, grantTypes: ['client_credentials' as const] };
  return (await app.make.client(project, { ...all, ...rule(), ...settings })).client;
}

/** A token of a job. */
async function jobToken(
  claims: JWTPayload = {},
  header: Partial<JWTHeaderParameters> = {},
  by: CryptoKey | Uint8Array = key,
): Promise<string> {
  const now = seconds(app.clock.now());
  const all = { iss: issuer, sub: subject, aud: 'latchkey', iat: now, exp: now + 600, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'a', typ: 'JWT', ...header }).sign(by);
}

type Form = Record<string, string | undefined>;
async function post(path: string, form: Form, at = projectIssuerUrl(app.url, project.slug)) {
  const pairs = Object.entries(form).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const response = await fetch(`${at}/oauth2/${path}`, { method: 'POST', body: new URLSearchParams(pairs) });
  return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}
const proved = (token: string, form: Form = {}) => ({
  ...{ client_id: client.id, client_assertion: token, client_assertion_type: assertionType, ...form },
});
const ask = (token: string, form: Form = {}, at?: string): Promise<Record<string, unknown>> =>
  post('token', { grant_type: 'client_credentials', resource: orders, ...proved(token), ...form }, at);
const refused = { status: 401, error: 'invalid_client' };

describe('a token of another issuer (RFC 7523 section 3)', () => {
  it('authenticates the client, at all its endpoints and as often as the job sends it', async () => {
    const token = await jobToken();
    const first = await ask(token);
    expect(first).toMatchObject({ status: 200, token_type: 'Bearer', scope: 'read' });
    expect(await ask(token)).toMatchObject({ status: 200 });
    const introspected = { token: String(first['access_token']), ...proved(token) };
    expect(await post('introspect', introspected)).toMatchObject({ active: true, client_id: client.id });
    expect(await ask(await jobToken({ aud: ['other', 'latchkey'] }))).toMatchObject({ status: 200 });
  });

  it('gives access to the admin API, as far as the client has', async () => {
    await set({ adminScopes: ['clients:read'] });
    const token = String((await ask(await jobToken(), { resource: adminApiUrl(app.url) }))['access_token']);
    const list = `{ clients(projectId: "${project.id}") { edges { node { id } } } }`;
    expect((await administer(app, token, list)).data.clients.edges).toHaveLength(1);
    await set({ workloadSubject: 'repo:acme/other' });
    expect((await administer(app, token, list)).status).toBe(401);
  });

  it('is verified by keys of the client, where the issuer cannot be reached', async () => {
    await set({ workloadIssuer: 'https://kubernetes.default.svc.cluster.example', jwks: documents['/keys'] });
    expect(await ask(await jobToken({ iss: 'https://kubernetes.default.svc.cluster.example' }))).toMatchObject({
      status: 200,
    });
    expect(await ask(await jobToken())).toMatchObject(refused);
  });

  it.each<[string, JWTPayload, Partial<JWTHeaderParameters>?]>([
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another subject', { sub: 'repo:acme/app:ref:refs/heads/feature' }],
    ['a subject that begins with it', { sub: `${subject}2` }],
    ['the subject in another case', { sub: subject.toUpperCase() }],
    ['no subject', { sub: undefined }],
    ['another audience', { aud: 'https://vault.example.com' }],
    ['no audience', { aud: undefined }],
    ['a past expiry', { exp: 1 }],
    ['no expiry', { exp: undefined }],
    ['no time of issue', { iat: undefined }],
    ['a time of issue in the future', { iat: 4_000_000_000, exp: 4_000_000_600 }],
    ['a long life', { iat: 1_000_000_000, exp: 4_000_000_000 }],
    ['an unknown key', {}, { kid: 'b' }],
    ['the type of an access token', {}, { typ: 'at+jwt' }],
  ])('with %s is refused', async (_name, claims, header) => {
    expect(await ask(await jobToken(claims, header))).toMatchObject(refused);
  });

  it('with another key, without a signature, or signed by the public key is refused', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    expect(await ask(await jobToken({}, {}, privateKey))).toMatchObject(refused);
    const [, payload] = (await jobToken()).split('.');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await ask(`${header}.${payload}.`)).toMatchObject(refused);
    const secret = new TextEncoder().encode(JSON.stringify(documents['/keys']));
    expect(await ask(await jobToken({}, { alg: 'HS256' }, secret))).toMatchObject(refused);
    for (const text of ['x', 'a.b.c', '']) expect((await ask(text))['status']).not.toBe(200);
  });

  it('is refused for a client that does not trust it, without client_id, and at the base issuer', async () => {
    const token = await jobToken();
    const others = [await workload({ workloadSubject: 'repo:acme/other' }), (await app.make.client(project)).client];
    for (const { id } of others) expect(await ask(token, { client_id: id })).toMatchObject(refused);
    expect(await ask(token, { client_id: undefined })).toMatchObject(refused);
    const code = { grant_type: 'authorization_code', code: 'x', code_verifier: 'x'.repeat(43), redirect_uri: 'x' };
    expect(await ask(token, code, app.url)).toMatchObject(refused);
    expect(await ask(token)).toMatchObject({ status: 200 });
  });

  it('is refused if discovery is of another issuer, or cannot be read', async () => {
    const path = `/${count}/.well-known/openid-configuration`;
    documents[path] = { issuer: 'https://evil.example.com', jwks_uri: new URL('/keys', issuer).href };
    expect(await ask(await jobToken())).toMatchObject(refused);
    documents[path] = { issuer, jwks_uri: 'ftp://127.0.0.1/keys' };
    app.clock.turn(61);
    expect(await ask(await jobToken())).toMatchObject(refused);
    documents[path] = { issuer, jwks_uri: new URL('/keys', issuer).href };
    app.clock.turn(61);
    expect(await ask(await jobToken())).toMatchObject({ status: 200 });
  });
});

describe('the settings of a workload', () => {
  it('end the tokens that were obtained by others', async () => {
    const { access_token: token } = await ask(await jobToken());
    const introspect = async () => post('introspect', { token: String(token), ...proved(await jobToken()) });
    expect(await introspect()).toMatchObject({ active: true });
    await set({ workloadAudience: 'other' });
    const proof = proved(await jobToken({ aud: 'other' }));
    expect(await post('introspect', { token: String(token), ...proof })).toMatchObject({ active: false });
  });

  it.each([
    ['one alone', { workloadSubject: null }, 'workloadSubject'],
    ['another authentication', { tokenEndpointAuthMethod: 'client_secret_basic' }, 'workloadIssuer'],
    ['a space', { workloadSubject: 'a b' }, 'workloadSubject'],
    ['an issuer that is no address', { workloadIssuer: 'github' }, 'workloadIssuer'],
    ['the FAPI 2.0 Security Profile', { fapiProfile: true, dpopRequired: true }, 'workloadIssuer'],
  ])('refuse %s', async (_name, settings, field) => {
    expect(await problemOf(set(settings))).toMatchObject({ code: 'invalid', field });
  });
});
