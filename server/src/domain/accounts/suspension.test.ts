/** Devices of users whom a directory deactivates temporarily (decisions/0119). */

import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../../test/account-visit.ts';
import type { TestApp } from '../../../test/build-app.ts';
import { newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { Device } from '../credentials/device.entity.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type UserValues, valuesOf } from '../users/user-record.ts';

const day = 24 * 3600;
const world = SigninWorld.ofTests({ mfaPolicy: 'optional', deviceTrustSeconds: 90 * day, deviceTrustDays: 365 });
const { registeredUser, giveFactor } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const directory: Actor = { kind: 'scim', id: '00000000-0000-7000-8000-000000000001', name: 'Okta' };

async function set({ user }: RegisteredUser, over: Partial<UserValues>, actor = directory): Promise<void> {
  const edit = (current: Parameters<typeof valuesOf>[0]) => ({ ...valuesOf(current), ...over });
  await app.services.accounts.change(world.project.id, user.id, edit, actor);
}

async function signIn({ key }: RegisteredUser, address: string): Promise<string | undefined> {
  const page = await world.page(key);
  await page.challenge();
  return (await page.step('authenticate', { userid: address }, 'use')).status;
}

const deviceOf = ({ user }: RegisteredUser) => app.services.db.reader().findOneOrFail(Device, { user });

describe('a device of a user whom the directory deactivates', () => {
  it('signs in again after a reactivation within 30 days, and not before', async () => {
    const person = await registeredUser();
    await set(person, { active: false });
    expect(await deviceOf(person)).toMatchObject({ suspendedAt: app.clock.now(), revokedAt: null });
    expect(await signIn(person, person.address)).toBe('ERROR');
    app.clock.turn(30 * day - 1);
    await set(person, { active: true });
    expect(await signIn(person, person.address)).toBe('SUCCESS');
    await set(person, { active: false });
    await set(person, { active: true });
    expect(await signIn(person, person.address)).toBe('SUCCESS');
  });

  it('needs a mail code after 30 days, even if the user is deactivated and activated again', async () => {
    const person = await registeredUser();
    await set(person, { active: false });
    app.clock.turn(30 * day);
    await set(person, { active: true });
    expect(await signIn(person, person.address)).toBe('OTP_NEEDED');
    await set(person, { active: false });
    await set(person, { active: true });
    app.clock.turn(31);
    const page = await world.page(person.key);
    await world.register(page, person.address);
    expect(await signIn(person, person.address)).toBe('SUCCESS');
    expect((await deviceOf(person)).suspendedAt).toBeNull();
  });

  it('stays revoked if an admin revokes it, or deactivates the user, in the meantime', async () => {
    const { accountAccess } = app.services;
    const [revoked, deactivated, byAdmin] = [await registeredUser(), await registeredUser(), await registeredUser()];
    for (const person of [revoked, deactivated]) await set(person, { active: false });
    await accountAccess.revokeDevice(world.project.id, revoked.user.id, revoked.device.id, system);
    for (const { user } of [deactivated, byAdmin]) await accountAccess.deactivate(world.project.id, user.id, system);
    for (const person of [revoked, deactivated, byAdmin]) {
      await set(person, { active: true });
      expect(await signIn(person, person.address)).toBe('OTP_NEEDED');
      expect((await deviceOf(person)).revokedAt).not.toBeNull();
    }
  });

  it.each(['with the deactivation', 'between', 'with the reactivation'])(
    'is revoked if the login address changes %s',
    async (when) => {
      const person = await registeredUser();
      const userName = newAddress();
      const change = { userName, attributes: { emails: [{ value: userName, primary: true }] } };
      await set(person, { ...(when === 'with the deactivation' && change), active: false });
      if (when === 'between') await set(person, change);
      await set(person, { ...(when === 'with the reactivation' && change), active: true });
      expect(await signIn(person, userName)).toBe('OTP_NEEDED');
      expect((await deviceOf(person)).revokedAt).not.toBeNull();
    },
  );

  it('no longer skips the second factor', async () => {
    const person = await registeredUser();
    await world.set({ rememberMfaSeconds: day });
    await giveFactor(person.user);
    const { db } = app.services;
    const remembered = { mfaRememberedAt: app.clock.now(), mfaRememberedUntil: app.clock.now() };
    await db.transaction(
      async (em) => void em.assign(await em.findOneOrFail(Device, { user: person.user }), remembered),
    );
    expect(await signIn(person, person.address)).toBe('SUCCESS');
    await set(person, { active: false });
    await set(person, { active: true });
    expect(await signIn(person, person.address)).toBe('MFA_REQUIRED');
  });

  it('needs a mail code once its own trust has expired', async () => {
    const person = await registeredUser();
    await world.set({ deviceTrustSeconds: 10 * day });
    await set(person, { active: false });
    app.clock.turn(11 * day);
    await set(person, { active: true });
    expect(await signIn(person, person.address)).toBe('OTP_NEEDED');
  });
});
