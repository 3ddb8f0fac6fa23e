/** Issuers of projects: the same endpoints below `/p/{slug}`; codes, tokens and hints are valid at one issuer only. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let other: Project;
let client: Client;
let otherClient: Client;
let user: User;
/** The same client at the base issuer, at its project's, and a client of another project at that project's. */
let base: RelyingParty;
let own: RelyingParty;
let foreign: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(() => app.close());

beforeEach(async () => {
  [project, other] = [await app.make.project(), await app.make.project()];
  ({ client } = await app.make.client(project));
  ({ client: otherClient } = await app.make.client(other));
  user = await app.make.user(project);
  base = new RelyingParty(app, client);
  own = partyAt(app, project, client);
  foreign = partyAt(app, other, otherClient);
  await base.signIn(user);
  await own.signIn(user);
  await foreign.signIn(await app.make.user(other));
});

const documentOf = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

describe('an issuer of a project', () => {
  it('has its own discovery document, also at the address of RFC 8414', async () => {
    const document = await documentOf(`${own.issuer}/.well-known/openid-configuration`);
    expect(own.issuer).toBe(`${app.url}/p/${project.slug}`);
    expect(document).toMatchObject({
      issuer: own.issuer,
      authorization_endpoint: `${own.issuer}/authorize`,
      token_endpoint: `${own.issuer}/oauth2/token`,
      userinfo_endpoint: `${own.issuer}/userinfo`,
      end_session_endpoint: `${own.issuer}/oauth2/end_session`,
      jwks_uri: `${own.issuer}/.well-known/jwks.json`,
      acr_values_supported: ['urn:service:pwdless:v1', 'phr', 'phrh'],
    });
    const metadata = await fetch(`${app.url}/.well-known/oauth-authorization-server/p/${project.slug}`);
    expect(metadata.headers.get('access-control-allow-origin')).toBe('*');
    expect(await metadata.json()).toEqual(document);
  });

  it('signs in its clients, serves UserInfo, and ends their sessions', async () => {
    const { id_token, access_token } = await own.tokens({ nonce: 'n', scope: 'openid email' });
    expect(await own.claims(id_token)).toMatchObject({ iss: own.issuer, sub: user.id, nonce: 'n' });
    expect(decodeJwt(access_token)).toMatchObject({ iss: own.issuer, aud: own.issuer });
    expect(await (await own.userInfo(access_token)).json()).toMatchObject({ sub: user.id, email: user.email });
    const ended = await own.endSession({ id_token_hint: id_token, post_logout_redirect_uri: postLogoutRedirectUri });
    expect(locationOf(ended).href).toBe(postLogoutRedirectUri);
    expect(await own.isSignedIn()).toBe(false);
  });

  it('shares sessions with the base issuer', async () => {
    own.browser.cookies.clear();
    for (const [name, value] of base.browser.cookies) own.browser.cookies.set(name, value);
    expect(await own.isSignedIn()).toBe(true);
    await own.endSession({ id_token_hint: (await own.tokens()).id_token });
    expect(await base.isSignedIn()).toBe(false);
  });

  it('refuses the clients of other projects', async () => {
    const stranger = partyAt(app, other, client);
    const response = await stranger.authorize();
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    const refused = await stranger.exchange(await base.code());
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect((await stranger.endSession({ client_id: client.id })).status).toBe(400);
    const { publishableKey } = await app.make.client(project);
    expect(publishableKey).toMatch(/^lk_pk_/);
  });

  it('ends only the sessions of its project if the request names no client', async () => {
    for (const [name, value] of foreign.browser.cookies) own.browser.cookies.set(name, value);
    const page = await (await own.endSession({})).text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    expect(page).toContain(`action="/p/${project.slug}/oauth2/end_session"`);
    expect((await own.endSession({ csrf }, 'post')).status).toBe(200);
    expect(await own.isSignedIn()).toBe(false);
    expect(await foreign.isSignedIn()).toBe(true);
  });

  it.each(['none-of-these', 'UPPER', 'a%00b', '-', 'x'.repeat(80)])('does not exist at /p/%s', async (slug) => {
    const url = `${app.url}/p/${slug}/.well-known/openid-configuration`;
    const response = await fetch(url, { headers: { Accept: 'application/json' } });
    expect([response.status, await response.json()]).toMatchObject([404, { error: 'invalid_request' }]);
    const page = await fetch(`${app.url}/p/${slug}/authorize`, { headers: { Accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('There is no sign-in service at this address.');
  });

  it('follows POST requests without cookies', async () => {
    const response = await fetch(`${own.issuer}/authorize`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id }),
      redirect: 'manual',
    });
    expect(response.headers.get('location')).toBe(`/p/${project.slug}/authorize?client_id=${client.id}`);
  });
});

