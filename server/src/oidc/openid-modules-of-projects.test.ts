/**
 * Modules of the OpenID conformance suite, by its names, that only the issuer of a project can pass: client secrets, other
 * algorithms, form_post and refresh tokens; and its modules of discovery and back-channel logout.
 */
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
});

/** A client with a secret, as the suite registers it: RS256, no PKCE. */
async function registered(settings: Parameters<TestApp['make']['client']>[1] = {}) {
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    idTokenSignedResponseAlg: 'RS256',
    pkceOptional: true,
    ...settings,
  });
  const rp = partyAt(app, project, client);
  await rp.signIn(user);
  return { rp, secret: clientSecret ?? '' };
}

const plain = { code_challenge: undefined, code_challenge_method: undefined };
const basic = ({ client }: RelyingParty, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`,
});

async function tokensOf(rp: RelyingParty, secret: string, changes: Record<string, string | undefined> = {}) {
  const code = await rp.code({ ...plain, ...changes });
  const response = await rp.exchange(code, { client_id: undefined, code_verifier: undefined }, basic(rp, secret));
  expect(response.status).toBe(200);
  return (await response.json()) as { id_token: string; access_token: string; refresh_token: string };
}

async function verified(rp: RelyingParty, token: string, typ?: string) {
  const keys = (await (await fetch(`${rp.issuer}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  expect(new Set(keys.keys.map(({ kid }) => kid)).size).toBe(keys.keys.length);
  const options = { issuer: rp.issuer, audience: rp.client.id, currentDate: app.clock.now(), ...(typ && { typ }) };
  return (await jwtVerify(token, createLocalJWKSet(keys), options)).payload;
}

describe('oidcc-basic-certification', () => {
  it('oidcc-server with client_secret_basic and RS256, oidcc-idtoken-rs256', async () => {
    const { rp, secret } = await registered();
    const { id_token: idToken } = await tokensOf(rp, secret, { nonce: 'n' });
    expect(decodeProtectedHeader(idToken)).toMatchObject({ alg: 'RS256', kid: expect.stringMatching(/./) });
    expect(await verified(rp, idToken)).toMatchObject({ sub: user.id, nonce: 'n' });
  });

  it('oidcc-server-client-secret-post', async () => {
    const { rp, secret } = await registered({ tokenEndpointAuthMethod: 'client_secret_post' });
    const code = await rp.code(plain);
    const response = await rp.exchange(code, { code_verifier: undefined, client_secret: secret });
    expect(response.status).toBe(200);
  });

  it('oidcc-response-mode-form-post', async () => {
    const { rp } = await registered();
    const response = await rp.authorize({ ...plain, response_mode: 'form_post' });
    const page = await response.text();
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page).toContain(`action="${redirectUri}"`);
    for (const name of ['code', 'state', 'iss']) expect(page).toContain(`name="${name}"`);
  });

  it('oidcc-response-mode-form-post: errors, too', async () => {
    const { rp } = await registered();
    const page = await (await rp.authorize({ ...plain, response_mode: 'form_post', scope: 'email' })).text();
    expect(page).toContain('value="invalid_scope"');
    expect(page).not.toContain('name="code"');
  });

  it('oidcc-refresh-token, oidcc-refresh-token-rp-key-rotation without a key', async () => {
    const { rp, secret } = await registered({ grantTypes: ['refresh_token'] });
    const first = await tokensOf(rp, secret, { scope: 'openid offline_access', prompt: 'consent' });
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    const response = await fetch(`${rp.issuer}/oauth2/token`, { method: 'POST', body, headers: basic(rp, secret) });
    const next = (await response.json()) as typeof first;
    const [before, after] = [decodeJwt(first.id_token), await verified(rp, next.id_token)];
    expect(after).toMatchObject({ iss: before.iss, sub: before.sub, aud: before.aud, auth_time: before['auth_time'] });
    expect(next.access_token).not.toBe(first.access_token);
  });

  it('oidcc-refresh-token: the token of another client is refused', async () => {
    const [own, other] = [
      await registered({ grantTypes: ['refresh_token'] }),
      await registered({ grantTypes: ['refresh_token'] }),
    ];
    const { refresh_token: token } = await tokensOf(own.rp, own.secret);
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token });
    const headers = basic(other.rp, other.secret);
    const response = await fetch(`${own.rp.issuer}/oauth2/token`, { method: 'POST', body, headers });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  it('oidcc-codereuse: the refresh token of a reused code is invalid', async () => {
    const { rp, secret } = await registered({ grantTypes: ['refresh_token'] });
    const code = await rp.code(plain);
    const exchange = () => rp.exchange(code, { client_id: undefined, code_verifier: undefined }, basic(rp, secret));
    const { refresh_token: token } = (await (await exchange()).json()) as { refresh_token: string };
    expect((await exchange()).status).toBe(400);
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token });
    const response = await fetch(`${rp.issuer}/oauth2/token`, { method: 'POST', body, headers: basic(rp, secret) });
    expect(response.status).toBe(400);
  });
});

