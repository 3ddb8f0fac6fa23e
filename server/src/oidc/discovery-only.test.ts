/**
 * openid-client 6 gets the issuer, a client id and a credential, and reads the rest from discovery. Each method of client
 * authentication and each signature of ID tokens works with every feature of a project's issuer.
 */
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { postLogoutRedirectUri, redirectUri } from '../../test/factories.ts';
import { apiOf, orders } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { system } from '../domain/kernel/actor.ts';
import { type IdTokenAlgorithm, idTokenAlgorithms, type TokenEndpointAuthMethod } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  // The library reads the clock of the machine.
  app = await buildTestApp(undefined, { clock: { now: () => new Date(), turn: () => undefined } });
  project = await app.make.project();
  user = await app.make.user(project);
  await apiOf(app, project);
});
afterAll(() => app.close());

const pss = { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const keys = {
  'private_key_jwt with EdDSA': { name: 'Ed25519' },
  'private_key_jwt with ES256': { name: 'ECDSA', namedCurve: 'P-256' },
  'private_key_jwt with PS256': pss,
  'private_key_jwt with RS256': { ...pss, name: 'RSASSA-PKCS1-v1_5' },
} as const;
const ways = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  ...(Object.keys(keys) as (keyof typeof keys)[]),
] as const;

interface Party {
  config: oidc.Configuration;
  party: RelyingParty;
}

/** An application that authenticates in this way, configured by discovery. */
async function partyOf(way: (typeof ways)[number], idTokenSignedResponseAlg: IdTokenAlgorithm): Promise<Party> {
  const isPublic = way === 'none';
  const pair = way in keys ? await keyPair(keys[way as keyof typeof keys]) : null;
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: (pair ? 'private_key_jwt' : way) as TokenEndpointAuthMethod,
    grantTypes: ['refresh_token', 'device_code', ...(isPublic ? [] : ['client_credentials' as const])],
    idTokenSignedResponseAlg,
    ...(pair && { jwks: pair.jwk }),
  });
  const [api] = await app.services.apis.list(app.services.db.reader(), project.id);
  if (api) await app.services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
  const party = partyAt(app, project, client);
  await party.signIn(user);
  const credential = {
    none: () => oidc.None(),
    client_secret_basic: () => oidc.ClientSecretBasic(clientSecret ?? ''),
    client_secret_post: () => oidc.ClientSecretPost(clientSecret ?? ''),
    private_key_jwt: () => oidc.PrivateKeyJwt(pair?.privateKey as oidc.CryptoKey),
  }[client.tokenEndpointAuthMethod]();
  const options = { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] };
  const metadata = { id_token_signed_response_alg: idTokenSignedResponseAlg };
  const config = await oidc.discovery(new URL(party.issuer), client.id, metadata, credential, options);
  return { config, party };
}

async function keyPair(algorithm: (typeof keys)[keyof typeof keys]) {
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as oidc.CryptoKeyPair;
  const { ext: _ext, key_ops: _ops, alg: _alg, ...jwk } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { privateKey: pair.privateKey, jwk };
}

async function signIn({ config, party }: Party, parameters: Record<string, string> = {}) {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const request = {
    redirect_uri: redirectUri,
    scope: 'openid email offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...parameters,
  };
  const to = await oidc.buildAuthorizationUrlWithPAR(config, request);
  const back = locationOf(await party.browser.get(to.href));
  return oidc.authorizationCodeGrant(config, back, { ...checks, idTokenExpected: true });
}

describe.each(ways.map((way, at) => [way, idTokenAlgorithms[at % idTokenAlgorithms.length] ?? 'ES512'] as const))(
  'an application with %s, and ID tokens with %s',
  (way, alg) => {
    it('pushes its request, signs in, reads claims, refreshes, revokes and signs out', async () => {
      const one = await partyOf(way, alg);
      const { config, party } = one;
      const tokens = await signIn(one);
      expect(tokens.claims()).toMatchObject({ iss: party.issuer, sub: user.id });
      expect((await oidc.fetchUserInfo(config, tokens.access_token, user.id)).email).toBe(user.email);
      const renewed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
      expect(renewed.claims()?.sub).toBe(user.id);
      await oidc.tokenRevocation(config, String(renewed.refresh_token));
      await expect(oidc.refreshTokenGrant(config, String(renewed.refresh_token))).rejects.toMatchObject({
        error: 'invalid_grant',
      });
      const out = oidc.buildEndSessionUrl(config, {
        id_token_hint: String(tokens.id_token),
        post_logout_redirect_uri: postLogoutRedirectUri,
      });
      expect(locationOf(await party.browser.get(out.href)).href).toBe(postLogoutRedirectUri);
      expect(await party.isSignedIn()).toBe(false);
    });

    it('signs in a device', async () => {
      const { config, party } = await partyOf(way, alg);
      const device = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
      const person = new DeviceBrowser(app, party.issuer);
      await person.signIn(user);
      await person.allow(device.user_code);
      // The library waits before it polls.
      const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
      expect(tokens.claims()?.sub).toBe(user.id);
    });

    it('acts for itself and introspects its token, unless it is public', async () => {
      const { config, party } = await partyOf(way, alg);
      const asking = oidc.clientCredentialsGrant(config, { resource: orders });
      if (way === 'none') {
        await expect(asking).rejects.toMatchObject({ error: 'unauthorized_client' });
        await expect(oidc.tokenIntrospection(config, 'x')).rejects.toMatchObject({ status: 401 });
        return;
      }
      const { access_token: token } = await asking;
      const about = { active: true, client_id: party.client.id, aud: orders, scope: 'read', iss: party.issuer };
      expect(await oidc.tokenIntrospection(config, token)).toMatchObject(about);
    });
  },
);
