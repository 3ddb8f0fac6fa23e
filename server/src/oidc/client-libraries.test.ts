/** Libraries at their defaults, with a project's issuer, a client ID and a client secret: sign-in, claims, logout. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import * as arctic from 'arctic';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExpressAuth } from '../../test/auth-express.mjs';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { adjustableClock } from '../../test/clock.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { claimsOf } from '../../test/signin-world.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  // The libraries read the clock of the machine.
  app = await buildTestApp(undefined, { clock: adjustableClock(new Date()) });
  project = await app.make.project();
  user = await app.make.user(project);
});
afterAll(() => app.close());

/** The settings that an administrator copies into an application, and the browser of a signed-in user. */
async function registered(settings: Parameters<TestApp['make']['client']>[1] = {}) {
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['refresh_token'],
    ...settings,
  });
  const party = partyAt(app, project, client);
  await party.signIn(user);
  return { issuer: party.issuer, clientId: client.id, clientSecret: clientSecret ?? '', party };
}

async function expectLogout(party: RelyingParty, idToken: string): Promise<void> {
  const end = { id_token_hint: idToken, post_logout_redirect_uri: postLogoutRedirectUri };
  expect(locationOf(await party.endSession(end)).href).toBe(postLogoutRedirectUri);
  expect(await party.isSignedIn()).toBe(false);
}

it('arctic signs in, refreshes, revokes and logs out', async () => {
  const { issuer, clientId, clientSecret, party } = await registered();
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  const endpoints = (await discovery.json()) as Record<string, string>;
  const client = new arctic.OAuth2Client(clientId, clientSecret, redirectUri);
  const [state, verifier] = [arctic.generateState(), arctic.generateCodeVerifier()];
  const to = client.createAuthorizationURLWithPKCE(
    String(endpoints['authorization_endpoint']),
    state,
    arctic.CodeChallengeMethod.S256,
    verifier,
    ['openid', 'email', 'offline_access'],
  );
  const back = locationOf(await party.browser.get(to.href)).searchParams;
  expect(back.get('state')).toBe(state);
  const tokenEndpoint = String(endpoints['token_endpoint']);
  const tokens = await client.validateAuthorizationCode(tokenEndpoint, String(back.get('code')), verifier);
  expect(arctic.decodeIdToken(tokens.idToken())).toMatchObject({ iss: issuer, sub: user.id, email: user.email });
  const claims = (await (await party.userInfo(tokens.accessToken())).json()) as object;
  expect(claims).toMatchObject({ sub: user.id, email: user.email });
  const renewed = await client.refreshAccessToken(tokenEndpoint, tokens.refreshToken(), []);
  expect((await party.userInfo(renewed.accessToken())).status).toBe(200);
  await client.revokeToken(String(endpoints['revocation_endpoint']), renewed.refreshToken());
  expect((await party.userInfo(renewed.accessToken())).status).toBe(401);
  await expectLogout(party, tokens.idToken());
});

it('@badgateway/oauth2-client signs in, refreshes, introspects and logs out', async () => {
  const { issuer, clientId, clientSecret, party } = await registered();
  // It looks for metadata at the root of the host unless it is given the address.
  const discoveryEndpoint = `${issuer}/.well-known/openid-configuration`;
  const client = new OAuth2Client({ server: issuer, discoveryEndpoint, clientId, clientSecret });
  const codeVerifier = await generateCodeVerifier();
  const scope = ['openid', 'email', 'offline_access'];
  const request = { redirectUri, state: 'of this sign-in', codeVerifier, scope };
  const to = await client.authorizationCode.getAuthorizeUri(request);
  const back = locationOf(await party.browser.get(to));
  const token = await client.authorizationCode.getTokenFromCodeRedirect(back, request);
  expect(claimsOf(token.idToken)).toMatchObject({ iss: issuer, aud: clientId, email: user.email });
  expect(await (await party.userInfo(token.accessToken)).json()).toMatchObject({ email: user.email });
  const renewed = await client.refreshToken(token);
  expect(await client.introspect(renewed)).toMatchObject({ active: true, sub: user.id });
  await client.revoke(renewed, 'refresh_token');
  expect(await client.introspect(renewed)).toEqual({ active: false });
  await expectLogout(party, token.idToken ?? '');
});

it('@auth/express signs in and out', async () => {
  const web = express();
  const server = await new Promise<Server>((resolve) => {
    const listening = web.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { issuer, clientId, clientSecret, party } = await registered({
    redirectUris: [`${origin}/auth/callback/latchkey`, redirectUri],
    idTokenSignedResponseAlg: 'RS256',
  });
  let idToken = '';
  const provider = { id: 'latchkey', name: 'Latchkey', type: 'oidc', issuer, clientId, clientSecret } as const;
  const settings = {
    secret: 'a secret of this application alone',
    trustHost: true,
    providers: [provider],
    events: {
      signIn: ({ account }: { account?: { id_token?: string } | null }) => void (idToken = account?.id_token ?? ''),
    },
  };
  web.use('/auth', ExpressAuth(settings));
  const browser = new CookieBrowser();
  const session = async () => (await browser.get(`${origin}/auth/session`)).json();
  const csrfToken = async () =>
    ((await (await browser.get(`${origin}/auth/csrf`)).json()) as { csrfToken: string }).csrfToken;
  const begun = await browser.post(`${origin}/auth/signin/latchkey`, { csrfToken: await csrfToken() });
  const back = locationOf(await party.browser.get(locationOf(begun).href));
  expect(back.origin).toBe(origin);
  await browser.get(back.href);
  expect(await session()).toMatchObject({ user: { email: user.email } });
  await browser.post(`${origin}/auth/signout`, { csrfToken: await csrfToken() });
  expect(await session()).toBeNull();
  await expectLogout(party, idToken);
  server.closeAllConnections();
  server.close();
});
