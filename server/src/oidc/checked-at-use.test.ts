/** Tightened settings also apply to pending requests and live sessions. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { systemRandom } from '../adapters/system/random.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { isAllowedOrigin } from '../domain/clients/redirect-uri.ts';
import { system } from '../domain/kernel/actor.ts';
import { seconds } from '../domain/kernel/clock.ts';
import { Enrolment, type MfaMethod } from '../domain/mfa/enrolment.entity.ts';
import { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
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
  user = await app.make.user(project);
  ({ client } = await app.make.client(project));
  rp = new RelyingParty(app, client);
});

describe('a removed redirect URI', () => {
  const elsewhere = 'https://elsewhere.example.com/callback';

  it('ends pending requests with it: no page and no code', async () => {
    const flow = String(locationOf(await rp.authorize()).searchParams.get('flow'));
    await rp.signIn(user);
    await app.services.clients.update(client, { redirectUris: [elsewhere] }, system);
    for (const path of ['/signin', '/authorize/resume']) {
      const response = await rp.browser.get(`${app.url}${path}?flow=${flow}`);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }
    await app.services.clients.update(client, { redirectUris: [elsewhere, redirectUri] }, system);
    expect(locationOf(await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`)).searchParams.has('code')).toBe(
      true,
    );
  });
});

describe('a redirect URI that is not https', () => {
  const script = 'javascript:alert(1)//';

  beforeEach(async () => {
    const sql = 'update clients set redirect_uris = ?, post_logout_redirect_uris = ? where id = ?';
    await changed(app.services.db, sql, [[script, 'http://app.example.com/'], [script], client.id]);
    await app.services.registry.current.byId(client.id);
  });

  it('is refused at use even if registered, with and without a session', async () => {
    for (const uri of [script, 'http://app.example.com/']) {
      for (const prompt of [undefined, 'none']) {
        const response = await rp.authorize({ redirect_uri: uri, prompt });
        expect([response.status, response.headers.get('location')]).toEqual([400, null]);
        await rp.signIn(user);
      }
      rp.signOut();
    }
  });

  it('is not used after logout', async () => {
    await rp.signIn(user);
    const id = { client_id: client.id, id_token_hint: await hintFor(user) };
    const asked = await rp.endSession({ ...id, post_logout_redirect_uri: script });
    expect([asked.status, asked.headers.get('location')]).toEqual([200, null]);
  });

  /** A hint with which a logout redirects without confirmation. */
  function hintFor({ id }: User): Promise<string> {
    const now = seconds(app.clock.now());
    const claims = { sub: id, aud: client.id, iat: now, nbf: now, exp: now + 60, jti: 'any' };
    return app.services.signer.sign('id-token', claims);
  }

  it('allows no CORS origin', () => {
    expect(isAllowedOrigin([script], 'null')).toBe(false);
  });
});

describe('a live session, once its project requires a second factor', () => {
  async function enrol(method: MfaMethod, verified = true): Promise<void> {
    const now = app.clock.now();
    await app.services.db.transaction(async (em) => {
      const verifiedAt = verified ? now : null;
      em.create(Enrolment, { id: systemRandom.id(), project: user.project, user, method, createdAt: now, verifiedAt });
    });
  }

  async function set(settings: { mfaPolicy?: 'required' | 'optional'; emailFactor?: boolean }): Promise<void> {
    await app.services.projects.update(project.id, settings, system);
  }

  /** Whether the session is accepted at /authorize, /authorize/resume and the account page. */
  async function serves(): Promise<boolean> {
    const { db, sessions } = app.services;
    const secret = String(rp.browser.cookies.get(`lk-session-${project.id}`));
    const [resumed, seen] = await db.transaction(async (em) => {
      const today = await em.findOneOrFail(Project, project.id);
      return [await sessions.resume(em, today, secret), await sessions.peek(em, today, secret)];
    });
    const answered = await rp.isSignedIn();
    expect([resumed !== null, seen !== null]).toEqual([answered, answered]);
    return answered;
  }

  beforeEach(async () => {
    await rp.signIn(user);
  });

  it('is not accepted if its user has no factor, and accepted again if the policy is relaxed', async () => {
    await set({ mfaPolicy: 'required' });
    expect(await serves()).toBe(false);
    await set({ mfaPolicy: 'optional' });
    expect(await serves()).toBe(true);
  });

  it('is accepted if its user has a verified factor', async () => {
    await enrol('totp', false);
    await set({ mfaPolicy: 'required' });
    expect(await serves()).toBe(false);
    await enrol('totp');
    expect(await serves()).toBe(true);
  });

  it('accepts email as a factor only if the project does', async () => {
    await enrol('email');
    await set({ mfaPolicy: 'required', emailFactor: false });
    expect(await serves()).toBe(false);
    await set({ emailFactor: true });
    expect(await serves()).toBe(true);
  });

  it('does not complete a pending request', async () => {
    const flow = String(locationOf(await rp.authorize({ prompt: 'login' })).searchParams.get('flow'));
    await rp.signIn(user);
    await set({ mfaPolicy: 'required' });
    const resumed = locationOf(await rp.browser.get(`${app.url}/authorize/resume?flow=${flow}`));
    expect(resumed.pathname).toBe('/signin');
  });

  it('can still be ended by a logout', async () => {
    const { id_token: hint } = await rp.tokens();
    await set({ mfaPolicy: 'required' });
    await rp.endSession({ client_id: client.id, id_token_hint: hint, logout_scope: 'session' });
    await set({ mfaPolicy: 'optional' });
    expect(await serves()).toBe(false);
  });
});