describe('mix-up (RFC 9700 section 4.4)', () => {
  const pairs: [string, () => [RelyingParty, RelyingParty]][] = [
    ['the base issuer at the issuer of a project', () => [base, own]],
    ['a project at the base issuer', () => [own, base]],
    ['a project at the issuer of another', () => [own, partyAt(app, other, client)]],
    ['another project at the issuer of this one', () => [foreign, partyAt(app, project, otherClient)]],
  ];

  it.each(pairs)('refuses a code of %s, which stays valid', async (_, parties) => {
    const [from, to] = parties();
    const code = await from.code();
    const refused = await to.exchange(code, { code_verifier: from.proof.verifier });
    expect([400, 401]).toContain(refused.status);
    expect(['invalid_grant', 'invalid_client']).toContain(((await refused.json()) as { error: string }).error);
    expect((await from.exchange(code)).status).toBe(200);
  });

  it.each(pairs)('refuses an access token of %s, even a cached one', async (_, parties) => {
    const [from, to] = parties();
    const { access_token } = await from.tokens();
    expect((await from.userInfo(access_token)).status).toBe(200);
    const refused = await to.userInfo(access_token);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('invalid_token'),
    ]);
    expect((await from.userInfo(access_token)).status).toBe(200);
  });

  it.each(pairs)('does not accept a hint of %s', async (_, parties) => {
    const [from, to] = parties();
    const { id_token } = await from.tokens();
    expect((await to.endSession({ id_token_hint: id_token, client_id: to.client.id })).headers.get('location')).toBe(
      null,
    );
    expect(await from.isSignedIn()).toBe(true);
  });

  it('requires a sign-in for a hint of another issuer', async () => {
    const { id_token } = await base.tokens();
    expect((await own.answer({ id_token_hint: id_token, prompt: 'none' })).get('error')).toBe('login_required');
    expect((await base.answer({ id_token_hint: id_token, prompt: 'none' })).has('code')).toBe(true);
  });

  it('names the issuer of the request in each response (RFC 9207)', async () => {
    // `answer` compares `iss`.
    expect((await own.answer()).has('code')).toBe(true);
    expect((await own.answer({ response_type: 'token' })).get('error')).toBe('unsupported_response_type');
  });

  it('resumes a flow only at the issuer of its request', async () => {
    own.signOut();
    const page = locationOf(await own.authorize({ state: 's' }));
    const flow = page.searchParams.get('flow') ?? '';
    await own.signIn(user);
    const resume = (issuer: string) => own.browser.get(`${issuer}/authorize/resume?${new URLSearchParams({ flow })}`);
    for (const issuer of [app.url, foreign.issuer]) expect((await resume(issuer)).status).toBe(400);
    const answer = locationOf(await resume(own.issuer));
    expect(answer.href.startsWith(redirectUri)).toBe(true);
    expect(answer.searchParams.get('iss')).toBe(own.issuer);
    expect((await own.exchange(answer.searchParams.get('code') ?? '')).status).toBe(200);
  });

  it('sends logout tokens of the issuer that the client used', async () => {
    await app.services.clients.update(client, { backchannelLogoutUri: 'https://app.example.com/logout' }, system);
    for (const party of [base, own]) {
      app.logoutTokens.length = 0;
      await party.endSession({ id_token_hint: (await party.tokens()).id_token, logout_scope: 'session' });
      await app.runJobs();
      expect(app.logoutTokens.map(({ token }) => decodeJwt(token).iss)).toEqual([party.issuer]);
    }
  });
});

describe('slugs', () => {
  it('are derived from the name, and differ', async () => {
    const [first, second] = [
      await app.make.project({ name: 'Zürich & Söhne' }),
      await app.make.project({ name: 'Zürich Söhne' }),
    ];
    expect(first.slug).toBe('zurich-sohne');
    expect(second.slug).toMatch(/^zurich-sohne-[0-9a-f]{8}$/);
    expect((await app.make.project({ name: '日本' })).slug).toMatch(/^project/);
    const many = await Promise.all([1, 2, 3, 4].map(() => app.make.project({ name: 'Same' })));
    expect(new Set(many.map(({ slug }) => slug)).size).toBe(4);
  });

  it('lead to the new project immediately after the old one is deleted, in all processes', async () => {
    const sibling = await buildSibling(app);
    const ask = (url: string) =>
      fetch(`${url}/p/reused/authorize?${new URLSearchParams({ client_id: fresh.id })}`, { redirect: 'manual' });
    const old = await app.make.project({ name: 'Old', slug: 'reused' });
    let fresh = (await app.make.client(old)).client;
    for (const { url } of [app, sibling]) await ask(url);
    await app.services.projects.delete(old.id, 'Old', system);
    expect((await ask(sibling.url)).status).toBe(400);
    ({ client: fresh } = await app.make.client(await app.make.project({ name: 'New', slug: 'reused' })));
    const party = new RelyingParty(app, fresh, `${sibling.url}/p/reused`);
    expect((await party.authorize()).headers.get('location')).toContain('/signin?flow=');
    await sibling.close();
  });
});
