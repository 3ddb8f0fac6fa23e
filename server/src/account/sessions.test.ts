import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, Visit } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { Places } from '../../test/organizations.ts';
import { PasskeyUser } from '../../test/passkey-user.ts';
import { deliverDue } from '../../test/relayed.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { expectStatus, SigninWorld } from '../../test/signin-world.ts';
import type { Visitor } from '../domain/accounts/own/own-change.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { Passkey } from '../domain/credentials/passkey.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { inProject } from '../domain/kernel/scope.ts';
import { Session } from '../domain/sessions/session.entity.ts';
import { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { givePasskey, visitOf, registeredUser } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();
const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('a device', () => {
  it('can be renamed only by its user, to one line of 1 to 100 characters', async () => {
    const { visit, device } = await registeredUser();
    const other = await registeredUser();
    const nameOf = async () => (await reader().findOneOrFail(Device, { id: device.id })).name;
    expect(locationOf(await visit.change('rename-device', { id: device.id, name: ' Kitchen ' }))).toContain('saved');
    expect(await nameOf()).toBe('Kitchen');
    // Names are shown in mails and in the console: one line each, without control characters.
    const lines = [
      'Kitchen\n\nConfirm at evil.example',
      'Kitchen\u2028evil.example',
      'Kitchen\u202eelpmaxe.live',
      'Kit\u0007chen',
    ];
    for (const name of ['', '   ', 'x'.repeat(101), ...lines]) {
      expect(locationOf(await visit.change('rename-device', { id: device.id, name }))).toContain('notice=name');
    }
    const refused = world.app.logLines.findLast((line) => line.includes('account change refused')) ?? '{}';
    expect(JSON.parse(refused)).toMatchObject({ problem: 'invalid' });
    await other.visit.change('rename-device', { id: device.id, name: 'Mine' });
    expect(await nameOf()).toBe('Kitchen');
    expect(await visit.page('?notice=name')).toContain('Enter a name');
    expect(await world.events()).toContain('device.renamed');
  });

  it('that is revoked can no longer sign in, and its session ends', async () => {
    const { address, device, key, user, visit } = await registeredUser();
    const elsewhere = await visitOf(user);
    expect(locationOf(await elsewhere.change('revoke-device', { id: device.id }))).toContain('saved');
    app.clock.turn(60);
    const page = await world.page(key);
    await page.challenge();
    expect((await page.step('authenticate', { userid: address }, 'use')).status).toBe('OTP_NEEDED');
    expect(await visit.isSignedIn()).toBe(false);
    expect((await reader().findOneOrFail(Session, { id: visit.sessionId })).endReason).toBe('revoked');
    expect(await elsewhere.isSignedIn()).toBe(true);
    expect(await elsewhere.page()).not.toContain(device.id);
    // A second click has no effect.
    expect((await elsewhere.change('revoke-device', { id: device.id })).status).toBe(303);
    expect((await world.events()).filter((type) => type === 'device.revoked')).toHaveLength(1);
  });

  it.each(['revoke-device', 'forget-browser'])(
    'that signed in by passkey later ends with its session: %s',
    async (change) => {
      const owner = new PasskeyUser(world);
      const hosted = await owner.enrolled();
      await hosted.open({ prompt: 'login' });
      await hosted.claims(expectStatus(await hosted.usePasskey(), 'SUCCESS'));
      const user = await reader().findOneOrFail(User, { project: world.project.id, emailKey: owner.userid });
      const [session, device] = [
        await reader().findOneOrFail(Session, { user, endedAt: null }),
        await reader().findOneOrFail(Device, { user }),
      ];
      const secret = hosted.browser.cookies.get(`lk-session-${world.project.id}`) ?? '';
      const here = new Visit(app.url, world.project.id, { id: session.id, secret });
      const visit = change === 'forget-browser' ? here : await visitOf(user);
      const expected = change === 'forget-browser' ? 200 : 303;
      expect((await visit.change(change, { id: device.id })).status).toBe(expected);
      expect(await here.isSignedIn()).toBe(false);
      expect((await reader().findOneOrFail(Device, { id: device.id })).revokedAt).not.toBeNull();
      expect(await reader().findOne(Passkey, { user, revokedAt: null })).not.toBeNull();
    },
  );

  it('is revoked without a fresh sign-in, even if the user has passkeys', async () => {
    const { device, user } = await registeredUser();
    await givePasskey(user);
    const visit = await visitOf(user, ['swk'], undefined, 'device-key');
    expect(locationOf(await visit.change('revoke-device', { id: device.id }))).toContain('saved');
    expect((await reader().findOneOrFail(Device, { id: device.id })).revokedAt).not.toBeNull();
  });

  it('of this browser is revoked with its session and cookie', async () => {
    const { device, visit } = await registeredUser();
    await visit.change('revoke-device', { id: device.id });
    expect([...visit.browser.cookies.keys()]).toEqual([]);
    expect(await visit.isSignedIn()).toBe(false);
  });

  it('of another user or project cannot be changed', async () => {
    const victim = await registeredUser();
    const attackers = [(await registeredUser()).visit];
    await world.begin();
    attackers.push((await registeredUser()).visit);
    for (const attacker of attackers) {
      for (const id of [victim.device.id, 'x', '']) {
        expect((await attacker.change('revoke-device', { id })).status).toBe(303);
      }
    }
    expect((await reader().findOneOrFail(Device, { id: victim.device.id })).revokedAt).toBeNull();
  });
});

describe('a session', () => {
  it('can be ended only by its user; relying parties are notified', async () => {
    const { client } = await app.make.client(world.project, { backchannelLogoutUri: 'http://127.0.0.1:1/logout' });
    const { user, visit } = await registeredUser();
    const rp = new RelyingParty(app, client);
    const sid = await rp.signIn(user);
    await rp.tokens();
    const attacker = (await registeredUser()).visit;
    await attacker.change('end-session', { id: sid });
    expect(await rp.isSignedIn()).toBe(true);
    app.logoutTokens.length = 0;
    expect((await visit.change('end-session', { id: sid })).status).toBe(303);
    expect(await rp.isSignedIn()).toBe(false);
    expect((await visit.change('end-session', { id: sid })).status).toBe(303);
    await deliverDue(app.services.logout.relay);
    const claims = app.logoutTokens.map(({ token }) =>
      JSON.parse(atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'))),
    );
    expect(claims).toEqual([expect.objectContaining({ sub: user.id, sid, aud: client.id })]);
    expect((await world.events()).filter((type) => type === 'session.ended')).toHaveLength(1);
    expect(await visit.isSignedIn()).toBe(true);
  });

  it('of this browser ends with “Sign out”, which invalidates its CSRF tokens', async () => {
    const { visit } = await registeredUser();
    const csrf = await visit.csrf();
    const cookies = [...visit.browser.cookies];
    const ended = await visit.change('end-session', { id: visit.sessionId });
    const page = await ended.text();
    expect(page).toContain('<h1>You are signed out</h1>');
    expect(page).not.toContain('no longer remembers');
    expect(visit.browser.cookies.size).toBe(0);
    for (const [name, value] of cookies) visit.browser.cookies.set(name, value);
    expect(await visit.isSignedIn()).toBe(false);
    const response = await visit.change('end-other-sessions', { csrf });
    expect(locationOf(response)).toBe(`/account?project=${world.project.id}`);
  });

  it('is kept when all others are ended', async () => {
    const { user, visit } = await registeredUser();
    const others = [await visitOf(user), await visitOf(user)];
    const stranger = (await registeredUser()).visit;
    await visit.change('end-other-sessions');
    expect(await Promise.all(others.map((other) => other.isSignedIn()))).toEqual([false, false]);
    expect(await visit.isSignedIn()).toBe(true);
    expect(await stranger.isSignedIn()).toBe(true);
    expect(await visit.page()).not.toContain('Sign out everywhere else');
  });

  it('that ends after its request began changes nothing', async () => {
    const { ownAccount } = app.services;
    const { id } = world.project;
    const user = await world.user();
    const [visit, other] = [await visitOf(user), await visitOf(user)];
    const secret = visit.browser.cookies.get(`lk-session-${id}`) ?? '';
    const visitor = (await ownAccount.visit(id, secret, false)) as Visitor;
    expect((await other.change('end-session', { id: visit.sessionId })).status).toBe(303);
    const late = inProject(id, () => ownAccount.endOtherSessions({ visitor, actor: system, locale: 'en' }));
    await expect(late).rejects.toMatchObject({ problem: { code: 'unauthenticated' } });
    expect(await other.isSignedIn()).toBe(true);
  });

  it('that is idle too long is neither shown nor accepted', async () => {
    const { visit } = await registeredUser();
    app.clock.turn(world.project.idleTimeoutSeconds + 1);
    expect(await visit.isSignedIn()).toBe(false);
  });
});

describe('a forgotten browser', () => {
  it('is signed out, loses its cookie and its key is revoked; other browsers are not affected', async () => {
    const { address, device, key, user, visit } = await registeredUser();
    const [elsewhere, here] = [await visitOf(user), await visitOf(user, ['swk'], device.id)];
    expect(await visit.page()).toContain('Sign out and forget this browser');
    const ended = await visit.change('forget-browser');
    expect(ended.headers.get('cache-control')).toContain('no-store');
    const shown = await ended.text();
    expect(shown).toContain('<h1>You are signed out</h1>');
    expect(shown).toContain('This browser no longer remembers you.');
    expect(shown).toMatch(/value="sign-in"[\s\S]*Sign in<\/button>/);
    // Only the response to the change has the notice: no URL shows it.
    expect(await visit.page('?notice=forgotten')).not.toContain('no longer remembers');
    expect(visit.browser.cookies.size).toBe(0);
    expect(await visit.isSignedIn()).toBe(false);
    expect([await elsewhere.isSignedIn(), await here.isSignedIn()]).toEqual([true, false]);
    expect((await reader().findOneOrFail(Device, { id: device.id })).revokedAt).toEqual(app.clock.now());
    expect((await reader().findOneOrFail(Session, { id: visit.sessionId })).endReason).toBe('logout');
    app.clock.turn(60);
    const page = await world.page(key);
    await page.challenge();
    expect((await page.step('authenticate', { userid: address }, 'use')).status).not.toBe('SUCCESS');
    expect(await world.events()).toContain('device.revoked');
  });

  it('without a device is signed out, and revokes no other device', async () => {
    const { device, user } = await registeredUser();
    const passkey = await givePasskey(user);
    const elsewhere = await visitOf(user, ['swk', 'user', 'mfa'], passkey.id);
    for (const deviceId of [undefined, (await registeredUser()).device.id, passkey.id]) {
      const visit = await visitOf(user, ['swk'], deviceId);
      expect((await visit.change('forget-browser')).status).toBe(200);
      expect(await visit.isSignedIn()).toBe(false);
    }
    expect(await elsewhere.isSignedIn()).toBe(true);
    expect(await reader().findOne(Passkey, { id: passkey.id, revokedAt: null })).not.toBeNull();
    expect((await reader().findOneOrFail(Device, { id: device.id })).revokedAt).toBeNull();
    expect(await reader().count(Device, { project: world.project.id, revokedAt: { $ne: null } })).toBe(0);
  });
});

it('a browser signed in by passkey can be forgotten, also by a user without a mailbox: the passkey stays', async () => {
  const { device, user } = await registeredUser();
  const passkey = await givePasskey(user);
  await changed(app.services.db, 'update credentials set revoked_at = now() where id = ?', [device.id]);
  await changed(
    app.services.db,
    `update users set user_name = 'ada', user_name_key = 'ada', email = null, email_key = null
    where id = ?`,
    [user.id],
  );
  const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], passkey.id);
  expect((await visit.change('forget-browser')).status).toBe(200);
  expect(await visit.isSignedIn()).toBe(false);
  expect(await reader().findOne(Passkey, { id: passkey.id, revokedAt: null })).not.toBeNull();
});

