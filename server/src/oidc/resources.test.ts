/** Access tokens of users for APIs: `resource` at authorize, code and refresh (RFC 8707). */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { apiOf, basic, type Machine, machineOf, orders, send } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Api } from '../domain/apis/api.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const billing = 'urn:example:billing';
let app: TestApp;
let project: Project;
let user: User;
let api: Api;
let web: Machine;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  api = await apiOf(app, project);
  const settings = { tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['refresh_token'] } as const;
  const { client, clientSecret } = await app.make.client(project, { ...settings, grantTypes: ['refresh_token'] });
  party = partyAt(app, project, client);
  web = { app, client, secret: clientSecret ?? '', issuer: party.issuer };
  await party.signIn(user);
  await grant(api, ['read']);
});

const grant = (to: Api, scopes: string[], client = web.client) =>
  app.services.apis.grant(client, to.id, { scopes, introspects: false }, system);

/** The parameters at the redirect URI, for a request that names these APIs. */
async function authorize(resources: string[], scope = 'openid email read write offline_access', by = party) {
  const query = new URLSearchParams(authorizationParameters(by.client.id, by.proof.challenge, { scope }));
  for (const resource of resources) query.append('resource', resource);
  return locationOf(await by.browser.get(`${by.issuer}/authorize?${query}`)).searchParams;
}
async function codeFor(...resources: string[]): Promise<string> {
  return (await authorize(resources)).get('code') ?? '';
}
interface Answer {
  status: number;
  error?: string;
  access_token: string;
  refresh_token: string;
  id_token: string;
  scope?: string;
  expires_in: number;
}
async function answerOf(response: Promise<Response>): Promise<Answer> {
  const { status } = await response;
  return { ...((await (await response).json()) as Answer), status };
}
const exchange = (code: string, resource?: string) => answerOf(party.exchange(code, { resource }, basic(web)));
const refresh = (token: string, form: Record<string, string | string[]> = {}) =>
  answerOf(send(web, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token, ...form }));

