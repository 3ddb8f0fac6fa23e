import { beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/build-app.ts';
import { newAddress, refusal, SigninWorld } from '../../../test/signin-world.ts';
import { system } from '../kernel/actor.ts';
import type { User } from '../users/user.entity.ts';
import { Device } from './device.entity.ts';

const world = SigninWorld.ofTests();
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const day = 24 * 3600;
const devicesOf = (user: User) => app.services.db.reader().find(Device, { user });

/** A user with a registered browser. `revoke` revokes it; `again` tries to register the same key. */
async function revoked(fields: Record<string, unknown> = {}) {
  const userid = newAddress();
  const first = await world.page();
  await world.verifyAddress(first, userid, fields);
  expect((await first.step('verify-device', { userid }, 'registration')).status).toBe('SUCCESS');
  const user = (await world.findUser(userid)) as User;
  const [device] = await devicesOf(user);
  const { accountAccess, accounts } = app.services;
  const again = async () => {
    app.clock.turn(31);
    const page = await world.page(first.key);
    await world.verifyAddress(page, userid);
    return page.step('verify-device', { userid }, 'registration');
  };
  const revoke = () => accountAccess.revokeDevice(world.project.id, user.id, device?.id ?? '', system);
  const switchTo = (active: boolean) => accounts.setActive(world.project.id, user.id, active, system);
  return { user, userid, key: first.key, revoke, switchTo, again };
}

describe('a device', () => {
  it('is renamed by its own user only, unless it is revoked', async () => {
    const { db, devices } = app.services;
    const { user, revoke } = await revoked();
    const [device] = await devicesOf(user);
    const owner = { projectId: world.project.id, userId: user.id };
    const rename = (name: string, by = owner) =>
      db.transaction((em) => devices.rename(em, by, device?.id ?? '', name, system));
    expect((await rename(' My laptop ')).name).toBe('My laptop');
    expect((await rename('x'.repeat(100))).name).toHaveLength(100);
    for (const name of ['', ' ', 'x'.repeat(101), 'a\0b', 'Verify at https://evil.example', 'www.evil.example']) {
      await expect(rename(name)).rejects.toMatchObject({ problem: { code: 'invalid', field: 'name' } });
    }
    const none = { problem: { code: 'not-found', what: 'device' } };
    const neighbor = await app.make.user(world.project);
    await expect(rename('Theirs', { ...owner, userId: neighbor.id })).rejects.toMatchObject(none);
    const elsewhere = await app.make.project();
    await expect(rename('Theirs', { ...owner, projectId: elsewhere.id })).rejects.toMatchObject(none);
    await rename('x'.repeat(100));
    expect((await world.events()).filter((type) => type === 'device.renamed')).toHaveLength(2);
    await revoke();
    await expect(rename('Again')).rejects.toMatchObject(none);
  });
});

describe('a device key that is registered again', () => {
  it('is the same device, with the browser that registered it first, and is recorded once', async () => {
    const { user, again } = await revoked();
    expect((await again()).status).toBe('SUCCESS');
    const devices = await devicesOf(user);
    expect(devices.map(({ userAgent }) => userAgent)).toEqual([expect.any(String)]);
    expect((await world.events()).filter((type) => type === 'device.registered')).toHaveLength(1);
  });
});

describe('a revoked device key', () => {
  it('is always refused, even if its user verifies the address again', async () => {
    const { user, revoke, again } = await revoked();
    await revoke();
    expect(await again()).toMatchObject(refusal('DEVICE_REVOKED', 403));
    const [device, ...others] = await devicesOf(user);
    expect(others).toEqual([]);
    expect(device?.revokedAt).not.toBeNull();
  });

  it('stays revoked when its deactivated user is reactivated', async () => {
    const { switchTo, again } = await revoked();
    await switchTo(false);
    await switchTo(true);
    expect(await again()).toMatchObject(refusal('DEVICE_REVOKED', 403));
  });

  it('is refused with another client of the project', async () => {
    const { key, userid, revoke } = await revoked();
    await revoke();
    const { publishableKey } = await app.make.client(world.project);
    const page = await world.page(key, { apiKey: publishableKey });
    app.clock.turn(31);
    await world.verifyAddress(page, userid);
    const answer = await page.step('verify-device', { userid }, 'registration');
    expect(answer).toMatchObject(refusal('DEVICE_REVOKED', 403));
  });

  it('stays on record even if the device was not to be remembered', async () => {
    const { user, revoke, again } = await revoked({ remember_device: false });
    await revoke();
    app.clock.turn(31 * day);
    await app.services.retention.sweep();
    expect(await devicesOf(user)).toHaveLength(1);
    expect(await again()).toMatchObject(refusal('DEVICE_REVOKED', 403));
  });
});
