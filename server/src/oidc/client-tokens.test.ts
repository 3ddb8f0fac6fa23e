/** Access tokens of clients for APIs: RFC 6749 §4.4, RFC 8707, RFC 9068. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce } from '../../test/at-once.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { apiOf, ask, basic, type Machine, machineOf, orders, send, tokenOf } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { changed } from '../../test/rows.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { execute, sql } from '../domain/kernel/sql.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
let api: Api;
let machine: Machine;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  api = await apiOf(app, project);
  machine = await machineOf(app, project);
});

const grant = (scopes: string[], to = machine, of = api) =>
  app.services.apis.grant(to.client, of.id, { scopes, introspects: false }, system);

async function outcome(response: Response): Promise<[number, string | undefined]> {
  const { error } = (await response.json()) as { error?: string };
  return [response.status, error];
}

const keysAt = async (url: string) =>
  createLocalJWKSet((await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: [] });

describe('POST /oauth2/token with client_credentials', () => {
  it('gives an access token for the API that the project’s keys verify, and nothing else', async () => {
    await grant(['write', 'read']);
    const response = await ask(machine, { resource: orders, scope: 'read' });
    const { access_token, ...rest } = (await response.json()) as { access_token: string };
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(rest).toEqual({ token_type: 'Bearer', expires_in: 900, scope: 'read' });
    expect(decodeProtectedHeader(access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    const { payload } = await jwtVerify(access_token, await keysAt(machine.issuer), {
      issuer: machine.issuer,
      audience: orders,
      currentDate: app.clock.now(),
    });
    const { id } = machine.client;
    expect(payload).toMatchObject({ sub: id, client_id: id, aud: orders, scope: 'read' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
    await expect(jwtVerify(access_token, await keysAt(app.url))).rejects.toThrow('no applicable key');
  });

  it('defaults to the only API, and to all scopes granted there', async () => {
    await grant(['write', 'read']);
    expect(decodeJwt(await tokenOf(machine))).toMatchObject({ aud: orders, scope: 'read write' });
    const other = await apiOf(app, project, 'urn:example:billing');
    await grant(['read'], machine, other);
    expect(await outcome(await ask(machine))).toEqual([400, 'invalid_target']);
    expect(decodeJwt(await tokenOf(machine, { resource: 'urn:example:billing' }))).toMatchObject({
      aud: 'urn:example:billing',
      scope: 'read',
    });
  });

  it.each([
    ['an API that it may not use', { resource: 'https://other.example.com' }, 'invalid_target'],
    ['a fragment', { resource: `${orders}#x` }, 'invalid_target'],
    ['two APIs at once', { resource: [orders, 'https://other.example.com'] }, 'invalid_target'],
    ['the same with a slash', { resource: `${orders}/` }, 'invalid_target'],
    ['NUL in a resource', { resource: `${orders}\0` }, 'invalid_request'],
    ['a scope that was not granted', { scope: 'read write' }, 'invalid_scope'],
    ['openid', { scope: 'openid read' }, 'invalid_scope'],
    ['offline_access', { scope: 'offline_access' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
    ['no scope in the parameter', { scope: '  ' }, 'invalid_scope'],
    ['a repeated scope', { scope: ['read', 'read'] }, 'invalid_request'],
  ])('refuses %s', async (_, form, error) => {
    await grant(['read']);
    expect(await outcome(await ask(machine, form as Record<string, string>))).toEqual([400, error]);
  });

  it('refuses a client without an API, without the grant type, or without authentication', async () => {
    expect(await outcome(await ask(machine))).toEqual([400, 'invalid_target']);
    const { client, clientSecret } = await app.make.client(project, { tokenEndpointAuthMethod: 'client_secret_post' });
    await grant(['read'], { ...machine, client });
    const plain = { ...machine, client, secret: clientSecret ?? '' };
    expect(await outcome(await ask(plain))).toEqual([400, 'unauthorized_client']);
    const open = await app.make.client(project, {});
    const none = await ask({ ...machine, client: open.client }, { client_id: open.client.id }, {});
    expect(await outcome(none)).toEqual([400, 'unauthorized_client']);
    expect(await outcome(await ask({ ...machine, secret: `lk_cs_${'x'.repeat(43)}` }))).toEqual([
      401,
      'invalid_client',
    ]);
    await expect(
      app.services.clients.update(machine.client, { tokenEndpointAuthMethod: 'none' }, system),
    ).rejects.toMatchObject({ problem: { field: 'grantTypes' } });
  });

  it('refuses a client that has lost the grant type, even if an earlier version is cached', async () => {
    await grant(['read']);
    expect((await ask(machine)).status).toBe(200);
    const text = `update clients set grant_types = '{}' where id = ?`;
    await changed(app.services.db, text, [machine.client.id]);
    expect((await ask(machine)).status).toBe(400);
  });

  it('is unknown at the base issuer, and for another project’s client', async () => {
    await grant(['read']);
    expect(await outcome(await ask({ ...machine, issuer: app.url }))).toEqual([400, 'unsupported_grant_type']);
    const other = await machineOf(app, await app.make.project());
    expect(await outcome(await ask({ ...machine, issuer: other.issuer }))).toEqual([401, 'invalid_client']);
    await expect(grant(['read'], other)).rejects.toMatchObject({ problem: { code: 'not-found', what: 'api' } });
    await expect(grant(['read', 'erase'])).rejects.toMatchObject({ problem: { field: 'scopes' } });
  });

  it('gives one token of 40 for one client assertion', async () => {
    const pair = generateKeyPairSync('ed25519');
    const { client } = await app.make.client(project, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: pair.publicKey.export({ format: 'jwk' }),
      grantTypes: ['client_credentials'],
    });
    const signer = { ...machine, client };
    await grant(['read'], signer);
    const sibling = await buildSibling(app);
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const { id } = client;
    const claims = { iss: id, sub: id, aud: machine.issuer, iat: now, exp: now + 60, jti: randomUUID() };
    const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
    const form = { client_assertion: assertion, client_assertion_type: assertionType };
    const there = { ...signer, issuer: machine.issuer.replace(app.url, sibling.url) };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(index % 2 ? there : signer, form, {}).then(outcome)),
    );
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1);
    expect(answers.filter(([status]) => status === 401)).toHaveLength(39);
    await sibling.close();
  });

  it('is in the audit log, but not in the log of requests', async () => {
    await grant(['read']);
    const token = await tokenOf(machine);
    const rows = await app.services.db
      .reader()
      .execute(`select * from audit_log where type = 'token.issued' and client_id = ?`, [machine.client.id]);
    expect(rows).toMatchObject([{ actor_kind: 'client', subject_kind: 'client', subject_id: machine.client.id }]);
    expect(app.logLines.join('')).not.toContain(token);
  });
});

describe('a token for an API', () => {
  it('is not valid for UserInfo, as a refresh token, a hint or an admin token', async () => {
    await grant(['read']);
    const token = await tokenOf(machine);
    for (const url of [machine.issuer, app.url]) {
      const response = await fetch(`${url}/userinfo`, { headers: { Authorization: `Bearer ${token}` } });
      expect(response.status).toBe(401);
    }
    const refreshed = await send(machine, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token });
    expect(refreshed.status).toBe(400);
    const party = partyAt(app, project, machine.client);
    await party.signIn(await app.make.user(project));
    expect((await party.answer({ id_token_hint: token, prompt: 'none' })).get('error')).toBe('login_required');
    const admin = await fetch(`${app.url}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: '{"query":"{ me { name } }"}',
    });
    expect(admin.status).toBe(401);
  });

  it('is revoked only by its client (RFC 7009)', async () => {
    await grant(['read']);
    const token = await tokenOf(machine);
    const other = await machineOf(app, project);
    expect(await outcome(await send(other, '/oauth2/revoke', { token }))).toEqual([400, 'invalid_grant']);
    expect((await send(machine, '/oauth2/revoke', { token })).status).toBe(200);
    const rows = await app.services.db
      .reader()
      .execute('select 1 from authorization_codes where client_id = ? and revoked_at is not null', [machine.client.id]);
    expect(rows).toHaveLength(1);
  });

  it('has no scope that its API has lost, and no API that its client has lost', async () => {
    await grant(['read', 'write']);
    const { apis } = app.services;
    await apis.update(api, { scopes: [{ key: 'read', description: 'Read' }], accessTokenTtlSeconds: 60 }, system);
    expect(decodeJwt(await tokenOf(machine))).toMatchObject({ scope: 'read' });
    await apis.update(api, { scopes: [{ key: 'write', description: 'Write' }] }, system);
    expect(await outcome(await ask(machine))).toEqual([400, 'invalid_target']);
    await grant(['write']);
    expect((await ask(machine)).status).toBe(200);
    await grant([]);
    expect(await outcome(await ask(machine))).toEqual([400, 'invalid_target']);
    await grant(['write']);
    await apis.delete(keyIn(project.id, api.id), system);
    expect(await outcome(await ask(machine))).toEqual([400, 'invalid_target']);
  });

  it('keeps its rights when those of another client or API change, or its client only introspects', async () => {
    const { apis, db } = app.services;
    const second = await apiOf(app, project, 'https://stock.example.com');
    const other = await machineOf(app, project);
    const resource = second.identifier;
    await grant(['read', 'write']);
    await grant(['read', 'write'], machine, second);
    await grant(['write'], other);
    await apis.grant(other.client, second.id, { scopes: ['write'], introspects: true }, system);
    expect(decodeJwt(await tokenOf(other, { resource: orders }))).toMatchObject({ scope: 'write' });
    expect(decodeJwt(await tokenOf(machine, { resource }))).toMatchObject({ scope: 'read write' });

    await apis.update(second, { scopes: [{ key: 'read', description: 'Read' }] }, system);
    expect(decodeJwt(await tokenOf(machine, { resource }))).toMatchObject({ scope: 'read' });
    expect(decodeJwt(await tokenOf(machine, { resource: orders }))).toMatchObject({ scope: 'read write' });
    const left = await apis.grantsOfClient(db.reader(), other.client);
    expect(left.map(({ api: { id }, scopes, introspects }) => [id, scopes, introspects])).toEqual([
      [api.id, ['write'], false],
      [second.id, [], true],
    ]);
  });
});

describe('an API', () => {
  const create = (changes: object) =>
    app.services.apis.create(
      {
        projectId: project.id,
        identifier: 'https://x.example.com',
        name: 'X',
        scopes: [{ key: 'read', description: 'Read' }],
        ...changes,
      },
      system,
    );

  it('is limited to 100 in its project, even with concurrent creations', async () => {
    const { id: projectId } = await app.services.projects.create({ name: 'Hasty' }, system);
    await execute(
      app.services.db.alone,
      sql`insert into apis (project_id, id, identifier, name, scopes, access_token_ttl_seconds, version, created_at, updated_at)
        select ${projectId}, gen_random_uuid(), 'urn:' || n, 'X', '[]', 300, 1, now(), now() from generate_series(1, 99) n`,
    );
    const works = ['one', 'two', 'three'].map(
      (name) => () => create({ projectId, identifier: `https://x.example.com/${name}` }),
    );
    const made = await atOnce(app.services.db, 'apis', works);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each([
    ['a relative identifier', { identifier: '/api' }, 'identifier'],
    ['a fragment', { identifier: 'https://x.example.com/#a' }, 'identifier'],
    ['a space', { identifier: 'https://x.example.com/a b' }, 'identifier'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a blank description', { scopes: [{ key: 'read', description: ' ' }] }, 'scopes[0].description'],
    ['a scope with a space', { scopes: [{ key: 'a b', description: 'x' }] }, 'scopes[0].key'],
    ['a scope of OpenID Connect', { scopes: [{ key: 'openid', description: 'x' }] }, 'scopes[0].key'],
    ['the scope of organizations', { scopes: [{ key: 'organizations', description: 'x' }] }, 'scopes[0].key'],
    ['the same scope twice', { scopes: ['a', 'a'].map((key) => ({ key, description: 'x' })) }, 'scopes[1].key'],
    ['a lifetime of more than an hour', { accessTokenTtlSeconds: 3601 }, 'accessTokenTtlSeconds'],
    ['a lifetime of less than a minute', { accessTokenTtlSeconds: 59 }, 'accessTokenTtlSeconds'],
    ['a blank name', { name: ' ' }, 'name'],
  ])('cannot have %s', async (_, changes, field) => {
    await expect(async () => create(changes)).rejects.toMatchObject({ problem: { code: 'invalid', field } });
  });

  it('cannot be one of our own addresses, in any spelling, nor exist twice in a project', async () => {
    const { port } = new URL(app.url);
    for (const path of ['', '/', '/admin', `/p/${project.slug}`, '/userinfo']) {
      await expect(async () => create({ identifier: `${app.url}${path}` })).rejects.toMatchObject({
        problem: { field: 'identifier' },
      });
    }
    const host = new URL(app.url).hostname.toUpperCase();
    await expect(async () => create({ identifier: `HTTP://${host}:${port}/admin` })).rejects.toThrow();
    await expect(create({ identifier: orders })).rejects.toMatchObject({ problem: { code: 'taken' } });
    expect((await apiOf(app, await app.make.project())).identifier).toBe(orders);
  });

  it('adds ES256 only to the keys of its project', async () => {
    const algorithms = async (slug: string) => {
      const response = await fetch(`${app.url}/p/${slug}/.well-known/jwks.json`);
      return ((await response.json()) as { keys: { alg: string }[] }).keys.map(({ alg }) => alg);
    };
    const other = await app.make.project();
    await app.make.client(other);
    expect((await algorithms(project.slug)).sort()).toEqual(['ES256', 'RS256']);
    expect(await algorithms(other.slug)).toEqual(['ES512']);
    expect(basic(machine).Authorization).toMatch(/^Basic /);
  });
});
