import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type Visit } from '../../test/account-visit.ts';
import { locationOf } from '../../test/browser.ts';
import type { TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { newDeviceKey } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { AuthorizationRequest } from '../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { Session } from '../domain/sessions/session.entity.ts';
import { AuthorizationCode } from '../domain/tokens/authorization-code.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { afterwards, giveFactor, pageOf, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();

/** The sign-in that began last. */
async function newest(): Promise<AuthorizationRequest | undefined> {
  const where = { project: world.project.id };
  return (await reader().find(AuthorizationRequest, where, { orderBy: { id: 'desc' }, limit: 1 }))[0];
}

describe('the “Confirm it’s you” button', () => {
  it('starts a sign-in with a code and returns to the page, which then allows the change', async () => {
    const { address, user } = await registeredUser();
    const visit = await visitOf(user, ['swk'], undefined, 'device-key');
    expect((await visit.change('renew-recovery-codes')).status).toBe(403);
    expect(await visit.page()).toContain('Confirm it’s you');
    app.clock.turn(31);
    const page = await pageOf(visit, 'confirm', await newDeviceKey());
    const done = expectStatus(await world.register(page, address), 'SUCCESS');
    const [confirmed, back] = await afterwards(visit, done);
    expect(confirmed?.pathname).toBe('/account/confirmed');
    expect(`${back?.pathname}${back?.search}`).toBe(`/account?project=${world.project.id}`);
    const session = await reader().findOneOrFail(Session, { id: visit.sessionId });
    expect([session.endedAt, session.freshAt]).toEqual([null, app.clock.now()]);
    expect(await visit.page()).not.toContain('Confirm it’s you');
    expect((await visit.change('renew-recovery-codes')).status).toBe(200);
  });

  it('is in each section with such a change, and its explanation is on the page once', async () => {
    const { user } = await registeredUser();
    await giveFactor(user);
    const visit = await visitOf(user, ['swk'], undefined, 'device-key');
    const buttons = (page: string) => page.match(/>Confirm it’s you</g)?.length ?? 0;
    const explanations = (page: string) => page.match(/To change passkeys, second steps/g)?.length ?? 0;
    const page = await visit.page();
    expect(buttons(page)).toBeGreaterThan(1);
    expect(explanations(page)).toBe(1);
    // Above the sections, after a change that was refused.
    const refused = await (await visit.change('renew-recovery-codes')).text();
    expect(buttons(refused)).toBe(buttons(page) + 1);
    expect(explanations(refused)).toBe(1);
  });

  it('does not accept a device key without a code', async () => {
    const { address, device, key, user } = await registeredUser();
    const visit = await visitOf(user, ['swk'], device.id, 'device-key');
    app.clock.turn(31);
    const page = await pageOf(visit, 'confirm', key);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'OTP_NEEDED');
    expect((await visit.change('renew-recovery-codes')).status).toBe(403);
  });

  it('requires the second factor, even in a browser that remembers it', async () => {
    await world.set({ mfaPolicy: 'optional', rememberMfaSeconds: 3600 });
    const address = newAddress();
    const own = await world.page();
    const { secret } = await world.enrolTotp(own, address);
    await world.meetFactor(own, address);
    const tried = { userid: address, otp: world.totp(secret), remember_me: true };
    expectStatus(await own.step('verify-mfa', tried, 'use'), 'SUCCESS');
    app.clock.turn(31);
    const user = (await world.findUser(address)) as User;
    const { id } = await reader().findOneOrFail(Device, { user });
    const visit = await visitOf(user, ['swk'], id, 'device-key');
    const page = await pageOf(visit, 'confirm', own.key);
    await world.meetFactor(page, address);
    const done = await page.step('verify-mfa', { userid: address, otp: world.totp(secret) }, 'use');
    await afterwards(visit, expectStatus(done, 'SUCCESS'));
    const [factor] = await app.services.mfa.factors(reader(), user);
    expect(locationOf(await visit.change('remove-factor', { id: factor?.id ?? '' })).search).toContain('saved');
  });

  it('requires user verification, with the user as hint and the client of this browser', async () => {
    const { address, device, user } = await registeredUser();
    await app.make.client(world.project);
    const visit = await visitOf(user, ['swk'], device.id, 'device-key');
    await visit.change('confirm');
    const request = await reader().findOneOrFail(AuthorizationRequest, { project: world.project.id });
    expect(request).toMatchObject({ personRequired: true, hintedUserId: user.id, loginHint: address });
    expect(request.client.id).toBe(world.client.id);
    await world.set({ mfaPolicy: 'optional' });
    for (const change of ['confirm', 'add-passkey', 'add-authenticator']) {
      await visit.change(change);
      const adds = { addsPasskey: change === 'add-passkey', addsAuthenticator: change === 'add-authenticator' };
      expect(await newest()).toMatchObject({ ...adds, personRequired: true });
    }
    const { db } = app.services;
    await changed(db, "update users set user_name = 'mira' where id = ?", [user.id]);
    await visit.change('confirm');
    expect(await newest()).toMatchObject({ loginHint: address });
    await changed(db, 'update users set email = null, email_key = null where id = ?', [user.id]);
    await visit.change('confirm');
    expect(await newest()).toMatchObject({ loginHint: 'mira' });
  });

  it('uses the application of this browser’s device, else the last one of the session, else any; none that is disabled', async () => {
    const { device, user } = await registeredUser();
    await registeredUser();
    const second = (await app.make.client(world.project)).client;
    const third = (await app.make.client(world.project)).client;
    const use = async (visit: Visit, client: Client) => {
      const party = new RelyingParty(app, client);
      for (const [name, value] of visit.browser.cookies) party.browser.cookies.set(name, value);
      // Recorded once a minute.
      app.clock.turn(61);
      await party.tokens();
    };
    const usedBy = async (visit: Visit) => {
      await visit.change('confirm');
      return (await newest())?.client.id;
    };
    const [plain, other] = [await visitOf(user), await visitOf(user)];
    expect(await usedBy(plain)).toBe(world.client.id);
    for (const client of [second, third, second]) {
      await use(plain, client);
      expect(await usedBy(plain)).toBe(client.id);
    }
    expect(await usedBy(other)).toBe(world.client.id);
    const { db } = app.services;
    await changed(db, 'update credentials set client_id = ? where id = ?', [third.id, device.id]);
    const byDevice = await visitOf(user, ['swk'], device.id);
    await use(byDevice, second);
    expect(await usedBy(byDevice)).toBe(third.id);
    await changed(db, 'update clients set disabled_at = now() where id = ?', [third.id]);
    expect(await usedBy(byDevice)).toBe(second.id);
  });

  it('issues no authorization code', async () => {
    const { address, user } = await registeredUser();
    const visit = await visitOf(user, ['swk'], undefined, 'device-key');
    app.clock.turn(31);
    const page = await pageOf(visit, 'confirm', await newDeviceKey());
    const [confirmed] = await afterwards(visit, expectStatus(await world.register(page, address), 'SUCCESS'));
    expect([...(confirmed?.searchParams.keys() ?? [])]).toEqual(['state']);
    expect(await reader().count(AuthorizationCode, { project: world.project.id, redirectUri: { $ne: null } })).toBe(0);
  });

  it('does nothing without a CSRF token or a session', async () => {
    const { user } = await registeredUser();
    const visit = await visitOf(user);
    expect((await visit.change('confirm', { csrf: 'x' })).status).toBe(403);
    await visit.change('end-session', { id: visit.sessionId });
    expect(locationOf(await visit.change('confirm')).pathname).toBe('/account');
    expect(await reader().count(AuthorizationRequest, { project: world.project.id })).toBe(0);
  });

  it('returns only to a page of this origin, for any URL', async () => {
    for (const state of ['', 'https://evil.example', '//evil.example', world.project.id]) {
      const query = new URLSearchParams({ state, error: 'access_denied' });
      const response = await fetch(`${app.url}/account/confirmed?${query}`, { redirect: 'manual' });
      expect([response.status, locationOf(response).origin, locationOf(response).pathname]).toEqual([
        303,
        app.url,
        '/account',
      ]);
    }
  });
});
