import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let user: User;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  const project = await app.make.project();
  user = await app.make.user(project);
  rp = new RelyingParty(app, (await app.make.client(project)).client);
});

describe('discovery, keys and CORS', () => {
  it('publishes a document with its own address as issuer', async () => {
    const response = await fetch(`${app.url}/.well-known/openid-configuration`);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({ issuer: app.url, token_endpoint: `${app.url}/oauth2/token` });
  });

  it.each(['openid-configuration', 'jwks.json'])('sends %s again only if it has changed', async (document) => {
    const url = `${app.url}/.well-known/${document}`;
    const first = await fetch(url);
    // fetch sends no conditional request by itself.
    const ask = (etag: string) => fetch(url, { headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' } });
    const again = await ask(first.headers.get('etag') ?? '');
    expect(again.status).toBe(304);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await ask('"another"')).status).toBe(200);
  });

  it('publishes public keys only, each with its own kid', async () => {
    const { keys } = (await (await fetch(`${app.url}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, unknown>[];
    };
    expect(new Set(keys.map((key) => key['kid'])).size).toBe(keys.length);
    expect(keys.map((key) => key['alg']).sort()).toEqual(['ES512', 'EdDSA']);
    for (const key of keys) expect(key).not.toHaveProperty('d');
    await rp.signIn(user);
    const { id_token: idToken } = await rp.tokens();
    expect(keys.map((key) => key['kid'])).toContain(decodeProtectedHeader(idToken).kid);
  });

  it.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['https://evil.tld', null],
    ['https://app.example.com.evil.tld', null],
    ['null', null],
  ])('allows %s to read tokens: %s', async (origin, allowed) => {
    for (const path of ['/oauth2/token', '/userinfo']) {
      const preflight = await fetch(app.url + path, {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, allowed]);
      const response = await fetch(app.url + path, { method: 'POST', headers: { Origin: origin } });
      expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
      expect(response.headers.get('vary')).toContain('Origin');
    }
  });
});

describe("the key set of a project's issuer", () => {
  it('has only the algorithms of its clients and APIs, each until the last ID token has expired', async () => {
    const { apis, clients } = app.services;
    const [project, other] = [await app.make.project(), await app.make.project()];
    const algorithms = async ({ slug }: { slug: string }) => {
      const response = await fetch(`${app.url}/p/${slug}/.well-known/jwks.json`);
      return ((await response.json()) as { keys: { alg: string }[] }).keys.map(({ alg }) => alg).sort();
    };
    expect(await algorithms(project)).toEqual(['ES512']);
    const { client } = await app.make.client(project, { idTokenSignedResponseAlg: 'RS256' });
    const api = { identifier: 'https://api.example.com', name: 'API', scopes: [{ key: 'read', description: 'Read' }] };
    await apis.create({ projectId: other.id, ...api }, system);
    const { client: foreign } = await app.make.client(other, { idTokenSignedResponseAlg: 'EdDSA' });
    expect([await algorithms(project), await algorithms(other)]).toEqual([['RS256'], ['ES256', 'EdDSA']]);
    await clients.update(keyIn(project.id, client.id), { idTokenSignedResponseAlg: 'ES256' }, system);
    await clients.update(keyIn(other.id, foreign.id), { name: 'Renamed' }, system);
    expect(await algorithms(project)).toEqual(['ES256', 'RS256']);
    app.clock.turn(24 * 3600 + 1);
    expect([await algorithms(project), await algorithms(other)]).toEqual([['ES256'], ['ES256', 'EdDSA']]);
    const { client: gone } = await app.make.client(project, { idTokenSignedResponseAlg: 'RS256' });
    await clients.delete(keyIn(project.id, gone.id), system);
    await clients.update(keyIn(project.id, client.id), { disabled: true }, system);
    expect(await algorithms(project)).toEqual(['ES256', 'RS256']);
    app.clock.turn(24 * 3600 + 1);
    expect(await algorithms(project)).toEqual(['ES512']);
  });
});
