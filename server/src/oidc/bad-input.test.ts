import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';

let app: TestApp;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
  const project = await app.make.project();
  rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project));
});

afterAll(async () => {
  await app.close();
});

const endpoints = ['/authorize', '/oauth2/token', '/userinfo', '/oauth2/end_session'];

describe('a body that cannot be read', () => {
  it.each<[string, string, Buffer]>([
    ['invalid gzip', 'gzip', Buffer.from('a=b')],
    ['invalid deflate', 'deflate', Buffer.from('a=b')],
    ['invalid brotli', 'br', Buffer.from('a=b')],
    ['truncated gzip', 'gzip', gzipSync('a=b&'.repeat(1000)).subarray(0, 30)],
    ['a gzip bomb of 50 MB', 'gzip', gzipSync(Buffer.alloc(50_000_000))],
    ['an unknown coding', 'rot13', Buffer.from('a=b')],
  ])('gets a 4xx: %s', async (_name, coding, body) => {
    for (const path of endpoints) {
      const response = await fetch(app.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': coding },
        body: new Uint8Array(body),
      });
      expect([path, [400, 413, 415].includes(response.status)]).toEqual([path, true]);
      expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    }
  });

  it('is read if it is valid gzip', async () => {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: await rp.code(),
      code_verifier: rp.proof.verifier,
      client_id: rp.client.id,
      redirect_uri: 'https://app.example.com/callback',
    });
    const response = await fetch(`${app.url}/oauth2/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8', 'Content-Encoding': 'gzip' },
      body: new Uint8Array(gzipSync(body.toString())),
    });
    expect(response.status).toBe(200);
  });
});

describe('values are case-sensitive (RFC 6749 §1.8)', () => {
  it('a client id in another case is unknown', async () => {
    const upperCase = { client_id: rp.client.id.toUpperCase() };
    expect((await rp.authorize(upperCase)).status).toBe(400);
    const code = await rp.code();
    expect((await rp.exchange(code, upperCase)).status).toBe(401);
    expect((await rp.exchange(code)).status).toBe(200);
  });
});

describe('query parameters of a form request', () => {
  it('are ignored, at /authorize and at the token endpoint', async () => {
    const form = { grant_type: 'authorization_code', code_verifier: rp.proof.verifier, client_id: rp.client.id };
    const code = await rp.code();
    const ask = (query: Record<string, string>, body: Record<string, string>) =>
      fetch(`${app.url}/oauth2/token?${new URLSearchParams(query)}`, {
        method: 'POST',
        body: new URLSearchParams({ ...form, redirect_uri: 'https://app.example.com/callback', ...body }),
      });
    expect(await (await ask({ code }, {})).json()).toMatchObject({ error: 'invalid_request' });
    expect((await ask({ code: 'another', client_id: 'another' }, { code })).status).toBe(200);
  });
});
