/** Refresh tokens (RFC 6749 §6, RFC 9700 §4.14, OpenID Connect Core §12) and their revocation (RFC 7009). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { untilLockWaits } from '../../test/lock-waits.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { RefreshGrant } from '../domain/tokens/refresh-grant.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  await app.services.clients.update(client_(), { grantTypes: ['refresh_token'] }, system);
  user = await app.make.user(project);
  party = partyAt(app, project, client);
  await party.signIn(user);
});

const client_ = () => ({ project: { id: project.id }, id: client.id });
type Tokens = { refresh_token: string; access_token: string; id_token: string; scope: string; error?: string };
const offline = async () => (await party.tokens({ scope: 'openid email offline_access' })) as unknown as Tokens;
const online = async () => (await party.tokens({ scope: 'openid email' })) as unknown as Tokens;

async function post(path: string, fields: Record<string, string>, at = party.issuer, url = app.url) {
  const response = await fetch(`${url}${new URL(at).pathname.replace(/\/$/, '')}/oauth2/${path}`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, ...fields }),
  });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Tokens };
}
const refresh = (token: string, more: Record<string, string> = {}, at?: string, url?: string) =>
  post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, at, url);
const refused = { status: 400, body: { error: 'invalid_grant' } };
const replays = () =>
  rows(app.services.db, `select from audit_log where type = 'refresh-token.replayed' and project_id = '${project.id}'`);
const grants = () => app.services.db.reader().find(RefreshGrant, { project: project.id });

describe('a refresh token', () => {
  it('gives new tokens of the same sign-in, and is replaced', async () => {
    const first = await offline();
    expect(first.scope).toBe('openid email offline_access');
    app.clock.turn(60);
    const { status, body } = await refresh(first.refresh_token);
    expect(status).toBe(200);
    const [before, after] = [decodeJwt(first.id_token), decodeJwt(body.id_token)];
    expect(after).toMatchObject({ iss: before.iss, aud: before.aud, sub: before.sub, auth_time: before['auth_time'] });
    expect(after['nonce']).toBeUndefined();
    expect(after['sid']).toBeUndefined();
    expect(body.refresh_token).not.toBe(first.refresh_token);
    expect(await (await party.userInfo(body.access_token)).json()).toMatchObject({ sub: user.id, email: user.email });
    expect((await refresh(body.refresh_token)).status).toBe(200);
  });

  it('is issued only to clients with the grant, at the project’s issuer', async () => {
    expect((await online()).refresh_token).toMatch(/^lk_rt_/);
    await app.services.clients.update(client_(), { grantTypes: [] }, system);
    const { refresh_token, scope } = await offline();
    expect([refresh_token, scope]).toEqual([undefined, 'openid email']);
    expect(await refresh('lk_rt_x')).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
    expect(await refresh('lk_rt_x', {}, app.url)).toMatchObject({ body: { error: 'unsupported_grant_type' } });
    expect((await post('revoke', { token: 'x' }, app.url)).status).toBe(404);
  });

  it('is replaced by the same new one for 30 seconds, for parallel tabs', async () => {
    const { refresh_token: token } = await offline();
    const answers = await Promise.all(Array.from({ length: 40 }, () => refresh(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    app.clock.turn(29);
    expect((await refresh(token)).body.refresh_token).toBe(answers[0]?.body.refresh_token);
    expect(await grants()).toHaveLength(1);
  });

  it('gives another new one as long as the lost one is unused, whenever the application asks again', async () => {
    const { refresh_token: token } = await offline();
    const given = [(await refresh(token)).body.refresh_token];
    for (const seconds of [31, 35, 6 * 24 * 3600]) {
      app.clock.turn(seconds);
      const { status, body } = await refresh(token);
      expect(status).toBe(200);
      expect(given).not.toContain(body.refresh_token);
      given.push(body.refresh_token);
    }
    const next = await refresh(given.at(-1) as string);
    expect(next.status).toBe(200);
    expect((await refresh(next.body.refresh_token)).status).toBe(200);
    expect(await replays()).toHaveLength(0);
  });

  it('gives one other new one to 200 requests in two processes that ask again at once', async () => {
    const there = await buildSibling(app);
    const { refresh_token: token } = await offline();
    const lost = (await refresh(token)).body.refresh_token;
    app.clock.turn(35);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => refresh(token, {}, undefined, at % 2 === 0 ? app.url : there.url)),
    );
    await there.close();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const [given, ...others] = new Set(answers.map(({ body }) => body.refresh_token));
    expect(others).toEqual([]);
    expect(given).not.toBe(lost);
    expect((await refresh(given as string)).status).toBe(200);
  });

  it.each<[string, (token: string) => Promise<{ stolen: string; live: Tokens }>]>([
    [
      'after the next one was used',
      async (token) => {
        const { body: next } = await refresh(token);
        return { stolen: token, live: (await refresh(next.refresh_token)).body };
      },
    ],
    [
      'after the next one was used, which came in place of a lost one',
      async (token) => {
        await refresh(token);
        app.clock.turn(35);
        const { body: next } = await refresh(token);
        return { stolen: token, live: (await refresh(next.refresh_token)).body };
      },
    ],
    [
      'although another one has taken its place unused',
      async (token) => {
        const { body: lost } = await refresh(token);
        app.clock.turn(35);
        return { stolen: lost.refresh_token, live: (await refresh(token)).body };
      },
    ],
  ])('ends the grant if it returns %s', async (_when, steal) => {
    const { stolen, live } = await steal((await offline()).refresh_token);
    expect(await refresh(stolen)).toMatchObject(refused);
    expect(await refresh(live.refresh_token)).toMatchObject(refused);
    expect((await party.userInfo(live.access_token)).status).toBe(401);
    expect(await replays()).toHaveLength(1);
  });

  it('ends the grant for both if a thief and the application each follow a copy', async () => {
    const { refresh_token: copied } = await offline();
    const { body: own } = await refresh(copied);
    app.clock.turn(35);
    const { body: thief } = await refresh(copied);
    expect(thief.refresh_token).not.toBe(own.refresh_token);
    expect(await refresh(own.refresh_token)).toMatchObject(refused);
    expect(await refresh(thief.refresh_token)).toMatchObject(refused);
    expect(await replays()).toHaveLength(1);
  });

  it('works for its client and issuer only, and an attempt by another client changes nothing', async () => {
    const { refresh_token: token } = await offline();
    const { client: sibling } = await app.make.client(project);
    await app.services.clients.update(
      { project: { id: project.id }, id: sibling.id },
      { grantTypes: ['refresh_token'] },
      system,
    );
    const before = JSON.stringify(await grants());
    expect(await refresh(token, { client_id: sibling.id })).toMatchObject(refused);
    const other = await app.make.project();
    expect((await refresh(token, {}, `${app.url}/p/${other.slug}`)).status).toBe(401);
    const altered = token.slice(0, 10) + (token[10] === 'A' ? 'B' : 'A') + token.slice(11);
    for (const wrong of [altered, `${token}x`, '', 'x', token.slice(0, -1)]) {
      expect((await refresh(wrong)).status).toBe(400);
    }
    expect(JSON.stringify(await grants())).toBe(before);
    expect((await refresh(token)).status).toBe(200);
  });

  it('yields fewer scopes on request, and never more than were granted', async () => {
    const { refresh_token: token } = await offline();
    expect(await refresh(token, { scope: 'openid phone' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
    const less = (await refresh(token, { scope: 'openid' })).body;
    expect(less.scope).toBe('openid');
    expect(await (await party.userInfo(less.access_token)).json()).not.toHaveProperty('email');
    expect((await refresh(less.refresh_token)).body.scope).toBe('openid email offline_access');
  });

  it('ends after its absolute or idle lifetime, as currently configured', async () => {
    const idle = (await offline()).refresh_token;
    app.clock.turn(7 * 24 * 3600);
    expect(await refresh(idle)).toMatchObject(refused);
    await party.signIn(user);
    let { refresh_token: token } = await offline();
    for (let day = 0; day < 29; day += 1) {
      app.clock.turn(24 * 3600);
      token = (await refresh(token)).body.refresh_token;
    }
    app.clock.turn(24 * 3600);
    expect(await refresh(token)).toMatchObject(refused);
    await app.services.projects.updateSessionPolicy(project.id, { refreshTokenTtlSeconds: 60 * 24 * 3600 }, system);
    expect((await refresh(token)).status).toBe(200);
  });

  it('issues no access token that stays valid when the sessions end at the same moment', async () => {
    const { refresh_token: token } = await offline();
    const { refreshing, ending } = await app.services.db.transaction(async (em) => {
      await em.execute('select from refresh_grants where project_id = ? for update', [project.id]);
      // The refresh waits for the row, then the end waits for the refresh.
      const first = refresh(token);
      await untilLockWaits(app.services.db, 1);
      const second = access().endSessions(project.id, user.id, system);
      await untilLockWaits(app.services.db, 2);
      return { refreshing: { first }, ending: { second } };
    });
    const { status, body } = await refreshing.first;
    await ending.second;
    expect(status).toBe(200);
    expect((await party.userInfo(body.access_token)).status).toBe(401);
    expect(await refresh(body.refresh_token)).toMatchObject(refused);
  });

  it('does not stay valid if its code is issued while an admin ends the sessions', async () => {
    await app.services.clients.update(client_(), { backchannelLogoutUri: 'https://rp.example.com/logout' }, system);
    await offline();
    const { ending, issuing } = await app.services.db.transaction(async (em) => {
      // The end waits for this table just before its commit.
      await em.execute('lock table logout_deliveries in share mode');
      const first = access().endSessions(project.id, user.id, system);
      await untilLockWaits(app.services.db, 1);
      let isDone = false;
      const second = offline()
        .catch(() => undefined)
        .finally(() => (isDone = true));
      await untilLockWaits(app.services.db, 2, () => isDone);
      return { ending: { first }, issuing: { second } };
    });
    await ending.first;
    const late = await issuing.second;
    expect(late?.refresh_token ? await refresh(late.refresh_token) : refused).toMatchObject(refused);
    expect(await grants()).toEqual([expect.objectContaining({ revokedAt: expect.any(Date) })]);
  });

  it('without offline_access ends after the current maximum session lifetime', async () => {
    const [kept, bound] = [await offline(), await online()];
    await app.services.projects.updateSessionPolicy(project.id, { maxSessionSeconds: 300 }, system);
    app.clock.turn(299);
    const { status, body } = await refresh(bound.refresh_token);
    expect(status).toBe(200);
    app.clock.turn(2);
    expect(await refresh(body.refresh_token)).toMatchObject(refused);
    expect((await refresh(kept.refresh_token)).status).toBe(200);
  });

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      'the project requires a second factor, and the user has none',
      () => app.services.projects.update(project.id, { mfaPolicy: 'required' }, system),
      () => app.services.projects.update(project.id, { mfaPolicy: 'off' }, system),
    ],
    [
      'the project requires a passkey',
      () => app.services.projects.update(project.id, { passkeyPolicy: 'required' }, system),
      () => app.services.projects.update(project.id, { passkeyPolicy: 'allowed' }, system),
    ],
    [
      'the client requires a passkey',
      () => app.services.clients.update(client_(), { passkeyRequired: true }, system),
      () => app.services.clients.update(client_(), { passkeyRequired: false }, system),
    ],
  ])('is refused while %s, and accepted again afterwards', async (_what, tighten, relax) => {
    const tokens = [(await offline()).refresh_token, (await online()).refresh_token];
    await tighten();
    for (const token of tokens) expect(await refresh(token)).toMatchObject(refused);
    await relax();
    for (const token of tokens) expect((await refresh(token)).status).toBe(200);
  });

  it('without offline_access ends with its session; with it, survives a logout', async () => {
    const [kept, bound] = [await offline(), await online()];
    expect(decodeJwt(bound.id_token)['sid']).toBeDefined();
    await party.endSession({ id_token_hint: kept.id_token });
    expect(await refresh(bound.refresh_token)).toMatchObject(refused);
    const { status, body } = await refresh(kept.refresh_token);
    expect([status, (await party.userInfo(body.access_token)).status]).toEqual([200, 200]);
  });

  const access = () => app.services.accountAccess;
  it.each<[string, () => Promise<unknown>]>([
    ['the user is deactivated', () => access().deactivate(project.id, user.id, system)],
    ['an admin ends the sessions', () => access().endSessions(project.id, user.id, system)],
    ['an admin resets the factors', () => access().resetFactors(project.id, user.id, system)],
    ['the user is erased', () => access().erase(project.id, user.id, system)],
    ['the client loses the grant', () => app.services.clients.update(client_(), { grantTypes: [] }, system)],
    ['the client is disabled', () => app.services.clients.update(client_(), { disabled: true }, system)],
    ['the client is deleted', () => app.services.clients.delete(client_(), system)],
  ])('ends if %s', async (_what, end) => {
    const { refresh_token: token } = await offline();
    await end();
    expect((await refresh(token)).status).toBeGreaterThanOrEqual(400);
  });

  it.each<[string, (tokens: Tokens) => Promise<unknown>]>([
    ['immediately', async () => undefined],
    ['after a logout', ({ id_token }) => party.endSession({ id_token_hint: id_token })],
    ['after its access token was revoked', ({ access_token }) => post('revoke', { token: access_token })],
  ])('ends if its code is replayed %s', async (_when, before) => {
    const code = await party.code({ scope: 'openid offline_access' });
    const tokens = (await (await party.exchange(code)).json()) as Tokens;
    await before(tokens);
    expect((await party.exchange(code)).status).toBe(400);
    expect(await refresh(tokens.refresh_token)).toMatchObject(refused);
  });

  it('requires the credential of a confidential client each time', async () => {
    const made = await app.make.client(project, {
      tokenEndpointAuthMethod: 'client_secret_basic',
      grantTypes: ['refresh_token'],
    });
    const confidential = partyAt(app, project, made.client);
    await confidential.signIn(user);
    const fields = { client_id: made.client.id, client_secret: made.clientSecret ?? '' };
    const code = await confidential.code({ scope: 'openid offline_access' });
    const first = (await (await confidential.exchange(code, { client_secret: fields.client_secret })).json()) as Tokens;
    const { client_secret: _, ...without } = fields;
    expect((await refresh(first.refresh_token, without)).status).toBe(401);
    expect((await refresh(first.refresh_token, { ...fields, client_secret: 'lk_cs_wrong' })).status).toBe(401);
    const publicToken = (await offline()).refresh_token;
    let token = first.refresh_token;
    for (let n = 0; n < 3; n += 1) {
      token = (await refresh(token, fields)).body.refresh_token;
      expect((await refresh(publicToken)).status).toBe(200);
    }
    const [secret] = await app.services.clientSecrets.of(app.services.db.reader() as never, [
      { project: { id: project.id }, id: made.client.id },
    ]);
    await app.services.clientSecrets.revoke({ project: { id: project.id }, id: secret?.id ?? '' }, system);
    expect((await refresh(token, fields)).status).toBe(401);
  });

  it('that one process has replaced gets the same successor from another', async () => {
    const sibling = await buildSibling(app);
    try {
      const { refresh_token: token } = await offline();
      const there = (await refresh(token, {}, party.issuer, sibling.url)).body.refresh_token;
      expect((await refresh(token)).body.refresh_token).toBe(there);
      expect((await refresh(there)).status).toBe(200);
    } finally {
      await sibling.close();
    }
  });
});

describe('revocation (RFC 7009)', () => {
  it('of a refresh token ends its grant and access tokens; of an access token, only that token', async () => {
    const first = await offline();
    expect((await post('revoke', { token: first.access_token })).status).toBe(200);
    expect((await party.userInfo(first.access_token)).status).toBe(401);
    const second = (await refresh(first.refresh_token)).body;
    expect((await post('revoke', { token: second.refresh_token, token_type_hint: 'access_token' })).status).toBe(200);
    expect((await party.userInfo(second.access_token)).status).toBe(401);
    expect(await refresh(second.refresh_token)).toMatchObject(refused);
    for (const token of [second.refresh_token, second.access_token, 'x']) {
      expect((await post('revoke', { token })).status).toBe(200);
    }
  });

  it('of a refresh token that was replaced twice ends the grant: a tab that signs out may have missed the live one', async () => {
    const first = await offline();
    const second = (await refresh(first.refresh_token)).body;
    const third = (await refresh(second.refresh_token)).body;
    expect((await post('revoke', { token: first.refresh_token })).status).toBe(200);
    expect(await refresh(third.refresh_token)).toMatchObject(refused);
    expect((await party.userInfo(third.access_token)).status).toBe(401);
  });

  it('is refused for another client’s token, without a token, and to an unknown client', async () => {
    const { access_token, refresh_token } = await offline();
    const { client: other } = await app.make.client(project);
    for (const token of [access_token, refresh_token]) {
      expect(await post('revoke', { client_id: other.id, token })).toMatchObject(refused);
    }
    expect(await post('revoke', {})).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect((await post('revoke', { client_id: 'unknown', token: refresh_token })).status).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(200);
  });
});