describe('the listed devices', () => {
  it('are those that the current policy trusts, and those in use', async () => {
    const { device, visit, user } = await registeredUser();
    const elsewhere = await visitOf(user);
    expect(await elsewhere.page()).toContain(device.id);
    app.clock.turn(900);
    await visit.change('end-session', { id: visit.sessionId });
    await world.set({ deviceTrustSeconds: 600 });
    expect(await elsewhere.page()).not.toContain(device.id);
    expect(await elsewhere.page()).toContain('None. At your next sign-in you get a code by email.');
  });

  it('are left out without a device where the user signs in by the provider of the organization', async () => {
    await app.services.projects.update(world.project.id, { organizationsEnabled: true }, system);
    const places = new Places(app, world.project);
    const north = await places.organization('north');
    const { user, visit } = await registeredUser();
    await places.join(north, user);
    await world.set({ deviceTrustSeconds: 600 });
    app.clock.turn(900);
    const other = await visitOf(user);
    await visit.change('end-session', { id: visit.sessionId });
    await places.set(north, 'sign_in', 'connection');
    expect(await other.page()).toContain('None. At your next sign-in you get a code by email.');
    const home = 'update users set organization_id = ? where project_id = ? and id = ?';
    await changed(app.services.db, home, [north.id, world.project.id, user.id]);
    expect(await other.page()).not.toContain('id="devices"');
    await places.set(north, 'sign_in', 'any');
    expect(await other.page()).toContain('None. At your next sign-in you get a code by email.');
  });
});
