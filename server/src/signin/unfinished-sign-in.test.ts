/** A sign-in that registers a device and ends before its second factor does not make the device trusted. */
import { beforeEach, describe, expect, it } from 'vitest';
import { PasskeyUser } from '../../test/passkey-user.ts';
import type { DeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const owner = PasskeyUser.ofTests(world);
let userid: string;

beforeEach(() => {
  userid = newAddress();
});

/** The status of `authenticate` with this key in a new sign-in. */
async function statusInNewSignIn({ key }: { key: DeviceKey }): Promise<string> {
  const page = await world.page(key);
  await page.challenge();
  const { status } = await page.step('authenticate', { userid }, 'use');
  world.app.clock.turn(31);
  return status;
}

/** Registers the page's key by mail code. */
async function byMail(page: SigninPage, status: string, fields: Record<string, unknown> = {}): Promise<void> {
  await world.verifyAddress(page, userid, fields);
  expectStatus(await page.step('verify-device', { userid }, 'registration'), status);
  world.app.clock.turn(31);
}

async function resetFactors(): Promise<void> {
  const id = (await world.findUser(userid))?.id ?? '';
  await world.app.services.accountAccess.resetFactors(world.project.id, id, system);
}

describe('a device that was registered by mail code, without the authenticator app of its user', () => {
  let own: SigninPage;
  let secret: string;
  let page: SigninPage;

  beforeEach(async () => {
    own = await world.page();
    ({ secret } = await world.enrolTotp(own, userid));
    page = await world.page();
    await byMail(page, 'DEVICE_REGISTERED');
  });

  it.each([0, 24 * 3600])('does not sign in once the app is reset, %i s later', async (seconds) => {
    world.app.clock.turn(seconds);
    await resetFactors();
    expect(await statusInNewSignIn(page)).toBe('OTP_NEEDED');
    expect(await statusInNewSignIn(own)).toBe('SUCCESS');
  });

  it('continues its sign-in, even in a new transaction, and needs a mail code in another', async () => {
    expect(await statusInNewSignIn(page)).toBe('MFA_REQUIRED');
    expect(await statusInNewSignIn(page)).toBe('OTP_NEEDED');
  });

  it('is trusted once the app is verified', async () => {
    const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    expectStatus(await page.step('verify-mfa', { userid, otp: world.totp(secret) }, 'use'), 'SUCCESS');
    world.app.clock.turn(24 * 3600);
    expect(await statusInNewSignIn(page)).toBe('MFA_REQUIRED');
    await resetFactors();
    expect(await statusInNewSignIn(page)).toBe('SUCCESS');
  });

  it('loses the trust that it had', async () => {
    await byMail(own, 'DEVICE_REGISTERED');
    await resetFactors();
    expect(await statusInNewSignIn(own)).toBe('OTP_NEEDED');
  });
});

describe('a device that was registered by mail code, without the passkey that the policy required', () => {
  beforeEach(async () => {
    userid = owner.userid;
    await owner.enrolled();
    await world.set({ mfaPolicy: 'required' });
  });

  it('does not sign in once the policy is relaxed', async () => {
    const page = await world.page();
    await byMail(page, 'DEVICE_REGISTERED');
    await world.set({ mfaPolicy: 'optional' });
    world.app.clock.turn(601);
    expect(await statusInNewSignIn(page)).toBe('OTP_NEEDED');
  });

  it('is trusted once the passkey is created, unless it is shared', async () => {
    for (const [remembers, status] of [
      [true, 'SUCCESS'],
      [false, 'OTP_NEEDED'],
    ] as const) {
      const hosted = await owner.open();
      await byMail(hosted.page, 'DEVICE_REGISTERED', { remember_device: remembers });
      expectStatus(await hosted.usePasskey(), 'SUCCESS');
      await world.set({ mfaPolicy: 'optional' });
      world.app.clock.turn(601);
      await hosted.open();
      await hosted.page.challenge();
      expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), status);
      await world.set({ mfaPolicy: 'required' });
    }
  });
});

it('a device is trusted despite an optional factor that is never verified', async () => {
  const page = await world.page();
  await world.verifyAddress(page, userid);
  expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
  world.app.clock.turn(24 * 3600);
  expect(await statusInNewSignIn(page)).toBe('SUCCESS');
});

it('a device is not trusted until a required factor is verified, even if it becomes optional', async () => {
  await world.set({ mfaPolicy: 'required' });
  const page = await world.page();
  await world.verifyAddress(page, userid);
  expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
  world.app.clock.turn(24 * 3600);
  await world.set({ mfaPolicy: 'optional' });
  expect(await statusInNewSignIn(page)).toBe('OTP_NEEDED');
});
