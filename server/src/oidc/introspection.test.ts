/** RFC 7662 and RFC 9701 at the issuers of projects. */
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { apiOf, basic, type Machine, machineOf, orders, send, tokenOf } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let api: Api;
/** A client with tokens for the API, and the server of the API. */
let machine: Machine;
let server: Machine;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  api = await apiOf(app, project);
  machine = await machineOf(app, project);
  server = await machineOf(app, project);
  await grant(machine, ['read', 'write']);
  await grant(server, [], true);
});

const grant = (to: Machine, scopes: string[], introspects = false) =>
  app.services.apis.grant(to.client, api.id, { scopes, introspects }, system);
const ask = async (by: Machine, token: string, form: Record<string, string> = {}) =>
  (await (await send(by, '/oauth2/introspect', { token, ...form })).json()) as Record<string, unknown>;
const isActive = async (by: Machine, token: string) => (await ask(by, token))['active'];

/** An application that signs in users, with the tokens of one. */
async function signedIn(settings: object = {}, scope = 'openid email offline_access') {
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['refresh_token'],
    ...settings,
  });
  const web: Machine = { app, client, secret: clientSecret ?? '', issuer: machine.issuer };
  const party = partyAt(app, project, client);
  const sessionId = await party.signIn(user);
  const code = await party.code({ scope });
  const tokens = (await (await party.exchange(code, {}, basic(web))).json()) as {
    access_token: string;
    refresh_token: string;
    id_token: string;
  };
  return { web, party, sessionId, ...tokens };
}

