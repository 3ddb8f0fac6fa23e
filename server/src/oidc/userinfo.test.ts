import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project, {
    givenName: 'Ada',
    familyName: 'Lovelace',
    displayName: 'Ada Lovelace',
    phone: null,
  });
  rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(user);
});

describe('GET and POST /userinfo (service.md 2.4, 7.4)', () => {
  it('returns the claims of the scopes, and omits missing values', async () => {
    const { access_token: accessToken } = await rp.tokens({ scope: 'openid profile email phone address' });
    for (const init of [{}, { method: 'POST' }]) {
      const response = await rp.userInfo(accessToken, init);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        sub: user.id,
        name: 'Ada Lovelace',
        given_name: 'Ada',
        family_name: 'Lovelace',
        updated_at: expect.any(Number),
        email: user.email,
        email_verified: true,
      });
    }
  });

  it('returns the directory’s values, each claim only for its scope, and the same in the ID token', async () => {
    const known = await app.make.user(project, {
      displayName: 'Grace Hopper',
      givenName: 'Grace',
      familyName: 'Hopper',
      phone: '+491701234567',
      attributes: {
        birthdate: '1906-12-09',
        locale: 'en_US',
        timezone: 'America/New_York',
        addresses: [{ locality: 'Arlington', country: 'US' }],
      },
    });
    const claims = {
      profile: {
        name: 'Grace Hopper',
        given_name: 'Grace',
        family_name: 'Hopper',
        birthdate: '1906-12-09',
        locale: 'en-US',
        zoneinfo: 'America/New_York',
        updated_at: expect.any(Number),
      },
      email: { email: known.email, email_verified: true },
      phone: { phone_number: '+491701234567' },
      address: { address: { locality: 'Arlington', country: 'US' } },
    };
    await rp.signIn(known);
    for (const [scope, own] of Object.entries(claims)) {
      const given = await rp.tokens({ scope: `openid ${scope}` });
      expect(await (await rp.userInfo(given.access_token)).json()).toEqual({ sub: known.id, ...own });
      const { email, email_verified: isVerified, phone_number: phone } = await rp.claims(given.id_token);
      expect([scope, email, isVerified, phone]).toEqual([
        scope,
        ...(scope === 'email' ? [known.email, true] : [undefined, undefined]),
        scope === 'phone' ? '+491701234567' : undefined,
      ]);
    }
    await rp.signIn(await app.make.user(project, { email: null, emailKey: null }));
    const bare = await rp.claims((await rp.tokens({ scope: 'openid email phone' })).id_token);
    for (const claim of ['email', 'email_verified', 'phone_number', 'phone', 'nonce']) {
      expect(bare).not.toHaveProperty(claim);
    }
    expect((await rp.tokens({ scope: 'openid shoe_size email' })).scope).toBe('openid email');
  });

  it('refuses the token of a disabled client', async () => {
    await app.make.client(project);
    const { access_token: accessToken } = await rp.tokens();
    await app.make.disable(rp.client);
    expect((await rp.userInfo(accessToken)).status).toBe(401);
  });

  it('accepts the token until it expires, after the sweep of codes and sessions', async () => {
    const liveFor = (seconds: number) =>
      app.services.projects.updateSessionPolicy(project.id, { accessTokenTtlSeconds: seconds }, system);
    await liveFor(1);
    expect(await rp.tokens()).toMatchObject({ expires_in: 1 });
    await liveFor(3600);
    const code = await rp.code();
    app.clock.turn(59);
    const { access_token: accessToken } = (await (await rp.exchange(code)).json()) as TokenAnswer;
    app.clock.turn(3599);
    await app.services.retention.sweep();
    expect((await rp.userInfo(accessToken)).status).toBe(200);
  });

  it('accepts the scheme in any case, and the token in a form body', async () => {
    const { access_token: accessToken } = await rp.tokens();
    expect((await rp.userInfo('', { headers: { Authorization: `bearer ${accessToken}` } })).status).toBe(200);
    const body = new URLSearchParams({ access_token: accessToken });
    expect((await fetch(`${app.url}/userinfo`, { method: 'POST', body })).status).toBe(200);
  });

  it('challenges without an error if there is no token', async () => {
    const response = await fetch(`${app.url}/userinfo`);
    expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
      401,
      'Bearer',
      '',
    ]);
  });

  it('refuses a token in the query', async () => {
    const { access_token: accessToken } = await rp.tokens();
    const response = await fetch(`${app.url}/userinfo?access_token=${accessToken}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });

  it.each<[string, (sid: string) => Promise<unknown>]>([
    ['a logout', (sid) => app.services.logout.endSession({ project, id: sid }, system)],
    ['a logout from everywhere', () => app.services.logout.endAllOfUser(user, system)],
    ['revocation', (sid) => end(sid, 'revoked')],
    ['deactivation', (sid) => end(sid, 'deactivated')],
    ['a sign-in of another user', async () => rp.signIn(await app.make.user(project))],
  ])('refuses a token whose session was ended by %s', async (_name, endIt) => {
    const sid = await rp.signIn(user);
    const { access_token: accessToken } = await rp.tokens();
    expect((await rp.userInfo(accessToken)).status).toBe(200);
    await endIt(sid);
    const refused = await rp.userInfo(accessToken);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_token' }]);
  });

  it('accepts a token whose session is past its idle timeout', async () => {
    await app.services.projects.updateSessionPolicy(project.id, { idleTimeoutSeconds: 60 }, system);
    const { access_token: accessToken } = await rp.tokens();
    app.clock.turn(120);
    expect((await rp.userInfo(accessToken)).status).toBe(200);
  });
  function end(sid: string, reason: 'revoked' | 'deactivated') {
    return app.services.db.transaction((em) =>
      app.services.logout.endSessionIn(em, { project, id: sid }, reason, system),
    );
  }

  it('refuses an ID token, an expired token, and one without openid', async () => {
    const given = await rp.tokens();
    const idToken = await rp.userInfo(given.id_token);
    expect([idToken.status, await idToken.json()]).toMatchObject([401, { error: 'invalid_token' }]);
    expect(idToken.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const { jti } = JSON.parse(Buffer.from(given.access_token.split('.')[1] as string, 'base64url').toString());
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const common = { sub: user.id, aud: app.url, exp: now + 60 };
    const narrow = await app.services.signer.sign('access-token', { ...common, jti, scope: 'email' });
    const refused = await rp.userInfo(narrow);
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: 'insufficient_scope' }]);
    for (const deviation of [{ jti }, { scope: 'openid' }, { scope: 'openid', jti: 'x' }]) {
      const odd = await rp.userInfo(await app.services.signer.sign('access-token', { ...common, ...deviation }));
      expect([odd.status, await odd.json()]).toMatchObject([401, { error: 'invalid_token' }]);
    }
    app.clock.turn(300);
    expect((await rp.userInfo(given.access_token)).status).toBe(401);
  });
});
