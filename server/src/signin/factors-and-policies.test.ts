/** The factor that a sign-in asks for, by policy, other factors, grants and numbers on record. */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let userid: string;

beforeEach(() => {
  userid = newAddress();
});

const found = async () => (await world.findUser(userid)) as User;

describe('email as a factor', () => {
  it('can be chosen under REQUIRED if the project allows it', async () => {
    await world.set({ mfaPolicy: 'required', emailFactor: true });
    const page = await world.page();
    expectStatus(await world.enrol(page, userid, { mfa_method: 'email' }), 'MFA_INITIATED');
    const done = await page.step('verify-mfa', { userid, otp: await world.codeFor(userid) }, 'use');
    expectStatus(done, 'SUCCESS');
  });

  it('does not count together with the mail code if the sign-in adds a passkey and there is another factor', async () => {
    await world.register(await world.page(), userid);
    const user = await found();
    await peopleOf(world).giveFactor(user, 'totp');
    world.app.clock.turn(31);
    // Newer: it would be asked for first.
    await peopleOf(world).giveFactor(user, 'email');
    await world.set({ passkeyPolicy: 'required' });
    const hosted = new HostedBrowser(world, new SoftAuthenticator());
    await hosted.open();
    await world.verifyAddress(hosted.page, userid);
    expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('totp');
  });
});

describe('a usable recovery grant', () => {
  it('asks a trusted device for the mail code first, even in place of an authenticator app', async () => {
    const page = await world.page();
    await world.enrolTotp(page, userid);
    const authenticate = async () => {
      await page.challenge();
      return page.step('authenticate', { userid }, 'use');
    };
    expectStatus(await authenticate(), 'MFA_REQUIRED');
    const requested = { reason: 'Lost the telephone; called back.', hours: 1 };
    await world.app.services.recoveries.grant(world.project.id, (await found()).id, requested, system);
    expectStatus(await authenticate(), 'MFA_REQUIRED');
    world.app.clock.turn(3600);
    expectStatus(await authenticate(), 'OTP_NEEDED');
  });
});

describe('a number for SMS', () => {
  it('leaves the number on record as it is', async () => {
    const [onRecord, enrolled] = ['+491701230001', '+491701230002'];
    const names = { userName: userid, userNameKey: userid, email: userid, emailKey: userid };
    await world.user({ ...names, phone: onRecord });
    const page = await world.page();
    const fields = { mfa_method: 'sms', phone_number: enrolled };
    expectStatus(await world.enrol(page, userid, fields), 'MFA_INITIATED');
    const done = await page.step('verify-mfa', { userid, otp: await world.codeFor(enrolled) }, 'use');
    expectStatus(done, 'SUCCESS');
    expect((await found()).phone).toBe(onRecord);
  });
});
