/** openid-client 6, as an application uses it, with DPoP at both issuers, and with the FAPI 2.0 Security Profile. */
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { adjustableClock } from '../../test/clock.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  // The library reads the clock of the machine.
  app = await buildTestApp(undefined, { clock: adjustableClock(new Date()) });
  project = await app.make.project();
  user = await app.make.user(project);
});
afterAll(() => app.close());

const insecure = { execute: [oidc.allowInsecureRequests] };

/** The URL to which the user's browser returns after a sign-in. */
async function returned(client: Client, issuer: string, to: URL): Promise<URL> {
  const party = new RelyingParty(app, client, issuer);
  await party.signIn(user);
  return locationOf(await party.browser.get(to.href));
}

it.each([
  ['the base issuer', false, false],
  ['the project’s issuer', true, false],
  ['the base issuer with nonces', false, true],
  ['the project’s issuer with nonces', true, true],
])('signs in with a bound code at %s', async (_where, atProject, dpopNonceRequired) => {
  const { client } = await app.make.client(project, {
    dpopRequired: true,
    dpopNonceRequired,
    grantTypes: ['refresh_token'],
  });
  const issuer = atProject ? projectIssuerUrl(app.url, project.slug) : app.url;
  const config = await oidc.discovery(new URL(issuer), client.id, undefined, oidc.None(), insecure);
  const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const to = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  });
  const tokens = await oidc.authorizationCodeGrant(
    config,
    await returned(client, issuer, to),
    { pkceCodeVerifier },
    undefined,
    { DPoP },
  );
  expect(tokens.token_type).toBe('dpop');
  const claims = await oidc.fetchUserInfo(config, tokens.access_token, user.id, { DPoP });
  expect(claims.email).toBe(user.email);
  if (!atProject) return;
  const renewed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token), undefined, { DPoP });
  expect(renewed.token_type).toBe('dpop');
});

it('meets the FAPI 2.0 Security Profile', async () => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const { client } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: [await crypto.subtle.exportKey('jwk', publicKey)].map(({ kty, crv, x, y }) => ({ kty, crv, x, y })) },
    idTokenSignedResponseAlg: 'ES256',
    fapiProfile: true,
  });
  const issuer = projectIssuerUrl(app.url, project.slug);
  const config = await oidc.discovery(new URL(issuer), client.id, undefined, oidc.PrivateKeyJwt(privateKey), insecure);
  const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const to = await oidc.buildAuthorizationUrlWithPAR(
    config,
    {
      redirect_uri: redirectUri,
      scope: 'openid email',
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    },
    { DPoP },
  );
  expect([...to.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
  const back = await returned(client, issuer, to);
  const tokens = await oidc.authorizationCodeGrant(
    config,
    back,
    { pkceCodeVerifier, expectedState: state },
    undefined,
    { DPoP },
  );
  expect((await oidc.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })).email).toBe(user.email);
});
