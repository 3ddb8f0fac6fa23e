/** Refusals name the credential, address or project that they are about. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Project } from '../domain/projects/project.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project({ name: 'Analytical Engines' });
  ({ client } = await app.make.client(project, {
    grantTypes: ['authorization_code', 'refresh_token', 'device_code'],
  }));
  rp = partyAt(app, project, client);
  await rp.signIn(await app.make.user(project));
});

const refusals = (type: string) =>
  rows<{ client_id: string; uri: string | null; count: number }>(
    app.services.db,
    `select client_id, detail->>'redirectUri' as uri, (detail->>'count')::int as count from audit_log
     where project_id = ? and type = ? and result = 'failure'`,
    [project.id, type],
  );

describe('the text of a refused token request', () => {
  it.each([
    ['authorization_code', { code: 'x', code_verifier: 'v'.repeat(43), redirect_uri: redirectUri }, 'The code '],
    ['refresh_token', { refresh_token: 'x' }, 'The refresh token '],
    ['urn:ietf:params:oauth:grant-type:device_code', { device_code: 'x' }, 'The device code '],
  ])('names the credential of %s', async (grantType, credential, begins) => {
    const body = new URLSearchParams({ grant_type: grantType, client_id: client.id, ...credential });
    const answer = await fetch(`${rp.issuer}/oauth2/token`, { method: 'POST', body });
    const { error, error_description: text } = (await answer.json()) as Record<string, string>;
    expect([answer.status, error]).toEqual([400, 'invalid_grant']);
    expect(text).toMatch(new RegExp(`^${begins}`));
    expect(await refusals('token.refused')).toMatchObject([{ client_id: client.id }]);
  });
});

describe('a redirect URI that is not registered', () => {
  const authorize = (uri: string) =>
    fetch(`${rp.issuer}/authorize?${new URLSearchParams({ client_id: client.id, redirect_uri: uri })}`, {
      redirect: 'manual',
    });

  it('is recorded as it came', async () => {
    expect((await authorize('https://new.example.com/callback?x=1')).status).toBe(400);
    expect(await refusals('authorization.refused')).toEqual([
      { client_id: client.id, uri: 'https://new.example.com/callback?x=1', count: 1 },
    ]);
  });

  it('is escaped and cut, and another one adds no event, but replaces it', async () => {
    await authorize('https://other.example.com');
    await authorize(`https://new.example.com/\u202e"<b>\n${'ü'.repeat(2000)}`);
    const [event, another] = await refusals('authorization.refused');
    expect(another).toBeUndefined();
    expect(event?.count).toBe(2);
    expect(event?.uri).toMatch(/^https:\/\/new\.example\.com\/%E2%80%AE"<b>%0A%C3%BC[\x21-\x7e]*…$/);
    expect(event?.uri?.length).toBeLessThan(600);
  });
});

it('a pushed redirect URI that is not registered is recorded as it came', async () => {
  const form = { client_id: client.id, response_type: 'code', redirect_uri: 'https://pushed.example.com/callback' };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${rp.issuer}/oauth2/par`, { method: 'POST', body });
  expect(answer.status).toBe(400);
  expect(await refusals('authorization.refused')).toEqual([
    { client_id: client.id, uri: 'https://pushed.example.com/callback', count: 1 },
  ]);
});

describe('a post-logout redirect URI that is not registered', () => {
  const foreign = 'https://other.example.com/bye';
  const text = 'asked to return to an address that is not registered';

  it('is named on the page as the reason, and recorded', async () => {
    const { id_token: idToken } = await rp.tokens();
    const page = await (await rp.endSession({ id_token_hint: idToken, post_logout_redirect_uri: foreign })).text();
    expect(page).toContain(text);
    expect(page).not.toContain(foreign);
    expect(await refusals('logout.address_refused')).toEqual([{ client_id: client.id, uri: foreign, count: 1 }]);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const done = await rp.endSession({ client_id: client.id, csrf }, 'post');
    expect([done.status, await rp.isSignedIn()]).toEqual([200, false]);
    expect(await refusals('logout.address_refused')).toMatchObject([{ count: 1 }]);
  });

  it('is recorded without a session, too', async () => {
    const stranger = partyAt(app, project, client);
    expect((await stranger.endSession({ client_id: client.id, post_logout_redirect_uri: foreign })).status).toBe(200);
    expect(await refusals('logout.address_refused')).toMatchObject([{ uri: foreign }]);
  });

  it('is not reported for a registered one or none', async () => {
    for (const more of [{}, { post_logout_redirect_uri: postLogoutRedirectUri }]) {
      const page = await (await rp.endSession({ client_id: client.id, ...more })).text();
      expect(page).toContain('name="csrf"');
      expect(page).not.toContain(text);
      expect(page).not.toMatch(/<p[^>]*><\/p>/);
    }
    expect(await refusals('logout.address_refused')).toEqual([]);
  });
});

describe('a logout without a client', () => {
  it('names the project of its issuer, or of the only session', async () => {
    const page = await (await rp.endSession({})).text();
    expect(page).toContain('You will be signed out of Analytical Engines');
    const base = new RelyingParty(app, client);
    for (const [name, value] of rp.browser.cookies) base.browser.cookies.set(name, value);
    expect(await (await base.endSession({})).text()).toContain('You will be signed out of Analytical Engines');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const done = await (await rp.endSession({ csrf }, 'post')).text();
    expect(done).toContain('Analytical Engines');
    expect(done).not.toContain('Latchkey');
  });

  it('names no project if sessions of several end', async () => {
    const other = await app.make.project({ name: 'Difference Engines' });
    const base = new RelyingParty(app, client);
    const second = partyAt(app, other, (await app.make.client(other)).client);
    await second.signIn(await app.make.user(other));
    for (const { browser } of [rp, second]) {
      for (const [name, value] of browser.cookies) base.browser.cookies.set(name, value);
    }
    const page = await (await base.endSession({})).text();
    expect(page).toContain('You will be signed out of Latchkey');
  });
});

it('scopes of an API are refused for a third-party application that gets no tokens for APIs', async () => {
  const { apis, clients } = app.services;
  const scopes = [{ key: 'read', description: 'Read' }];
  const api = await apis.create(
    { projectId: project.id, identifier: 'https://api.example.com', name: 'API', scopes },
    system,
  );
  const third = await clients.update(client, { thirdParty: true }, system);
  const grant = (introspects: boolean, keys: string[]) =>
    problemOf(apis.grant(third, api.id, { scopes: keys, introspects }, system));
  expect(await grant(false, ['read'])).toMatchObject({ code: 'invalid', field: 'scopes' });
  expect(await apis.grantsOfClient(app.services.db.reader(), third)).toEqual([]);
  expect(await grant(false, [])).toBeNull();
});
