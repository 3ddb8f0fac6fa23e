/** Applications with `createLatchkey` of the server library, at both kinds of issuers. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createLatchkey, type Latchkey, type LatchkeyOptions } from '@latchkey/node';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import { postLogoutRedirectUri, redirectUri } from './factories.ts';
import { partyAt } from './project-issuer.ts';
import { RelyingParty } from './relying-party.ts';

let app: TestApp;
let project: Project;
let user: User;
let errors: unknown[];

beforeAll(async () => {
  app = await buildTestApp();
  vi.useFakeTimers({ toFake: ['Date'], now: app.clock.now() });
});
afterAll(async () => {
  vi.useRealTimers();
  await app.close();
});
beforeEach(async () => {
  errors = [];
  project = await app.make.project();
  user = await app.make.user(project);
});

const backchannelLogoutUri = 'http://127.0.0.1/auth/backchannel-logout';
const origin = new URL(redirectUri).origin;

interface Site {
  latchkey: Latchkey;
  client: Client;
  /** The user's browser at the issuer. */
  party: RelyingParty;
}

async function atBaseIssuer(): Promise<Site> {
  const { client, secretKey } = await app.make.client(project, { backchannelLogoutUri });
  return siteOf(client, new RelyingParty(app, client), { apiKey: secretKey });
}

async function atProjectIssuer(
  tokenEndpointAuthMethod: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
): Promise<Site> {
  const idTokenSignedResponseAlg = 'RS256';
  const settings = { backchannelLogoutUri, tokenEndpointAuthMethod, idTokenSignedResponseAlg } as const;
  const { client, clientSecret } = await app.make.client(project, settings);
  const party = partyAt(app, project, client);
  return siteOf(client, party, { clientSecret: clientSecret ?? '', tokenEndpointAuthMethod });
}

interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

async function withKey({ privateKey, publicKey }: KeyPair, partyOf: (client: Client) => RelyingParty): Promise<Site> {
  const jwks = publicKey.export({ format: 'jwk' });
  const settings = { backchannelLogoutUri, tokenEndpointAuthMethod: 'private_key_jwt', jwks } as const;
  const { client } = await app.make.client(project, settings);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return siteOf(client, partyOf(client), { privateKey: pem });
}

const atItsProject = (client: Client) => partyAt(app, project, client);
const atTheBase = (client: Client) => new RelyingParty(app, client);

function siteOf(client: Client, party: RelyingParty, credential: Partial<LatchkeyOptions>): Site {
  const session = { secret: 'a secret of at least 32 characters' };
  const onError = (error: unknown) => void errors.push(error);
  const options = { issuer: party.issuer, clientId: client.id, redirectUri, postLogoutRedirectUri, session, onError };
  return { client, party, latchkey: createLatchkey({ ...options, ...credential }) };
}

/** Signs in through the issuer; returns the cookie of the application's session, or its failed response. */
async function signIn({ latchkey, party }: Site, asked = {}): Promise<{ cookie: string; response: Response }> {
  const begun = await latchkey.signIn(new Request(`${origin}/account`), asked);
  const back = await party.browser.get(begun.headers.get('location') ?? '');
  const headers = {
    cookie: begun.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; '),
  };
  const response = await latchkey.handle(new Request(back.headers.get('location') ?? '', { headers }));
  if (!response) throw new Error('the callback is not a route');
  return { response, cookie: response.headers.getSetCookie().at(-1)?.split(';')[0] ?? '' };
}

const sessionOf = ({ latchkey }: Site, cookie: string) =>
  latchkey.getSession(new Request(`${origin}/account`, { headers: { cookie } }));

async function deliverLogout({ latchkey, client }: Site): Promise<number | undefined> {
  await app.runJobs();
  // Tokens of earlier tests arrive too, in any order.
  const { token } = app.logoutTokens.find((sent) => decodeJwt(sent.token).aud === client.id) ?? {};
  if (token === undefined) throw new Error('no logout token was sent');
  const body = new URLSearchParams({ logout_token: token });
  return (await latchkey.handle(new Request(`${origin}/auth/backchannel-logout`, { method: 'POST', body })))?.status;
}

