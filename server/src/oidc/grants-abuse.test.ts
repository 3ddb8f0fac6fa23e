/** Abuse of the grants at issuers of projects: races, swapped issuers, and tokens of others at every endpoint. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { adjustableClock } from '../../test/clock.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { dpopKey } from '../../test/dpop.ts';
import { apiOf, machineOf, send, tokenOf } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { seconds } from '../domain/kernel/clock.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
  // So that the keys are older than the tests, even by a clock that is behind.
  app.clock.turn(3600);
});
afterAll(() => app.close());

interface Side {
  project: Project;
  user: User;
  rp: RelyingParty;
  secret: string;
}

async function side(project?: Project): Promise<Side> {
  const own = project ?? (await app.make.project());
  const { client, clientSecret } = await app.make.client(own, {
    tokenEndpointAuthMethod: 'client_secret_post',
    grantTypes: ['refresh_token', 'device_code'],
  });
  const user = await app.make.user(own);
  const rp = partyAt(app, own, client);
  await rp.signIn(user);
  return { project: own, user, rp, secret: clientSecret ?? '' };
}

/** A request to the token endpoint, authenticated as `by`. */
async function token(
  by: Side,
  fields: Record<string, string>,
  at = by.rp.issuer,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams({ client_id: by.rp.client.id, client_secret: by.secret, ...fields });
  const response = await fetch(`${at}/oauth2/token`, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const codeFields = ({ rp }: Side, code: string) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: rp.proof.verifier,
  redirect_uri: 'https://app.example.com/callback',
});

async function tokensOf(one: Side): Promise<Record<string, string>> {
  return (await token(one, codeFields(one, await one.rp.code()))).body;
}

/** A device of `one` that its user has allowed. */
async function deviceOf(
  one: Side,
  credential: Record<string, string> = { client_id: one.rp.client.id, client_secret: one.secret },
): Promise<string> {
  const body = new URLSearchParams(credential);
  const response = await fetch(`${one.rp.issuer}/oauth2/device_authorization`, { method: 'POST', body });
  const codes = (await response.json()) as { device_code: string; user_code: string };
  const person = new DeviceBrowser(app, one.rp.issuer);
  await person.signIn(one.user);
  expect((await person.allow(codes.user_code)).status).toBe(200);
  return codes.device_code;
}

const refused = { status: 400, body: { error: 'invalid_grant' } };

let ours: Side;
let theirs: Side;
beforeEach(async () => {
  [ours, theirs] = [await side(), await side()];
});

describe('an authorization code', () => {
  it('is redeemed by one of 200 requests with a client secret, at two processes; then its tokens are revoked', async () => {
    const sibling = await buildSibling(app);
    const fields = codeFields(ours, await ours.rp.code());
    const path = new URL(ours.rp.issuer).pathname;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => token(ours, fields, `${n % 2 ? app.url : sibling.url}${path}`)),
    );
    await sibling.close();
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    // A busy machine may ask some to try again later.
    const lost = answers.filter(({ status }) => status !== 200 && status !== 503);
    expect(lost.length).toBeGreaterThan(0);
    for (const answer of lost) expect(answer).toMatchObject(refused);
    expect((await ours.rp.userInfo(won[0]?.body['access_token'] ?? '')).status).toBe(401);
    const again = { grant_type: 'refresh_token', refresh_token: won[0]?.body['refresh_token'] ?? '' };
    expect(await token(ours, again)).toMatchObject(refused);
  });
});

describe('swapped issuers and clients', () => {
  it.each<[string, (from: Side) => Promise<Record<string, string>>]>([
    ['a code', async (from) => codeFields(from, await from.rp.code())],
    [
      'a refresh token',
      async (from) => ({ grant_type: 'refresh_token', refresh_token: (await tokensOf(from))['refresh_token'] ?? '' }),
    ],
    ['a device code', async (from) => ({ grant_type: grantTypeNames.device_code, device_code: await deviceOf(from) })],
  ])('%s of another project, or of another client of the project, is refused and stays valid', async (_what, made) => {
    const sibling = await side(ours.project);
    const fields = await made(ours);
    for (const other of [theirs, sibling]) expect(await token(other, fields)).toMatchObject(refused);
    const atOther = await token(ours, fields, theirs.rp.issuer);
    expect(atOther).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const atBase = await token(ours, fields, app.url);
    expect([400, 401]).toContain(atBase.status);
    expect((await token(ours, fields)).status).toBe(200);
  });

  it('each grant accepts only its own kind of credential', async () => {
    const [code, device] = [await ours.rp.code(), await deviceOf(ours)];
    const { refresh_token: refreshToken = '', access_token: access = '', id_token: id = '' } = await tokensOf(ours);
    const all = { code, device, refreshToken, access, id };
    for (const [name, value] of Object.entries(all)) {
      const asCode = token(ours, codeFields(ours, value));
      const asRefresh = token(ours, { grant_type: 'refresh_token', refresh_token: value });
      const asDevice = token(ours, { grant_type: grantTypeNames.device_code, device_code: value });
      if (name !== 'code') expect(await asCode, name).toMatchObject(refused);
      if (name !== 'refreshToken') expect(await asRefresh, name).toMatchObject(refused);
      if (name !== 'device') expect(await asDevice, name).toMatchObject(refused);
    }
  });
});