describe('oidcc-config-certification', () => {
  it.each(['base', 'project'])('oidcc-discovery-endpoint-verification (%s issuer)', async (which) => {
    const issuer = which === 'base' ? app.url : `${app.url}/p/${project.slug}`;
    const response = await fetch(`${issuer}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('application/json'),
    ]);
    const document = (await response.json()) as Record<string, string[] & string>;
    expect(document['issuer']).toBe(issuer);
    for (const name of ['authorization', 'token', 'userinfo', 'end_session']) {
      expect(document[`${name}_endpoint`]?.startsWith(`${issuer}/`)).toBe(true);
    }
    for (const name of [
      ...['response_types_supported', 'subject_types_supported', 'id_token_signing_alg_values_supported'],
      ...['scopes_supported', 'claims_supported', 'grant_types_supported', 'token_endpoint_auth_methods_supported'],
    ]) {
      expect([name, Array.isArray(document[name]) && document[name].length > 0]).toEqual([name, true]);
    }
    expect(document['scopes_supported']).toContain('openid');
    expect(() => Intl.getCanonicalLocales(document['ui_locales_supported'])).not.toThrow();
    const { keys } = (await (await fetch(document['jwks_uri'] ?? '')).json()) as { keys: Record<string, string>[] };
    for (const key of keys) expect([key['kid'], key['use'], key['d']]).toEqual([expect.any(String), 'sig', undefined]);
  });
});

describe('oidcc-backchannel-rp-initiated-logout', () => {
  it.each(['base', 'project'])('oidcc-backchannel-rp-initiated-logout (%s issuer)', async (which) => {
    const backchannelLogoutUri = `https://app.example.com/${which}`;
    const { client } = await app.make.client(project, { backchannelLogoutUri });
    const rp = which === 'base' ? new RelyingParty(app, client) : partyAt(app, project, client);
    const sid = await rp.signIn(user);
    const { id_token: hint } = await rp.tokens();
    const parameters = { id_token_hint: hint, post_logout_redirect_uri: postLogoutRedirectUri, state: 'bye' };
    const ended = await rp.endSession({ ...parameters, logout_scope: 'session' });
    expect(locationOf(ended).href).toBe(`${postLogoutRedirectUri}?state=bye`);
    const endedAt = seconds(app.clock.now());
    app.clock.turn(60);
    await app.runJobs();
    const sent = app.logoutTokens.filter(({ uri }) => uri === backchannelLogoutUri);
    expect(sent).toHaveLength(1);
    const claims = await verified(rp, sent[0]?.token ?? '');
    expect(claims).toEqual({
      iss: rp.issuer,
      aud: client.id,
      sub: user.id,
      sid,
      iat: expect.any(Number),
      exp: expect.any(Number),
      jti: expect.stringMatching(/./),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...(which === 'project' && { toe: endedAt }),
    });
    expect(await rp.isSignedIn()).toBe(false);
  });
});