describe.each([
  ['the base issuer, with a secret key', atBaseIssuer],
  ['the base issuer, with an Ed25519 key', () => withKey(generateKeyPairSync('ed25519'), atTheBase)],
  ['a project issuer, with a client secret and RS256', atProjectIssuer],
  ['a project issuer, with a client secret in the body', () => atProjectIssuer('client_secret_post')],
  [
    'a project issuer, with a P-256 key',
    () => withKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }), atItsProject),
  ],
  [
    'a project issuer, with an RSA key',
    () => withKey(generateKeyPairSync('rsa', { modulusLength: 2048 }), atItsProject),
  ],
])('an application at %s', (_, open) => {
  it('signs in, and its session ends by the back-channel logout of the service', async () => {
    const site = await open();
    const sessionId = await site.party.signIn(user);
    const { cookie } = await signIn(site);
    expect(await sessionOf(site, cookie)).toMatchObject({ sub: user.id, sid: sessionId, user: { email: user.email } });
    await app.services.logout.endSession({ id: sessionId, project }, system);
    expect(await deliverLogout(site)).toBe(200);
    expect(await sessionOf(site, cookie)).toBeNull();
  });

  it('ends every session of a user whom an admin signs out', async () => {
    const site = await open();
    await site.party.signIn(user);
    const [one, other] = [await signIn(site), await signIn(site)];
    await app.services.logout.endAllOfUser({ id: user.id, project }, system);
    expect(await deliverLogout(site)).toBe(200);
    expect([await sessionOf(site, one.cookie), await sessionOf(site, other.cookie)]).toEqual([null, null]);
  });

  it('signs out at both, and returns', async () => {
    const site = await open();
    await site.party.signIn(user);
    const { cookie } = await signIn(site);
    const headers = { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' };
    const left = await site.latchkey.handle(new Request(`${origin}/auth/sign-out`, { method: 'POST', headers }));
    const back = await site.party.browser.get(left?.headers.get('location') ?? '');
    expect(back.headers.get('location')).toBe(postLogoutRedirectUri);
    expect([await sessionOf(site, cookie), await site.party.isSignedIn()]).toEqual([null, false]);
  });

  it('reads UserInfo and verifies ID tokens', async () => {
    const site = await open();
    await site.party.signIn(user);
    const { latchkey, party } = site;
    const { accessToken, claims, idToken } = await latchkey.exchange(await party.code({ scope: 'openid email' }), {
      codeVerifier: party.proof.verifier,
      redirectUri,
    });
    expect(await latchkey.getUserInfo(accessToken, claims.sub)).toMatchObject({ sub: user.id, email: user.email });
    expect(await latchkey.verifyIdToken(idToken)).toEqual(claims);
  });
});

describe('a client with a key', () => {
  it('is refused with another key, or with an assertion that was used before', async () => {
    const own = generateKeyPairSync('ed25519');
    const site = await withKey(own, atTheBase);
    const { client, latchkey, party } = site;
    await party.signIn(user);
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const other = siteOf(client, party, { privateKey: pem });
    const more = { codeVerifier: party.proof.verifier, redirectUri };
    await expect(other.latchkey.exchange(await party.code(), more)).rejects.toMatchObject({ code: 'INVALID_CLIENT' });

    const { fetch } = globalThis;
    const bodies: string[] = [];
    vi.stubGlobal('fetch', (url: URL, init?: RequestInit) => {
      if (typeof init?.body === 'string') bodies.push(init.body);
      return fetch(url, init);
    });
    await latchkey.exchange(await party.code(), more);
    vi.unstubAllGlobals();
    const again = new URLSearchParams(bodies[0]);
    again.set('code', await party.code());
    const replayed = await fetch(`${party.issuer}/oauth2/token`, { method: 'POST', body: again });
    expect([replayed.status, await replayed.json()]).toEqual([
      401,
      expect.objectContaining({ error: 'invalid_client' }),
    ]);
  });
});

describe('a step-up', () => {
  it('is refused if the sign-in did not reach the requested class', async () => {
    const site = await atProjectIssuer();
    await site.party.signIn(user);
    // The user has no passkey. `acr_values` is voluntary, so the service still returns a code.
    const { cookie, response } = await signIn(site, { acrValues: ['phr'] });
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'SIGN_IN_REFUSED' }),
    ]);
    expect(await sessionOf(site, cookie)).toBeNull();
    const met = await signIn(site, { acrValues: ['phr', 'urn:service:pwdless:v1'] });
    expect(await sessionOf(site, met.cookie)).toMatchObject({ acr: 'urn:service:pwdless:v1' });
  });

  it('with max_age is met by a proof of the user, and asks again after a sign-in by a device key alone', async () => {
    const site = await atProjectIssuer();
    await site.party.signIn(user, 'person', ['swk', 'otp']);
    const asked = { maxAgeSeconds: 300, returnTo: '/account' };
    const met = await signIn(site, asked);
    const session = await sessionOf(site, met.cookie);
    expect(session?.provedAt).toBe(session?.authTime);
    // The session of the service stays fresh.
    await site.party.signIn(user, 'device-key');
    const { response } = await signIn(site, asked);
    const again = new URL(response.headers.get('location') ?? '');
    expect([again.searchParams.get('max_age'), again.searchParams.get('prompt')]).toEqual(['300', 'login']);
    const page = await site.party.browser.get(again.href);
    expect(new URL(page.headers.get('location') ?? '', again).pathname).toBe('/signin');
  });
});
