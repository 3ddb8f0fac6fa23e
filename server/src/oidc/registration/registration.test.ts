/** Clients that register themselves (RFC 7591) and manage their registration (RFC 7592); decisions/0393. */
import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { Stranger } from '../../../test/introduced.ts';
import { rows } from '../../../test/rows.ts';
import { SigninWorld } from '../../../test/signin-world.ts';
import { system } from '../../domain/kernel/actor.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { User } from '../../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const redirectUri = 'https://agent.example.com/callback';
const open = { clientRegistration: 'open' } as const;
let user: User;
let endpoint: string;

beforeEach(async () => {
  user = await world.app.make.user(world.project);
  endpoint = `${world.app.url}/p/${world.project.slug}/oauth2/register`;
});

interface Information {
  status: number;
  error?: string;
  client_id: string;
  client_secret?: string;
  registration_access_token: string;
  registration_client_uri: string;
  [member: string]: unknown;
}

async function send(method: string, url: string, metadata?: unknown, token?: string): Promise<Information> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(metadata !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    ...(metadata !== undefined && { body: JSON.stringify(metadata) }),
  });
  const body = response.status === 204 ? {} : ((await response.json()) as Information);
  return { ...(body as Information), status: response.status };
}

const agent = { client_name: 'Agent', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
const register = (metadata: object = agent, token?: string) => send('POST', endpoint, metadata, token);
const stranger = (id: string, uri = redirectUri) => new Stranger(world.app, world.project, id, uri).signIn(user);
const count = async () =>
  (
    await rows(
      world.app.services.db,
      `select id from clients where project_id = ? and introduced_by = 'registration'`,
      [world.project.id],
    )
  ).length;

describe('registration (RFC 7591 section 3)', () => {
  it('is off by default, offered in discovery where it is on, and never at the base issuer', async () => {
    expect(await register()).toMatchObject({ status: 403, error: 'access_denied' });
    await world.set(open);
    world.app.clock.turn(61);
    const discovery = async (issuer: string) =>
      (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
    expect(await discovery(`${world.app.url}/p/${world.project.slug}`)).toMatchObject({
      registration_endpoint: endpoint,
    });
    expect(await discovery(world.app.url)).not.toHaveProperty('registration_endpoint');
    const base = await fetch(`${world.app.url}/oauth2/register`, { method: 'POST', body: JSON.stringify(agent) });
    expect(base.status).toBe(404);
  });

  it('gives a public client, which signs in after consent by its host, and refreshes', async () => {
    await world.set(open);
    const made = await register({ ...agent, grant_types: ['authorization_code', 'refresh_token'] });
    expect(made).toMatchObject({ status: 201, client_name: 'Agent', redirect_uris: [redirectUri] });
    expect(made).toMatchObject({ token_endpoint_auth_method: 'none', response_types: ['code'] });
    expect(made.client_secret).toBeUndefined();
    const client = await stranger(made.client_id);
    const scope = 'openid offline_access';
    const { html, decide } = await client.consent({ scope });
    expect(html).toContain('<h1>agent.example.com asks for access</h1>');
    expect(html).toContain('It calls itself “Agent”.');
    const tokens = await client.exchange((await decide('allow')).searchParams.get('code') ?? '');
    expect(decodeJwt(tokens.id_token)).toMatchObject({ aud: made.client_id });
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200);
    expect(await world.events()).toContain('client.introduced');
  });

  it('gives a secret where the method needs one, which is the default (section 2)', async () => {
    await world.set(open);
    const made = await register({ redirect_uris: [redirectUri] });
    expect(made).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic', client_secret_expires_at: 0 });
    const client = await stranger(made.client_id);
    expect(await client.exchange(await client.code())).toMatchObject({ status: 401, error: 'invalid_client' });
    const tokens = await client.exchange(await client.code(), { client_secret: made.client_secret });
    expect(tokens.status).toBe(200);
  });

  it('answers with all metadata of the client, to be kept by no cache (section 3.2.1)', async () => {
    await world.set(open);
    const sent = { ...agent, unknown_member: 'x' };
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(sent) });
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
    expect(response.headers.get('Content-Type')).toContain('application/json');
    const made = (await response.json()) as Record<string, unknown>;
    expect(made).toMatchObject({ ...agent, client_id: expect.any(String), client_id_issued_at: expect.any(Number) });
    // Section 2: a member that the server does not understand is ignored.
    expect(made).not.toHaveProperty('unknown_member');
    // RFC 7592 section 3.
    const management = { registration_client_uri: `${endpoint}/${made['client_id']}` };
    expect(made).toMatchObject({ ...management, registration_access_token: expect.any(String) });
  });

  it.each<[string, object, string]>([
    ['no redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['http', { redirect_uris: ['http://agent.example.com/'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: ['https://agent.example.com/#a'] }, 'invalid_redirect_uri'],
    ['two hosts', { redirect_uris: [redirectUri, 'https://other.example.com/'] }, 'invalid_redirect_uri'],
    ['a blocked domain', { redirect_uris: ['https://a.blocked.example/'] }, 'invalid_redirect_uri'],
    [
      'a scheme of an app and a secret',
      { redirect_uris: ['com.example:/a'], token_endpoint_auth_method: undefined },
      'invalid_redirect_uri',
    ],
    ['an unknown method', { token_endpoint_auth_method: 'tls_client_auth' }, 'invalid_client_metadata'],
    ['no key', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['two sources of keys', { jwks: { keys: [] }, jwks_uri: 'https://agent.example.com/k' }, 'invalid_client_metadata'],
    ['client credentials', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['the implicit grant', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['an unknown algorithm', { id_token_signed_response_alg: 'none' }, 'invalid_client_metadata'],
  ])('names the error for %s (section 3.2.2)', async (_name, metadata, error) => {
    await world.set({ ...open, blockedClientDomains: ['blocked.example'] });
    expect(await register({ ...agent, ...metadata })).toMatchObject({ status: 400, error });
    expect(await count()).toBe(0);
  });

  it('never gives scopes of the admin API, trust, or the client credentials grant', async () => {
    await world.set(open);
    const made = await register({ ...agent, scope: 'users:write', adminScopes: ['users:write'], thirdParty: false });
    const client = await stranger(made.client_id);
    expect((await client.exchange(await client.code({ scope: 'openid users:write' }))).scope).toBe('openid');
    expect(await client.token({ grant_type: 'client_credentials' })).toMatchObject({ error: 'unauthorized_client' });
  });

  it('needs an initial access token where the project says so: live, of the project, of this kind', async () => {
    await world.set({ clientRegistration: 'token' });
    const { registrationTokens } = world.app.services;
    const { token, registrationToken } = await registrationTokens.issue(
      world.project.id,
      { name: 'CI', days: 1 },
      system,
    );
    const refused = { status: 401, error: 'invalid_token' };
    expect(await register()).toMatchObject(refused);
    expect(await register(agent, 'lk_ia_unknown')).toMatchObject(refused);
    expect((await register(agent, token)).status).toBe(201);
    const made = await register(agent, token);
    expect(await register(agent, made.registration_access_token)).toMatchObject(refused);
    world.app.clock.turn(86_401);
    expect(await register(agent, token)).toMatchObject(refused);
    const other = await registrationTokens.issue(world.project.id, { name: 'Other' }, system);
    await registrationTokens.revoke(registrationToken, system);
    await registrationTokens.revoke(other.registrationToken, system);
    expect(await register(agent, other.token)).toMatchObject(refused);
    const foreign = await registrationTokens.issue((await world.app.make.project()).id, { name: 'Foreign' }, system);
    expect(await register(agent, foreign.token)).toMatchObject(refused);
    expect(await count()).toBe(2);
  });

  it('is limited for each network, with 429', async () => {
    await world.set(open);
    const statuses = [];
    for (let at = 0; at < 21; at += 1) statuses.push((await register()).status);
    expect(statuses.slice(0, 20).every((status) => status === 201)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
    expect(await count()).toBe(20);
  });

  it('refuses other media types, lists and large bodies', async () => {
    await world.set(open);
    const post = (body: string, type: string) =>
      fetch(endpoint, { method: 'POST', body, headers: { 'Content-Type': type } });
    expect((await post('{}', 'text/plain')).status).toBe(400);
    expect(await (await post('[]', 'application/json')).json()).toMatchObject({ error: 'invalid_client_metadata' });
    expect((await post(`{"a":"${'x'.repeat(20_000)}"}`, 'application/json')).status).toBe(413);
  });
});

describe('management (RFC 7592)', () => {
  it('reads, changes and deletes the client by its registration access token alone (sections 2.1 to 2.3)', async () => {
    await world.set(open);
    const made = await register();
    const other = await register();
    const [uri, token] = [made.registration_client_uri, made.registration_access_token];
    expect(await send('GET', uri, undefined, token)).toMatchObject({ status: 200, client_id: made.client_id });
    for (const wrong of [undefined, 'lk_rg_unknown', other.registration_access_token]) {
      const refused = { status: 401, error: 'invalid_token' };
      expect(await send('GET', uri, undefined, wrong)).toMatchObject(refused);
      expect(await send('PUT', uri, { ...agent, client_id: made.client_id }, wrong)).toMatchObject(refused);
      expect(await send('DELETE', uri, undefined, wrong)).toMatchObject(refused);
    }
    const next = 'https://agent.example.com/next';
    const update = { ...agent, client_id: made.client_id, redirect_uris: [next] };
    expect(await send('PUT', uri, update, token)).toMatchObject({ status: 200, redirect_uris: [next] });
    const client = await stranger(made.client_id, next);
    const { access_token } = await client.exchange(await client.code());
    expect(await client.userInfo(access_token)).toBe(200);
    expect((await send('DELETE', uri, undefined, token)).status).toBe(204);
    expect(await client.userInfo(access_token)).toBe(401);
    expect((await client.authorize()).status).toBe(400);
    expect((await send('GET', uri, undefined, token)).status).toBe(401);
  });

  it('shares its limit with registrations, which a caller without the token does not spend', async () => {
    await world.set(open);
    const made = await register();
    const [uri, token] = [made.registration_client_uri, made.registration_access_token];
    const put = (at: number, by: string) =>
      send('PUT', uri, { ...agent, client_id: made.client_id, redirect_uris: [`${redirectUri}/${at}`] }, by);
    for (let at = 0; at < 21; at += 1) await put(at, 'lk_rg_unknown');
    for (let at = 0; at < 19; at += 1) expect((await put(at, token)).status).toBe(200);
    expect((await put(20, token)).status).toBe(429);
    expect((await world.events()).filter((type) => type === 'client.updated')).toHaveLength(19);
  });

  it('cannot change the id, the method, the host that users have allowed, or members of the server (section 2.2)', async () => {
    await world.set(open);
    const made = await register();
    const [uri, token, same] = [
      made.registration_client_uri,
      made.registration_access_token,
      { ...agent, client_id: made.client_id },
    ];
    const put = (metadata: object) => send('PUT', uri, metadata, token);
    expect(await put({ ...same, client_id: 'other' })).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(await put({ ...same, client_id_issued_at: 1 })).toMatchObject({ status: 400, error: 'invalid_request' });
    const elsewhere = { ...same, redirect_uris: ['https://evil.example.com/'] };
    expect(await put(elsewhere)).toMatchObject({ status: 400, error: 'invalid_redirect_uri' });
    const secret = { ...same, token_endpoint_auth_method: 'client_secret_basic' };
    expect(await put(secret)).toMatchObject({ status: 400, error: 'invalid_client_metadata' });
  });

  it('ends with the client: blocked by an admin, or by its domain', async () => {
    await world.set(open);
    const made = await register({ ...agent, grant_types: ['authorization_code', 'refresh_token'] });
    const client = await stranger(made.client_id);
    const tokens = await client.exchange(await client.code({ scope: 'openid offline_access' }));
    const read = async () =>
      (await send('GET', made.registration_client_uri, undefined, made.registration_access_token)).status;
    const ended = async () => [
      await read(),
      await client.userInfo(tokens.access_token),
      (await client.refresh(tokens.refresh_token)).status,
    ];
    await world.set({ blockedClientDomains: ['example.com'] });
    expect(await ended()).toEqual([401, 401, 401]);
    await world.set({ blockedClientDomains: [] });
    expect(await read()).toBe(200);
    await world.app.services.clients.update(keyIn(world.project.id, made.client_id), { disabled: true }, system);
    expect(await ended()).toEqual([401, 401, 401]);
  });
});

it('a client that registered and is not used is deleted after 30 days', async () => {
  await world.set(open);
  await register();
  world.app.clock.turn(29 * 86_400);
  await world.app.services.retention.sweep();
  expect(await count()).toBe(1);
  world.app.clock.turn(2 * 86_400);
  await world.app.services.retention.sweep();
  expect(await count()).toBe(0);
});