describe('a token of another project', () => {
  it('is refused at UserInfo, at revocation and as a hint; it stays valid for its owner', async () => {
    const { access_token: access = '', refresh_token: refresh = '', id_token: id = '' } = await tokensOf(theirs);
    expect((await ours.rp.userInfo(access)).status).toBe(401);
    for (const sent of [access, refresh]) {
      const body = new URLSearchParams({ client_id: ours.rp.client.id, client_secret: ours.secret, token: sent });
      // RFC 7009 §2.2: the response for an unknown token.
      expect((await fetch(`${ours.rp.issuer}/oauth2/revoke`, { method: 'POST', body })).status).toBe(200);
    }
    const hinted = await ours.rp.answer({ prompt: 'none', id_token_hint: id });
    expect(hinted.get('error')).toBe('login_required');
    expect((await ours.rp.endSession({ id_token_hint: id })).headers.get('location')).toBeNull();
    expect(await theirs.rp.isSignedIn()).toBe(true);
    expect((await theirs.rp.userInfo(access)).status).toBe(200);
    expect((await token(theirs, { grant_type: 'refresh_token', refresh_token: refresh })).status).toBe(200);
  });

  it('has the audience and issuer of its own project only', async () => {
    const { access_token: access = '' } = await tokensOf(theirs);
    expect(decodeJwt(access)).toMatchObject({ iss: theirs.rp.issuer, aud: theirs.rp.issuer });
    expect((await new RelyingParty(app, theirs.rp.client).userInfo(access)).status).toBe(401);
  });
});

describe('time', () => {
  it('ends access tokens, and processes whose clocks differ by two seconds agree on fresh codes and devices', async () => {
    const clock = adjustableClock(new Date(app.clock.now().getTime() - 2000));
    const behind = await buildSibling(app, app.url, { clock });
    const path = new URL(ours.rp.issuer).pathname;
    const at = `${behind.url}${path}`;
    expect((await token(ours, codeFields(ours, await ours.rp.code()), at)).status).toBe(200);
    const device = { grant_type: grantTypeNames.device_code, device_code: await deviceOf(ours) };
    const fromDevice = await token(ours, device, at);
    expect(fromDevice.status).toBe(200);
    // Signed by a clock that is behind: valid immediately.
    expect((await ours.rp.userInfo(fromDevice.body['access_token'] ?? '')).status).toBe(200);
    await behind.close();
    const { access_token: access = '' } = await tokensOf(ours);
    app.clock.turn(3601);
    expect((await ours.rp.userInfo(access)).status).toBe(401);
  });

  it('does not affect refresh, machines, pushed requests and proofs where clocks differ by two seconds', async () => {
    const clock = adjustableClock(new Date(app.clock.now().getTime() - 2000));
    const behind = await buildSibling(app, app.url, { clock });
    const there = (url: string) => url.replace(app.url, behind.url);
    const { refresh_token: refresh = '' } = await tokensOf(ours);
    const key = await dpopKey(app.clock);
    const proof = await key.proof({ url: `${ours.rp.issuer}/oauth2/token` });
    const form = { grant_type: 'refresh_token', refresh_token: refresh };
    const rotated = await token(ours, form, there(ours.rp.issuer), { dpop: proof });
    expect(rotated).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    // A repeat gets the response of the process that is behind.
    const again = await token(ours, form, ours.rp.issuer, {
      dpop: await key.proof({ url: `${ours.rp.issuer}/oauth2/token` }),
    });
    expect(again.body['refresh_token']).toBe(rotated.body['refresh_token']);
    const api = await apiOf(app, ours.project);
    const machine = await machineOf(app, ours.project);
    await app.services.apis.grant(machine.client, api.id, { scopes: ['read'], introspects: false }, system);
    const isActive = async (at: string, sent: string) => {
      const answer = await send({ ...machine, issuer: at }, '/oauth2/introspect', { token: sent });
      return ((await answer.json()) as { active: boolean }).active;
    };
    const [early, late] = [await tokenOf(machine), await tokenOf({ ...machine, issuer: there(machine.issuer) })];
    expect([await isActive(machine.issuer, late), await isActive(there(machine.issuer), early)]).toEqual([true, true]);
    const pushed = new URLSearchParams({
      ...authorizationParameters(ours.rp.client.id, ours.rp.proof.challenge),
      client_secret: ours.secret,
    });
    const par = await fetch(`${ours.rp.issuer}/oauth2/par`, { method: 'POST', body: pushed });
    const { request_uri: uri } = (await par.json()) as { request_uri: string };
    const query = new URLSearchParams({ client_id: ours.rp.client.id, request_uri: uri });
    const answer = await ours.rp.browser.get(`${there(ours.rp.issuer)}/authorize?${query}`);
    expect(locationOf(answer).searchParams.has('code')).toBe(true);
    await behind.close();
    app.clock.turn(3601);
    for (const expired of [early, late]) {
      expect(await isActive(machine.issuer, expired)).toBe(false);
      expect((await send(machine, '/oauth2/revoke', { token: expired })).status).toBe(200);
    }
  });
});

