/** Abuse of the grants at issuers of projects: races, swapped issuers, and tokens of others at every endpoint. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { turnableClock } from '../../test/clock.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
  // After its keys were made, also by a clock that is behind.
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
async function token(by: Side, fields: Record<string, string>, at = by.rp.issuer) {
  const body = new URLSearchParams({ client_id: by.rp.client.id, client_secret: by.secret, ...fields });
  const response = await fetch(`${at}/oauth2/token`, { method: 'POST', body });
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
async function deviceOf(one: Side): Promise<string> {
  const body = new URLSearchParams({ client_id: one.rp.client.id, client_secret: one.secret });
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
    expect(answers.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(199);
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
  ])('%s of another project, or of another client of the project, is refused and stays good', async (_what, made) => {
    const sibling = await side(ours.project);
    const fields = await made(ours);
    for (const other of [theirs, sibling]) expect(await token(other, fields)).toMatchObject(refused);
    const atOther = await token(ours, fields, theirs.rp.issuer);
    expect(atOther).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const atBase = await token(ours, fields, app.url);
    expect([400, 401]).toContain(atBase.status);
    expect((await token(ours, fields)).status).toBe(200);
  });

  it('each grant takes only its own kind of credential', async () => {
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
  it('is refused at UserInfo, at revocation and as a hint; its owner keeps it', async () => {
    const { access_token: access = '', refresh_token: refresh = '', id_token: id = '' } = await tokensOf(theirs);
    expect((await ours.rp.userInfo(access)).status).toBe(401);
    for (const sent of [access, refresh]) {
      const body = new URLSearchParams({ client_id: ours.rp.client.id, client_secret: ours.secret, token: sent });
      // RFC 7009 §2.2: the answer for an unknown token.
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
    const clock = turnableClock(new Date(app.clock.now().getTime() - 2000));
    const behind = await buildSibling(app, app.url, { clock });
    const path = new URL(ours.rp.issuer).pathname;
    const at = `${behind.url}${path}`;
    expect((await token(ours, codeFields(ours, await ours.rp.code()), at)).status).toBe(200);
    const device = { grant_type: grantTypeNames.device_code, device_code: await deviceOf(ours) };
    const fromDevice = await token(ours, device, at);
    expect(fromDevice.status).toBe(200);
    // Signed by a clock that is behind: valid at once.
    expect((await ours.rp.userInfo(fromDevice.body['access_token'] ?? '')).status).toBe(200);
    await behind.close();
    const { access_token: access = '' } = await tokensOf(ours);
    app.clock.turn(3601);
    expect((await ours.rp.userInfo(access)).status).toBe(401);
  });
});
