/** Sign-in of devices (RFC 8628), at issuers of projects. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { DeviceBrowser } from '../../../test/device-browser.ts';
import { dpopKey } from '../../../test/dpop.ts';
import { fullWidth } from '../../../test/other-digits.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import type { RelyingParty } from '../../../test/relying-party.ts';
import { changed } from '../../../test/rows.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { seconds } from '../../domain/kernel/clock.ts';
import { grantTypeNames } from '../../domain/kernel/openid.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { DeviceAuthorization } from '../../domain/tokens/device/device-authorization.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';
import { assertionType } from '../client-credential.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let party: RelyingParty;
let person: DeviceBrowser;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

const keyOf = ({ id, project: { id: projectId } }: Client) => ({ project: { id: projectId }, id });
const set = (settings: Parameters<TestApp['services']['clients']['update']>[1], one = client) =>
  app.services.clients.update(keyOf(one), settings, system);

beforeEach(async () => {
  // A new window of the limits.
  app.clock.turn(600);
  project = await app.make.project();
  ({ client } = await app.make.client(project, { grantTypes: ['device_code', 'refresh_token'] }));
  user = await app.make.user(project);
  party = partyAt(app, project, client);
  person = new DeviceBrowser(app, party.issuer);
  await person.signIn(user);
});

interface Codes {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

async function post(path: string, fields: Record<string, string>, at = party.issuer, headers = {}) {
  const response = await fetch(`${at}/oauth2/${path}`, { method: 'POST', body: new URLSearchParams(fields), headers });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, string> };
}
const ask = (fields: Record<string, string> = {}, at?: string) =>
  post('device_authorization', { client_id: client.id, ...fields }, at);
const begin = async (fields: Record<string, string> = {}) => (await ask(fields)).body as unknown as Codes;
const poll = (code: string, fields: Record<string, string> = {}, at?: string) =>
  post('token', { client_id: client.id, grant_type: grantTypeNames.device_code, device_code: code, ...fields }, at);
const error = (name: string) => ({ status: 400, body: { error: name } });
const rowOf = () => app.services.db.reader().findOneOrFail(DeviceAuthorization, { project: project.id });
/** Simulates a wait of the device. */
const wait = () =>
  changed(app.services.db, `update device_authorizations set polled_at = polled_at - interval '1 hour'`);
const events = async (type: string) =>
  app.services.db.reader().execute(`select * from audit_log where type = ? and project_id = ?`, [type, project.id]);

