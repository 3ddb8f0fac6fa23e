import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Breakable } from '../../test/breakable.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';

const way = new Breakable();
let app: TestApp;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp((url) => way.to(url));
  const project = await app.make.project();
  rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(await app.make.user(project));
});

afterAll(async () => {
  await app.close();
});

describe('while the database is away', () => {
  it('refuses with 503, temporarily_unavailable and Retry-After, and is well again without a restart', async () => {
    const { access_token: accessToken } = await rp.tokens();
    const code = await rp.code();
    await way.close();
    for (const refused of [await rp.exchange(code), await rp.userInfo(accessToken), await rp.authorize()]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    }
    await way.open();
    expect((await rp.userInfo(accessToken)).status).toBe(200);
    expect((await rp.exchange(code)).status).toBe(200);
  });

  it('goes on to publish discovery and the keys', async () => {
    await way.close();
    app.clock.turn(60);
    for (const path of ['openid-configuration', 'jwks.json']) {
      expect((await fetch(`${app.url}/.well-known/${path}`)).status).toBe(200);
    }
    await way.open();
  });
});
