import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Breakable } from '../../test/breakable.ts';
import { bootstrapToken, buildTestApp, type TestApp } from '../../test/build-app.ts';
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

describe('while the database is unreachable', () => {
  it('answers 503 temporarily_unavailable with Retry-After, and recovers without a restart', async () => {
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

  it('answers in the error format of each protocol', async () => {
    const project = await app.make.project();
    const json = { 'Content-Type': 'application/json' };
    const ask = (path: string, headers: Record<string, string> = {}, body?: string) =>
      fetch(app.url + path, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) });
    await way.close();
    const answers = {
      scim: await ask(`/v1/scim/${project.id}/Users`, { Authorization: 'Bearer lk_scim_x' }),
      signIn: await ask('/v1/signin/challenge', { ...json, 'X-Api-Key': 'lk_pk_x', Origin: app.url }, '{}'),
      graphql: await ask(
        '/admin/graphql',
        { ...json, Authorization: `Bearer ${bootstrapToken}` },
        '{"query":"{ projects(first: 1) { edges { node { id } } } }"}',
      ),
      delegation: await ask(
        '/v1/delegation',
        { 'Content-Type': 'application/jose', 'X-Api-Key': 'lk_sk_x' },
        'a.b.c.d.e',
      ),
      page: await ask('/authorize?client_id=0197e5a0-0000-7000-8000-000000000000&redirect_uri=https://a.example/', {
        Accept: 'text/html',
      }),
    };
    await way.open();
    for (const [protocol, { status, headers }] of Object.entries(answers))
      expect([protocol, status, headers.get('retry-after')]).toEqual([protocol, 503, '5']);
    expect(await answers.scim.json()).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '503',
    });
    expect(await answers.signIn.json()).toMatchObject({ status: 'ERROR', error: { code: 'TEMPORARILY_UNAVAILABLE' } });
    expect(await answers.graphql.json()).toMatchObject({ errors: [{ extensions: { code: 'unavailable' } }] });
    expect(await answers.delegation.json()).toMatchObject({ error: { request_id: expect.any(String) } });
    expect(await answers.page.text()).toContain('Temporarily unavailable');
  });

  it('keeps serving discovery and JWKS', async () => {
    await way.close();
    app.clock.turn(60);
    for (const path of ['openid-configuration', 'jwks.json']) {
      expect((await fetch(`${app.url}/.well-known/${path}`)).status).toBe(200);
    }
    await way.open();
  });
});