describe('POST {issuer}/oauth2/device_authorization (RFC 8628 §3.1)', () => {
  it('gives a device code, and a code for the person', async () => {
    const { status, body } = await ask({ scope: 'openid email unknown' });
    expect(status).toBe(200);
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${party.issuer}/device`,
      verification_uri_complete: `${party.issuer}/device?user_code=${body['user_code']}`,
      expires_in: 600,
      interval: 5,
    });
    const row = await rowOf();
    expect(row.scope).toBe('openid email');
    const stored = JSON.stringify(row);
    expect(stored).not.toContain(body['device_code']);
    expect(stored).not.toContain(body['user_code']?.replace('-', ''));
  });

  it.each<[string, Record<string, string>, string]>([
    ['a client without the grant', {}, 'unauthorized_client'],
    ['no client', { client_id: '' }, 'invalid_request'],
    ['a scope without openid', { scope: 'email' }, 'invalid_scope'],
    ['a scope of 3,000 characters', { scope: `openid ${'x'.repeat(3000)}` }, 'invalid_scope'],
  ])('refuses %s', async (what, fields, name) => {
    if (what === 'a client without the grant') await set({ grantTypes: ['refresh_token'] });
    expect(await ask(fields)).toMatchObject(error(name));
  });

  it('refuses clients of other projects, a missing secret, and GET; the base issuer has no such endpoint', async () => {
    const other = await app.make.project();
    expect(await ask({}, `${app.url}/p/${other.slug}`)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect((await fetch(`${party.issuer}/oauth2/device_authorization`)).status).toBe(405);
    for (const path of ['/oauth2/device_authorization', '/device']) {
      expect((await fetch(`${app.url}${path}`, { method: 'POST' })).status).toBe(404);
    }
    await set({ tokenEndpointAuthMethod: 'client_secret_basic' });
    expect(await ask()).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(await poll('x')).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('authenticates a client by its secret', async () => {
    await set({ tokenEndpointAuthMethod: 'client_secret_post' });
    const { secret } = await app.services.clientSecrets.issue(keyOf(client), system);
    const { body } = await ask({ client_secret: secret });
    await person.allow(body['user_code'] ?? '');
    const given = await poll(body['device_code'] ?? '', { client_secret: secret });
    expect(given.status).toBe(200);
  });

  it('is in discovery', async () => {
    const document = await (await fetch(`${party.issuer}/.well-known/openid-configuration`)).json();
    expect(document).toMatchObject({
      device_authorization_endpoint: `${party.issuer}/oauth2/device_authorization`,
      grant_types_supported: expect.arrayContaining([grantTypeNames.device_code]),
    });
    const base = (await (await fetch(`${app.url}/.well-known/openid-configuration`)).json()) as object;
    expect(JSON.stringify(base)).not.toContain('device');
  });
});

describe('a device whose user allows it', () => {
  it('gets the tokens of that sign-in, once', async () => {
    const codes = await begin({ scope: 'openid email offline_access' });
    expect(await poll(codes.device_code)).toMatchObject(error('authorization_pending'));
    app.clock.turn(30);
    const done = await person.allow(fullWidth(codes.user_code.toLowerCase()));
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Device connected')]);
    const { status, body } = await poll(codes.device_code);
    expect(status).toBe(200);
    const claims = decodeJwt(body['id_token'] ?? '');
    expect(claims).toMatchObject({ iss: party.issuer, aud: client.id, sub: user.id, amr: ['swk'] });
    expect(claims['auth_time']).toBe(Math.floor(app.clock.now().getTime() / 1000) - 30);
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'openid email offline_access' });
    expect(await (await party.userInfo(body['access_token'] ?? '')).json()).toMatchObject({ email: user.email });
    const refreshed = await post('token', {
      client_id: client.id,
      grant_type: 'refresh_token',
      refresh_token: body['refresh_token'] ?? '',
    });
    expect(refreshed.status).toBe(200);
    expect(await poll(codes.device_code)).toMatchObject(error('invalid_grant'));
    expect(await events('device-authorization.approved')).toHaveLength(1);
    expect(await events('token.issued')).toHaveLength(1);
  });

  it('of a third-party application gets the user’s consent, too', async () => {
    await set({ thirdParty: true });
    const codes = await begin({ scope: 'openid email' });
    await person.allow(codes.user_code);
    const { status, body } = await poll(codes.device_code);
    expect(status).toBe(200);
    expect((await party.userInfo(body['access_token'] ?? '')).status).toBe(200);
    expect(await events('consent.given')).toHaveLength(1);
  });

  it('gets one set of tokens for 40 concurrent polls, by two processes', async () => {
    const sibling = await buildSibling(app);
    const codes = await begin();
    await person.allow(codes.user_code);
    const path = new URL(party.issuer).pathname;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => poll(codes.device_code, {}, n % 2 ? party.issuer : `${sibling.url}${path}`)),
    );
    await sibling.close();
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
  });

  it('loses its tokens when its device code is used again, as with authorization codes', async () => {
    const codes = await begin();
    await person.allow(codes.user_code);
    const { body } = await poll(codes.device_code);
    expect((await party.userInfo(body['access_token'] ?? '')).status).toBe(200);
    await poll(codes.device_code);
    expect((await party.userInfo(body['access_token'] ?? '')).status).toBe(401);
  });

  it('gets tokens bound to the key of its DPoP proof, and authenticates by assertion; each is used once', async () => {
    const pair = generateKeyPairSync('ed25519');
    await set({ tokenEndpointAuthMethod: 'private_key_jwt', jwks: pair.publicKey.export({ format: 'jwk' }) });
    const credential = async () => {
      const now = seconds(app.clock.now());
      const claims = { iss: client.id, sub: client.id, aud: party.issuer, jti: randomUUID(), iat: now, exp: now + 60 };
      const signed = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
      return { client_assertion: signed, client_assertion_type: assertionType };
    };
    const first = await credential();
    const { body: codes } = await ask(first);
    expect(await ask(first)).toMatchObject({ status: 401 });
    await person.allow(codes['user_code'] ?? '');
    const key = await dpopKey(app.clock);
    const fields = { grant_type: grantTypeNames.device_code, device_code: codes['device_code'] ?? '' };
    const headers = { dpop: await key.proof({ url: `${party.issuer}/oauth2/token` }) };
    expect(await post('token', { ...fields, ...first }, party.issuer, headers)).toMatchObject({ status: 401 });
    const { status, body } = await post('token', { ...fields, ...(await credential()) }, party.issuer, headers);
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    expect(decodeJwt(body['access_token'] ?? '')['cnf']).toEqual({ jkt: key.jkt });
    expect((await party.userInfo(body['access_token'] ?? '')).status).toBe(401);
  });

  it('cannot be of an application that must comply with FAPI 2.0', async () => {
    const settings = {
      tokenEndpointAuthMethod: 'private_key_jwt',
      idTokenSignedResponseAlg: 'ES256',
      fapiProfile: true,
      jwks: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
    } as const;
    await expect(set(settings)).rejects.toMatchObject({ problem: { code: 'invalid', field: 'grantTypes' } });
  });

  it('cannot redeem its device code as an authorization code', async () => {
    await set({ tokenEndpointAuthMethod: 'client_secret_post', pkceOptional: true });
    const { secret } = await app.services.clientSecrets.issue(keyOf(client), system);
    const { body } = await ask({ client_secret: secret });
    await person.allow(body['user_code'] ?? '');
    for (const redirectUri of [
      grantTypeNames.device_code,
      `${party.issuer}/device`,
      'https://app.example.com/callback',
    ]) {
      const fields = { grant_type: 'authorization_code', code: body['device_code'] ?? '', redirect_uri: redirectUri };
      expect(await post('token', { client_id: client.id, client_secret: secret, ...fields })).toMatchObject(
        error('invalid_grant'),
      );
    }
  });
});

describe('a poll (RFC 8628 §3.5)', () => {
  it('that comes too early increases the interval, by the clock of the database', async () => {
    const { device_code: code } = await begin();
    expect(await poll(code)).toMatchObject(error('authorization_pending'));
    expect(await poll(code)).toMatchObject(error('slow_down'));
    expect(await poll(code)).toMatchObject(error('slow_down'));
    expect((await rowOf()).intervalSeconds).toBe(15);
    // The clock of a process has no effect.
    app.clock.turn(60);
    expect(await poll(code)).toMatchObject(error('slow_down'));
    await wait();
    expect(await poll(code)).toMatchObject(error('authorization_pending'));
    await changed(app.services.db, `update device_authorizations set polled_at = now() - interval '18 s'`);
    expect(await poll(code)).toMatchObject(error('slow_down'));
  });

  it('ends with access_denied, or with expired_token', async () => {
    const [denied, late, unfetched] = [await begin(), await begin(), await begin()];
    const response = await person.decide(await person.flowOf(denied.user_code), 'deny');
    expect(await response.text()).toContain('Access denied');
    expect(await events('device-authorization.denied')).toHaveLength(1);
    for (let n = 0; n < 2; n += 1) expect(await poll(denied.device_code)).toMatchObject(error('access_denied'));
    await person.allow(unfetched.user_code);
    app.clock.turn(600);
    expect(await poll(late.device_code)).toMatchObject(error('expired_token'));
    expect(await poll(unfetched.device_code)).toMatchObject(error('expired_token'));
    await person.signIn(user);
    expect((await person.enter(late.user_code)).status).toBe(400);
  });

  it('is refused with resource: its tokens are for UserInfo', async () => {
    const resource = 'https://orders.example.com';
    expect(await ask({ resource })).toMatchObject(error('invalid_target'));
    const { device_code, user_code } = await begin();
    await person.allow(user_code);
    expect(await poll(device_code, { resource })).toMatchObject(error('invalid_target'));
    expect((await poll(device_code)).status).toBe(200);
  });

  it('is refused for a code that is unknown, another client’s, another project’s, or missing', async () => {
    const codes = await begin();
    const { client: sibling } = await app.make.client(project, { grantTypes: ['device_code'] });
    const other = await app.make.project();
    const { client: foreign } = await app.make.client(other, { grantTypes: ['device_code'] });
    const there = `${app.url}/p/${other.slug}`;
    for (const isApproved of [false, true]) {
      if (isApproved) await person.allow(codes.user_code);
      expect(await poll('unknown')).toMatchObject(error('invalid_grant'));
      expect(await poll(codes.user_code)).toMatchObject(error('invalid_grant'));
      expect(await poll(codes.device_code, { client_id: sibling.id })).toMatchObject(error('invalid_grant'));
      expect(await poll(codes.device_code, { client_id: foreign.id }, there)).toMatchObject(error('invalid_grant'));
    }
    expect(await poll(codes.device_code, {}, app.url)).toMatchObject(error('unsupported_grant_type'));
    expect(await poll('')).toMatchObject(error('invalid_request'));
    expect((await poll(codes.device_code)).status).toBe(200);
  });

  it('is refused after the client lost the grant or was disabled', async () => {
    const codes = await begin();
    await person.allow(codes.user_code);
    await set({ grantTypes: [] });
    expect(await poll(codes.device_code)).toMatchObject(error('unauthorized_client'));
    await app.make.disable(client);
    expect(await poll(codes.device_code)).toMatchObject({ status: 401 });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the user was deactivated', () => app.services.accountAccess.deactivate(project.id, user.id, system)],
    ['the session ended', async () => app.services.logout.endAllOfUser({ id: user.id, project }, system)],
    ['the application requires a passkey', () => set({ passkeyRequired: true })],
    [
      'the project requires passkeys',
      () =>
        changed(
          app.services.db,
          `update projects set passkey_policy = 'required', passkeys = true, version = version + 1 where id = ?`,
          [project.id],
        ),
    ],
    [
      'the project requires a second factor',
      () => app.services.projects.update(project.id, { mfaPolicy: 'required' }, system),
    ],
  ])('is refused if, after the approval, %s', async (_what, happens) => {
    const codes = await begin();
    await person.allow(codes.user_code);
    await happens();
    expect(await poll(codes.device_code)).toMatchObject(error('invalid_grant'));
  });
});

describe('the page {issuer}/device', () => {
  it('shows the code of a link for comparison, looks nothing up, and warns of codes sent by others', async () => {
    const codes = await begin();
    const query = `?user_code=${codes.user_code}`;
    const stranger = new DeviceBrowser(app, party.issuer);
    const page = await (await stranger.form(query)).text();
    expect(page).toContain('Does this code match?');
    expect(page).toContain(codes.user_code);
    expect(page).toContain('Never use a code or link that someone sent you');
    expect(page).not.toContain('App');
    // An unknown code shows the same page.
    expect(await (await stranger.form('?user_code=BCDF-GHJK')).text()).toContain('Does this code match?');
    for (const bad of ['?user_code=<b>', '?user_code=AAAA-AAAA', '']) {
      expect(await (await stranger.form(bad)).text()).toMatch(/<input [^>]*name="user_code"[^>]* class="otp"/);
    }
  });

  it('takes a code only from its own form, in the browser that got it', async () => {
    const { user_code: code } = await begin();
    expect((await person.enter(code, { csrf: 'wrong' })).status).toBe(403);
    const other = new DeviceBrowser(app, party.issuer);
    const csrf = /name="csrf" value="([^"]*)"/.exec(await (await other.form()).text())?.[1] ?? '';
    expect((await person.enter(code, { csrf })).status).toBe(403);
    const cross = await person.browser.post(
      `${party.issuer}/device`,
      { csrf, user_code: code },
      { 'sec-fetch-site': 'cross-site' },
    );
    expect(cross.status).toBe(403);
    expect((await person.enter(code)).status).toBe(303);
  });

  it('cannot be framed, cached or scripted', async () => {
    const { headers } = await person.form();
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('refuses wrong codes, and after 30 of them the network', async () => {
    const { user_code: code } = await begin();
    const guesser = new DeviceBrowser(app, party.issuer);
    const wrong = await guesser.enter('BCDF-GHJK');
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('wrong or has expired')]);
    expect((await guesser.enter(`"><script>`)).status).toBe(400);
    // Correct codes do not count.
    for (let n = 0; n < 3; n += 1) expect((await guesser.enter(code)).status).toBe(303);
    for (let n = 2; n < 30; n += 1) expect((await guesser.enter('BCDF-GHJK')).status).toBe(400);
    const refused = await guesser.enter(code);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, 600]);
    app.clock.turn(600);
    expect((await guesser.enter((await begin()).user_code)).status).toBe(303);
    expect(await events('device-authorization.code-refused')).toHaveLength(1);
  });

  it('leads to the normal sign-in of the application, then to the decision', async () => {
    const { user_code: code } = await begin();
    const stranger = new DeviceBrowser(app, party.issuer);
    const flow = await stranger.flowOf(code);
    expect(locationOf(await stranger.approval(flow)).pathname).toBe('/signin');
    expect((await stranger.browser.get(`${app.url}/signin?flow=${flow}`)).status).toBe(200);
    await stranger.signIn(user);
    const resumed = locationOf(await stranger.browser.get(`${party.issuer}/authorize/resume?flow=${flow}`));
    expect(resumed.href).toBe(`${party.issuer}/device/approval?flow=${flow}`);
    const page = await (await stranger.browser.get(resumed.href)).text();
    for (const text of [
      `${user.email}`,
      'Sign in to App on another device?',
      '127.0.0.1',
      'your network',
      'this minute',
    ]) {
      expect(page).toContain(text);
    }
    expect(page).toContain('If someone sent you the code or link, deny it.');
  });

  it('asks for a passkey first if the application requires one', async () => {
    await set({ passkeyRequired: true });
    const { user_code: code, device_code: device } = await begin();
    const flow = await person.flowOf(code);
    expect(locationOf(await person.approval(flow)).pathname).toBe('/signin');
    expect(locationOf(await person.post(flow, { decision: 'allow', csrf: 'x' })).pathname).toBe('/signin');
    await person.signIn(user, ['pop', 'mfa', 'hwk']);
    expect((await person.decide(flow, 'allow')).status).toBe(200);
    expect((await poll(device)).status).toBe(200);
  });
});