describe('POST {issuer}/oauth2/introspect', () => {
  it('describes a token to its client and to its API', async () => {
    const token = await tokenOf(machine, { scope: 'read' });
    const { id } = machine.client;
    const { exp, iat, jti } = decodeJwt(token);
    const known = { client_id: id, sub: id, aud: orders, iss: machine.issuer, scope: 'read', exp, iat, nbf: iat, jti };
    for (const caller of [machine, server]) {
      expect(await ask(caller, token)).toEqual({ active: true, token_type: 'Bearer', ...known });
    }
    expect(await ask(server, token, { token_type_hint: 'refresh_token' })).toMatchObject({ active: true });
    expect(await ask(server, token, { token_type_hint: 'unknown' })).toMatchObject({ active: true });
  });

  it('reports a token as inactive to every other caller, at every other issuer, and for garbage', async () => {
    const token = await tokenOf(machine);
    const third = await machineOf(app, project);
    await grant(third, ['read', 'write']);
    const elsewhere = await machineOf(app, await app.make.project());
    for (const [caller, sent] of [
      [third, token],
      [elsewhere, token],
      [machine, `${token}x`],
      [machine, 'x'],
      [machine, 'lk_rt_x'],
      [machine, token.toUpperCase()],
    ] as const) {
      expect(await ask(caller, sent)).toEqual({ active: false });
    }
    expect((await send({ ...machine, issuer: app.url }, '/oauth2/introspect', { token })).status).toBe(404);
  });

  it('describes tokens of users only to their client', async () => {
    const { web, access_token, refresh_token, id_token } = await signedIn();
    expect(await ask(web, access_token)).toMatchObject({ active: true, sub: user.id, aud: web.issuer });
    const refresh = await ask(web, refresh_token, { token_type_hint: 'access_token' });
    expect(refresh).toMatchObject({ active: true, sub: user.id, client_id: web.client.id, iss: web.issuer });
    expect(Number(refresh['exp']) - Number(refresh['iat'])).toBe(7 * 24 * 3600);
    expect(await ask(web, id_token)).toEqual({ active: false });
    for (const token of [access_token, refresh_token]) expect(await ask(server, token)).toEqual({ active: false });
  });

  it.each<[string, (sessionId: string) => Promise<unknown>]>([
    ['a logout', (id) => app.services.logout.endSession({ project, id }, system)],
    ['deactivation', () => app.services.accountAccess.deactivate(project.id, user.id, system)],
    ['an admin', () => app.services.accountAccess.endSessions(project.id, user.id, system)],
  ])('reports tokens of a user as inactive after %s', async (name, end) => {
    const { web, sessionId, access_token, refresh_token } = await signedIn();
    expect([await isActive(web, access_token), await isActive(web, refresh_token)]).toEqual([true, true]);
    await end(sessionId);
    // A refresh token with offline_access outlives a logout.
    expect([await isActive(web, access_token), await isActive(web, refresh_token)]).toEqual([
      false,
      name === 'a logout',
    ]);
  });

  it('reports that a refresh token without offline_access ends with its session', async () => {
    const { web, sessionId, refresh_token } = await signedIn({}, 'openid');
    const [session] = await rows<{ expires_at: string }>(
      app.services.db,
      `select expires_at from sessions where id = '${sessionId}'`,
    );
    const { active, exp } = await ask(web, refresh_token);
    expect([active, exp]).toEqual([true, Math.floor(Date.parse(session?.expires_at ?? '') / 1000)]);
  });

  it('reports a refresh token as inactive after it was replaced or revoked', async () => {
    const { web, refresh_token, access_token } = await signedIn();
    const form = { grant_type: 'refresh_token', refresh_token };
    const next = (await (await send(web, '/oauth2/token', form)).json()) as { refresh_token: string };
    expect([await isActive(web, refresh_token), await isActive(web, next.refresh_token)]).toEqual([false, true]);
    await send(web, '/oauth2/revoke', { token: next.refresh_token });
    expect([await isActive(web, next.refresh_token), await isActive(web, access_token)]).toEqual([false, false]);
  });

  it('uses the current client, API and scopes', async () => {
    const token = await tokenOf(machine);
    await grant(machine, ['read']);
    expect(await ask(server, token)).toMatchObject({ active: true, scope: 'read' });
    await grant(machine, []);
    expect(await isActive(server, token)).toBe(false);
    await grant(machine, ['read']);
    expect(await isActive(server, token)).toBe(true);
    await grant(server, []);
    expect(await isActive(server, token)).toBe(false);
    await grant(server, [], true);
    await app.services.clients.update(machine.client, { disabled: true }, system);
    expect(await isActive(server, token)).toBe(false);
    await app.services.clients.update(machine.client, { disabled: false }, system);
    expect(await isActive(server, token)).toBe(true);
    app.clock.turn(900);
    expect(await isActive(server, token)).toBe(false);
    const second = await tokenOf(machine);
    await send(machine, '/oauth2/revoke', { token: second });
    expect(await isActive(server, second)).toBe(false);
    const third = await tokenOf(machine);
    await app.services.clients.delete(machine.client, system);
    expect(await isActive(server, third)).toBe(false);
  });

  it('reports a token of a client as inactive after the secret that obtained it was revoked', async () => {
    const token = await tokenOf(machine);
    expect(await isActive(server, token)).toBe(true);
    const [secret] = await app.services.clientSecrets.of(app.services.db.reader(), [machine.client]);
    if (secret) await app.services.clientSecrets.revoke(secret, system);
    expect(await isActive(server, token)).toBe(false);
  });

  it('reports a token as inactive while its client may not act for itself, or its user is not active', async () => {
    const token = await tokenOf(machine);
    const { web, access_token } = await signedIn();
    const { db } = app.services;
    const both = async () => [await isActive(server, token), await isActive(web, access_token)];
    await changed(db, `update clients set grant_types = '{}' where id = ?`, [machine.client.id]);
    expect(await both()).toEqual([false, true]);
    await changed(db, `update clients set grant_types = '{client_credentials}' where id = ?`, [machine.client.id]);
    await changed(db, 'update users set active = false where id = ?', [user.id]);
    expect(await both()).toEqual([true, false]);
    await changed(db, 'update users set active = true where id = ?', [user.id]);
    expect(await both()).toEqual([true, true]);
  });

  it('ends with the API', async () => {
    const token = await tokenOf(machine);
    await app.services.apis.delete(api, system);
    expect(await isActive(machine, token)).toBe(false);
  });

  it('is for confidential clients, by POST of a form', async () => {
    const token = await tokenOf(machine);
    const { client } = await app.make.client(project);
    const refused = async (response: Promise<Response>) => {
      const { status } = await response;
      return status;
    };
    expect(await refused(send(machine, '/oauth2/introspect', { token, client_id: client.id }, {}))).toBe(401);
    expect(await refused(send(machine, '/oauth2/introspect', { token }, {}))).toBe(400);
    expect(await refused(send(machine, '/oauth2/introspect', { token }, { Authorization: `Bearer ${token}` }))).toBe(
      401,
    );
    expect(await refused(send(machine, '/oauth2/introspect', {}))).toBe(400);
    expect(await refused(send(machine, '/oauth2/introspect', { token: [token, token] }))).toBe(400);
    const url = `${machine.issuer}/oauth2/introspect`;
    const json = { ...basic(machine), 'Content-Type': 'application/json' };
    expect(await refused(fetch(url, { method: 'POST', headers: json, body: JSON.stringify({ token }) }))).toBe(400);
    expect(await refused(fetch(`${url}?token=${token}`, { headers: basic(machine) }))).toBe(405);
  });

  it('returns a JWT for the caller on request (RFC 9701)', async () => {
    const token = await tokenOf(machine);
    const accept = { ...basic(server), Accept: 'application/token-introspection+jwt' };
    const keys = (await (await fetch(`${server.issuer}/.well-known/jwks.json`)).json()) as { keys: [] };
    const read = async (sent: string) => {
      const response = await send(server, '/oauth2/introspect', { token: sent }, accept);
      expect(response.headers.get('content-type')).toBe('application/token-introspection+jwt');
      const options = {
        issuer: server.issuer,
        audience: server.client.id,
        typ: 'token-introspection+jwt',
        currentDate: app.clock.now(),
      };
      return (await jwtVerify(await response.text(), createLocalJWKSet(keys), options)).payload;
    };
    const answer = await read(token);
    expect(answer['token_introspection']).toEqual(await ask(server, token));
    expect(Object.keys(answer).sort()).toEqual(['aud', 'iat', 'iss', 'token_introspection']);
    expect((await read('x'))['token_introspection']).toEqual({ active: false });
    const both = { ...accept, Accept: '*/*' };
    expect((await send(server, '/oauth2/introspect', { token }, both)).headers.get('content-type')).toMatch(
      /^application\/json/,
    );
  });
});
