/** Actions and credentials of one person have no effect on another: UserInfo, introspection, devices. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { basic, type Machine, send } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let web: Machine;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.turn(600);
  project = await app.make.project();
  const made = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['refresh_token', 'device_code'],
  });
  ({ client } = made);
  const issuer = partyAt(app, project, client).issuer;
  web = { app, client, secret: made.clientSecret ?? '', issuer };
});

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** A new browser in which the user has signed in to the application. */
async function signedIn(user: User) {
  const party = partyAt(app, project, client);
  const sessionId = await party.signIn(user);
  const code = await party.code({ scope: 'openid email offline_access' });
  const tokens = (await (await party.exchange(code, {}, basic(web))).json()) as Tokens;
  return { party, sessionId, ...tokens };
}

const isActive = async (token: string) =>
  ((await (await send(web, '/oauth2/introspect', { token })).json()) as { active: boolean }).active;

/** Gives the user a second factor. */
const enrol = (user: User) =>
  app.services.db.transaction(async (em) => {
    const factor = await app.services.mfa.begin(em, { user, deviceId: null, method: 'totp', phone: null });
    factor.verifiedAt = app.clock.now();
  });

describe('an access token', () => {
  it('returns its own user at UserInfo, with tokens of other users in the same application', async () => {
    const users = [await app.make.user(project), await app.make.user(project), await app.make.user(project)];
    const all = await Promise.all(users.map((user) => signedIn(user)));
    for (const [index, { party, access_token }] of all.entries()) {
      const body = (await (await party.userInfo(access_token)).json()) as { sub: string };
      expect(body.sub).toBe(users[index]?.id);
    }
  });

  it('ends with its own session, and no other', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    const [here, there, theirs] = [await signedIn(user), await signedIn(user), await signedIn(other)];
    await app.services.logout.endSession(keyIn(project.id, there.sessionId), system);
    expect([
      await isActive(here.access_token),
      await isActive(there.access_token),
      await isActive(theirs.access_token),
    ]).toEqual([true, false, true]);
  });
});

describe('an approved device', () => {
  it('gets no tokens once its user lacks a required factor, even if other users have one', async () => {
    const [user, other] = [await app.make.user(project), await app.make.user(project)];
    await enrol(other);
    const statusFor = async (by: User) => {
      const begun = (await (await send(web, '/oauth2/device_authorization', { scope: 'openid' })).json()) as Record<
        'device_code' | 'user_code',
        string
      >;
      const person = new DeviceBrowser(app, web.issuer);
      await person.signIn(by, ['swk', 'otp', 'mfa']);
      await person.allow(begun.user_code);
      await app.services.projects.update(project.id, { mfaPolicy: 'required' }, system);
      const form = { grant_type: grantTypeNames.device_code, device_code: begun.device_code };
      const { status } = await send(web, '/oauth2/token', form);
      await app.services.projects.update(project.id, { mfaPolicy: 'optional' }, system);
      return status;
    };
    expect([await statusFor(user), await statusFor(other)]).toEqual([400, 200]);
  });
});