describe('a decision', () => {
  it('is bound to browser, session, flow and form', async () => {
    const { user_code: code, device_code: device } = await begin();
    const flow = await person.flowOf(code);
    expect((await person.decide(flow, 'allow', { csrf: 'wrong' })).status).toBe(403);
    expect((await person.decide(flow, 'perhaps')).status).toBe(403);
    const second = await person.flowOf((await begin()).user_code);
    const csrf = /name="csrf" value="([^"]*)"/.exec(await (await person.approval(second)).text())?.[1] ?? '';
    expect((await person.post(flow, { decision: 'allow', csrf })).status).toBe(403);
    const other = new DeviceBrowser(app, party.issuer);
    await other.signIn(await app.make.user(project));
    expect((await other.approval(flow)).status).toBe(400);
    expect(await poll(device)).toMatchObject(error('authorization_pending'));
  });

  it('is made once: the first one counts', async () => {
    const codes = await begin();
    const [first, second] = [await person.flowOf(codes.user_code), await person.flowOf(codes.user_code)];
    expect((await person.decide(first, 'deny')).status).toBe(200);
    expect((await person.decide(first, 'allow')).status).toBe(400);
    expect((await person.decide(second, 'allow')).status).toBe(400);
    expect((await person.enter(codes.user_code)).status).toBe(400);
    expect(await poll(codes.device_code)).toMatchObject(error('access_denied'));
  });

  it('is accepted from only one of many people at once', async () => {
    const codes = await begin();
    const people = Array.from({ length: 6 }, () => new DeviceBrowser(app, party.issuer));
    for (const one of people) await one.signIn(await app.make.user(project));
    const flows = await Promise.all(people.map((one) => one.flowOf(codes.user_code)));
    const answers = await Promise.all(people.map((one, n) => one.decide(flows[n] ?? '', n % 2 ? 'allow' : 'deny')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('cannot be made by a user of another project, whose codes and issuers are separate', async () => {
    const { user_code: code } = await begin();
    const other = await app.make.project();
    const foreign = new DeviceBrowser(app, `${app.url}/p/${other.slug}`);
    await foreign.signIn(await app.make.user(other));
    expect((await foreign.enter(code)).status).toBe(400);
    const own = new DeviceBrowser(app, party.issuer);
    await own.signIn(await app.make.user(other));
    expect(locationOf(await own.approval(await own.flowOf(code))).pathname).toBe('/signin');
    const flow = await person.flowOf(code);
    person.browser.cookies.forEach((value, name) => foreign.browser.cookies.set(name, value));
    expect((await foreign.approval(flow)).status).toBe(400);
  });

  it('gives each device the session of the person who entered its code', async () => {
    const [one, two] = [await begin(), await begin()];
    const ben = await app.make.user(project);
    const other = new DeviceBrowser(app, party.issuer);
    await other.signIn(ben);
    await person.allow(one.user_code);
    await other.allow(two.user_code);
    const subject = async ({ device_code: code }: Codes) => decodeJwt((await poll(code)).body['id_token'] ?? '').sub;
    expect([await subject(one), await subject(two)]).toEqual([user.id, ben.id]);
  });
});

describe('requests of devices', () => {
  it('never give a code to the browser', async () => {
    const flow = await person.flowOf((await begin()).user_code);
    for (let n = 0; n < 2; n += 1) {
      const location = locationOf(await person.browser.get(`${party.issuer}/authorize/resume?flow=${flow}`));
      expect(location.searchParams.has('code')).toBe(false);
      await person.signIn(user);
    }
  });

  it('are deleted an hour after they expire', async () => {
    await begin();
    app.clock.turn(600 + 3599);
    await app.services.retention.sweep();
    expect(await rowOf()).toBeDefined();
    app.clock.turn(1);
    await app.services.retention.sweep();
    await expect(rowOf()).rejects.toThrow();
  });
});