describe('a sign-in that names an API (RFC 8707)', () => {
  it('gives an access token for it with its granted scopes, which is not valid for UserInfo (section 2)', async () => {
    const answer = await exchange(await codeFor(orders));
    expect([answer.status, answer.scope, answer.expires_in]).toEqual([200, 'read', 900]);
    expect(decodeProtectedHeader(answer.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    expect(decodeJwt(answer.access_token)).toMatchObject({
      ...{ iss: party.issuer, aud: orders, sub: user.id, client_id: web.client.id, scope: 'read' },
    });
    expect(decodeJwt(answer.id_token)).toMatchObject({ aud: web.client.id, email: user.email });
    expect((await party.userInfo(answer.access_token)).status).toBe(401);
    const plain = await exchange((await authorize([])).get('code') ?? '');
    expect(plain.scope).toBe('openid email offline_access');
    expect((await party.userInfo(plain.access_token)).status).toBe(200);
  });

  it('may omit openid, and then gets no ID token; without scope, all scopes of the API', async () => {
    await grant(api, ['read', 'write']);
    const codeOf = async (scope?: string) => (await authorize([orders], scope)).get('code') ?? '';
    const answer = await exchange(await codeOf('read'));
    expect(answer).toMatchObject({ status: 200, scope: 'read', access_token: expect.any(String) });
    expect(answer.id_token).toBeUndefined();
    expect(decodeJwt(answer.access_token)).toMatchObject({ aud: orders, sub: user.id, scope: 'read' });
    const again = await refresh(answer.refresh_token);
    expect([again.status, again.scope, again.id_token]).toEqual([200, 'read', undefined]);
    const query = new URLSearchParams(
      authorizationParameters(web.client.id, party.proof.challenge, { scope: undefined }),
    );
    query.append('resource', orders);
    const location = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
    const all = await exchange(location.searchParams.get('code') ?? '');
    expect([all.scope, all.id_token]).toEqual(['read write', undefined]);
    expect((await authorize([orders], 'delete')).get('error')).toBe('invalid_scope');
  });

  it('needs openid at the base issuer, and without an API', async () => {
    expect((await authorize([], 'read')).get('error')).toBe('invalid_scope');
    const { client } = await app.make.client(project);
    const base = new RelyingParty(app, client);
    await base.signIn(user);
    expect((await authorize([orders], 'read', base)).get('error')).toBe('invalid_scope');
  });

  it('must name an API in the token request only if it named several (section 2.2)', async () => {
    const other = await apiOf(app, project, billing);
    await grant(other, ['read', 'write']);
    const code = await codeFor(orders, billing);
    for (const resource of [undefined, 'https://other.example.com']) {
      expect(await exchange(code, resource)).toMatchObject({ status: 400, error: 'invalid_target' });
    }
    const first = await exchange(code, billing);
    expect(decodeJwt(first.access_token)).toMatchObject({ aud: billing, scope: 'read write' });
    const second = await refresh(first.refresh_token, { resource: orders, scope: 'openid read' });
    expect(decodeJwt(second.access_token)).toMatchObject({ aud: orders, scope: 'read', sub: user.id });
    expect(await refresh(second.refresh_token)).toMatchObject({ status: 400, error: 'invalid_target' });
    const twice = { resource: [orders, billing] };
    expect(await refresh(second.refresh_token, twice)).toMatchObject({ status: 400, error: 'invalid_target' });
    expect(await refresh(second.refresh_token, { resource: orders })).toMatchObject({ status: 200 });
  });

  it('is refused for an API that the application may not use, or that does not exist (section 2)', async () => {
    const other = await apiOf(app, project, billing);
    for (const resources of [[billing], [orders, billing], ['https://no.example.com'], [`${app.url}/admin`], ['x\0']]) {
      const error = (await authorize(resources)).get('error');
      expect([resources, error]).toEqual([resources, resources[0] === 'x\0' ? 'invalid_request' : 'invalid_target']);
    }
    const foreign = await apiOf(app, await app.make.project(), 'urn:example:foreign');
    expect((await authorize([foreign.identifier])).get('error')).toBe('invalid_target');
    await grant(other, ['read']);
    expect((await authorize([billing])).get('code')).not.toBeNull();
    const code = await codeFor(orders);
    expect(await exchange(code, billing)).toMatchObject({ status: 400, error: 'invalid_target' });
    expect((await exchange(code, orders)).status).toBe(200);
    const plain = (await authorize([])).get('code') ?? '';
    expect(await exchange(plain, orders)).toMatchObject({ status: 400, error: 'invalid_target' });
  });

  it('is refused for a third-party application, unless the API is open to third parties', async () => {
    const { client } = await app.make.client(project);
    await grant(api, ['read'], client);
    const other = partyAt(app, project, await app.services.clients.update(client, { thirdParty: true }, system));
    await other.signIn(user);
    expect((await authorize([orders], 'openid read', other)).get('error')).toBe('invalid_target');
  });

  it('issues no more tokens to an application that becomes a third party, even if its users consent', async () => {
    const scope = 'openid email offline_access';
    const code = (await authorize([orders], scope)).get('code') ?? '';
    const { access_token: token, refresh_token } = await exchange((await authorize([orders], scope)).get('code') ?? '');
    web.client = await app.services.clients.update(web.client, { thirdParty: true }, system);
    const { db, consents } = app.services;
    await db.transaction((em) =>
      consents.give(em, web.client, user, { scope, resources: [orders], organizationId: null }, system),
    );
    expect(await exchange(code)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(refresh_token)).toMatchObject({ status: 400 });
    expect(await (await send(web, '/oauth2/introspect', { token })).json()).toEqual({ active: false });
    expect((await exchange((await authorize([], scope)).get('code') ?? '')).status).toBe(200);
  });

  it('issues no more tokens once the application has lost the API', async () => {
    const code = await codeFor(orders);
    const { refresh_token } = await exchange(await codeFor(orders));
    await grant(api, []);
    expect(await exchange(code)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect((await refresh(refresh_token)).status).toBe(400);
    await grant(api, ['write']);
    expect(decodeJwt((await refresh(refresh_token)).access_token)).toMatchObject({ aud: orders });
  });

  it('has a token that its API can introspect, and that ends with the user’s access', async () => {
    const server = await machineOf(app, project);
    await app.services.apis.grant(server.client, api.id, { scopes: [], introspects: true }, system);
    const { access_token: token, refresh_token } = await exchange(await codeFor(orders));
    const ask = async () => (await (await send(server, '/oauth2/introspect', { token })).json()) as { active: boolean };
    expect(await ask()).toMatchObject({ active: true, sub: user.id, client_id: web.client.id, scope: 'read' });
    const again = await refresh(refresh_token);
    expect((await refresh(refresh_token)).access_token).not.toBe(again.access_token);
    await app.services.accountAccess.deactivate(project.id, user.id, system);
    expect(await ask()).toEqual({ active: false });
  });

  it('can be pushed (RFC 9126), which checks the API first', async () => {
    const form = (resource: string[]) => ({
      ...authorizationParameters(web.client.id, party.proof.challenge, { scope: 'openid read' }),
      resource,
    });
    const refused = await answerOf(send(web, '/oauth2/par', form([orders, billing])));
    expect(refused).toMatchObject({ status: 400, error: 'invalid_target' });
    await grant(await apiOf(app, project, billing), ['read']);
    const pushed = (await (await send(web, '/oauth2/par', form([orders, billing]))).json()) as { request_uri: string };
    const query = new URLSearchParams({ client_id: web.client.id, request_uri: pushed.request_uri });
    const location = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
    const answer = await exchange(location.searchParams.get('code') ?? '', billing);
    expect(decodeJwt(answer.access_token)).toMatchObject({ aud: billing });
  });

  it('waits for the sign-in like any other', async () => {
    party.signOut();
    const location = locationOf(
      await party.browser.get(
        `${party.issuer}/authorize?${new URLSearchParams({
          ...authorizationParameters(web.client.id, party.proof.challenge, { scope: 'openid read' }),
          resource: orders,
        })}`,
      ),
    );
    await party.signIn(user);
    const resumed = await party.browser.get(`${party.issuer}/authorize/resume${location.search}`);
    const answer = await exchange(locationOf(resumed).searchParams.get('code') ?? '');
    expect(decodeJwt(answer.access_token)).toMatchObject({ aud: orders, scope: 'read' });
  });
});

it('the base issuer ignores resource, and refuses a repeated one, as before', async () => {
  const { client } = await app.make.client(project);
  const base = new RelyingParty(app, client);
  await base.signIn(user);
  const tokens = await base.tokens({ resource: orders });
  expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: app.url });
  expect((await authorize([orders, billing], 'openid', base)).get('error')).toBe('invalid_request');
});