describe('a client assertion', () => {
  const pair = generateKeyPairSync('ed25519');
  let signer: Side;
  let refreshToken: string;
  let deviceCode: string;

  const assertion = (claims: object = {}) => {
    const { id } = signer.rp.client;
    const now = seconds(app.clock.now());
    const all = { iss: id, sub: id, aud: signer.rp.issuer, iat: now, exp: now + 60, jti: randomUUID(), ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
  };
  const signed = async (path: string, form: Record<string, string>, claims?: object) => {
    const credential = { client_assertion_type: assertionType, client_assertion: await assertion(claims) };
    const body = new URLSearchParams({ ...form, ...credential });
    const response = await fetch(`${signer.rp.issuer}/oauth2/${path}`, { method: 'POST', body });
    const text = await response.text();
    return [response.status, text === '' ? '' : ((JSON.parse(text) as { error?: string }).error ?? '')];
  };
  /** Every endpoint that authenticates clients, with a request that is valid except for its assertion. */
  const endpoints = (): [path: string, form: Record<string, string>][] => [
    ['token', { grant_type: 'client_credentials' }],
    ['token', { grant_type: 'refresh_token', refresh_token: refreshToken }],
    ['token', { grant_type: grantTypeNames.device_code, device_code: deviceCode }],
    ['introspect', { token: refreshToken }],
    ['device_authorization', { scope: 'openid' }],
    ['par', authorizationParameters(signer.rp.client.id, signer.rp.proof.challenge)],
    ['revoke', { token: refreshToken }],
  ];

  beforeEach(async () => {
    const { client } = await app.make.client(ours.project, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: pair.publicKey.export({ format: 'jwk' }),
      grantTypes: ['refresh_token', 'device_code', 'client_credentials'],
    });
    const api = await apiOf(app, ours.project);
    await app.services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
    signer = { ...ours, rp: partyAt(app, ours.project, client) };
    await signer.rp.signIn(ours.user);
    const credential = { client_assertion_type: assertionType, client_assertion: await assertion() };
    const tokens = (await (await signer.rp.exchange(await signer.rp.code(), credential)).json()) as {
      refresh_token: string;
    };
    refreshToken = tokens.refresh_token;
    deviceCode = await deviceOf(signer, { client_assertion_type: assertionType, client_assertion: await assertion() });
  });

  it('for another issuer, expired, or from a clock that is far off, is refused at every endpoint, and changes nothing', async () => {
    const now = seconds(app.clock.now());
    const wrong: object[] = [
      { aud: theirs.rp.issuer },
      { aud: app.url },
      { aud: [theirs.rp.issuer, app.url] },
      { iss: theirs.rp.client.id, sub: theirs.rp.client.id },
      { iat: now - 120, exp: now - 31 },
      { iat: now + 60, exp: now + 120 },
      { nbf: now + 60 },
      { exp: now + 3600 },
    ];
    for (const [path, form] of endpoints()) {
      for (const claims of wrong) {
        expect([path, claims, await signed(path, form, claims)]).toEqual([path, claims, [401, 'invalid_client']]);
      }
    }
    // Each accepts a valid one, even from a clock that is 20 seconds off.
    for (const [path, form] of endpoints()) {
      const behind = { iat: now - 80, exp: now - 20 };
      expect([path, (await signed(path, form, behind))[1]]).toEqual([path, '']);
    }
  });
});

describe('a refresh token', () => {
  it('is bound to the issuer that issued it, not only to its project', async () => {
    const { refresh_token: refresh = '' } = await tokensOf(ours);
    const fields = { grant_type: 'refresh_token', refresh_token: refresh };
    const rename = (slug: string) =>
      changed(
        app.services.db,
        `update projects set slug = '${slug}', version = version + 1 where id = '${ours.project.id}'`,
      );
    const renamed = `${ours.project.slug}-renamed`;
    await rename(renamed);
    expect(await token(ours, fields, `${app.url}/p/${renamed}`)).toMatchObject(refused);
    expect(await token(ours, fields)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    await rename(ours.project.slug);
    expect((await token(ours, fields)).status).toBe(200);
  });
});
